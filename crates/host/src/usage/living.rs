//! Waits of the living descendants of a session's leader, by taskstats.
//!
//! The kernel sends a process's record when the process ends. By it alone, a program that reads many lines has all its waits in
//! the last line. So living descendants are asked for their waits, and what a process had at the last reading is taken off its
//! last record. A process counts as living until the kernel marks it as ending, which is before it sends the record.

use std::io;

use rustix::io::Errno;

use crate::usage::faults::Descendants;
use crate::usage::proc::Proc;
use crate::usage::sources::Kernel;
use crate::usage::taskstats::Sums;

/// Waits so far of one user's living descendants, as they were at the last reading.
///
/// The sums are in a box, because most users have no living descendants, and a driver has thousands of users.
#[derive(Debug, Default)]
pub(crate) enum LivingWaits {
    /// There were no waits.
    #[default]
    Zero,
    /// There were these waits.
    Known(Box<Sums>),
    /// The waits were not known.
    Unknown,
}

impl LivingWaits {
    /// The waits since the last call of the descendants of `leader`: of those that `ended` meanwhile, and of those that live.
    ///
    /// `None` if a count is not known, or if a process has left the leader and taken its waits with it.
    pub fn charge(&mut self, kernel: &mut Kernel, proc: &Proc, leader: u32, has_descendants: bool, ended: Sums) -> Option<Sums> {
        if !has_descendants && matches!(self, LivingWaits::Zero) {
            return Some(ended);
        }
        // A leader that is gone has no descendants.
        let now = match Descendants::of(proc, leader) {
            Ok(Some(list)) => waits_of(&list, kernel, proc).ok().flatten(),
            Ok(None) => None,
            Err(_) => Some(Sums::default()),
        };
        let before = self.replace(now);
        let (mut now, before) = (now?, before?);
        now += ended;
        now.since(before).map(Sums::clocked)
    }

    /// Keeps the waits `now`, where they are known, and returns those before.
    fn replace(&mut self, now: Option<Sums>) -> Option<Sums> {
        let now = match now {
            None => LivingWaits::Unknown,
            Some(sums) if sums == Sums::default() => LivingWaits::Zero,
            Some(sums) => LivingWaits::Known(Box::new(sums)),
        };
        match std::mem::replace(self, now) {
            LivingWaits::Unknown => None,
            LivingWaits::Zero => Some(Sums::default()),
            LivingWaits::Known(sums) => Some(*sums),
        }
    }
}

/// Waits so far of these processes, and of those that they have waited for. `None` where one has several threads: the record of
/// a live task is of one thread.
fn waits_of(descendants: &Descendants, kernel: &mut Kernel, proc: &Proc) -> io::Result<Option<Sums>> {
    let mut sum = Sums::default();
    for &pid in descendants.pids() {
        let record = match kernel.live.get(pid) {
            Ok(record) => record,
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => continue,
            Err(error) => return Err(error),
        };
        let Ok(stat) = proc.stat(pid) else { continue };
        if stat.ends {
            continue; // its last record has come, or comes with the next reading
        }
        if stat.threads > 1 {
            return Ok(None);
        }
        sum += record.sums.waits_alone();
        sum += kernel.ended.waiting_for(pid).waits_alone();
    }
    Ok(Some(sum))
}
