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

/// Waits so far of one user's living descendants.
#[derive(Debug)]
pub(crate) struct LivingWaits {
    /// The waits at the last reading; `None` when they were not known.
    so_far: Option<Sums>,
}

impl Default for LivingWaits {
    fn default() -> LivingWaits {
        LivingWaits { so_far: Some(Sums::default()) }
    }
}

impl LivingWaits {
    /// The waits since the last call of the descendants of `leader`: of those that `ended` meanwhile, and of those that live.
    ///
    /// `None` if a count is not known, or if a process has left the leader and taken its waits with it.
    pub fn charge(&mut self, kernel: &mut Kernel, proc: &Proc, leader: u32, has_descendants: bool, ended: Sums) -> Option<Sums> {
        if !has_descendants && self.so_far == Some(Sums::default()) {
            return Some(ended);
        }
        // A leader that is gone has no descendants.
        let now = match Descendants::of(proc, leader) {
            Ok(Some(list)) => waits_of(&list, kernel, proc).ok().flatten(),
            Ok(None) => None,
            Err(_) => Some(Sums::default()),
        };
        let before = std::mem::replace(&mut self.so_far, now);
        let (mut now, before) = (now?, before?);
        now += ended;
        now.since(before).map(Sums::clocked)
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
