//! Page faults of one user: of the session's leader, of processes that have ended, and of those that live on.
//!
//! taskstats reports a process when it ends. By it alone, a program that reads many lines has all its faults in the last line.
//! The faults of living descendants are therefore read from `/proc`. A process that ends passes its count there to the parent
//! that waits for it. The sum over the leader and its living descendants therefore only grows.

use std::io;

use crate::small_files::{number, read_at_start};
use crate::usage::proc::Proc;

/// Page faults without and with I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Faults without I/O.
    pub minor: u64,
    /// Faults that waited for a device.
    pub major: u64,
}

impl Faults {
    /// The faults since `earlier`; `None` if there were more then, because a process has left the count.
    fn since(self, earlier: Faults) -> Option<Faults> {
        let minor = self.minor.checked_sub(earlier.minor)?;
        Some(Faults { minor, major: self.major.checked_sub(earlier.major)? })
    }

    /// Adds the faults of another count.
    pub fn add(&mut self, minor: u64, major: u64) {
        self.minor += minor;
        self.major += major;
    }
}

/// The faults of one user that were reported so far.
#[derive(Debug, Default)]
pub(crate) struct FaultAccount {
    /// Faults of all processes that have ended so far, by taskstats.
    pub ended: Faults,
    /// The user's faults at the last reading; `None` when they were not known.
    charged: Option<Faults>,
    /// Whether the leader had living descendants at the last reading.
    has_descendants: bool,
    /// Faults that `/proc` counts for the leader's children, and that are in no record of [`FaultAccount::ended`].
    before: Faults,
}

impl FaultAccount {
    /// Whether the leader had living descendants at the last reading.
    pub fn has_descendants(&self) -> bool {
        self.has_descendants
    }

    /// The account of a session that begins.
    pub fn begin() -> FaultAccount {
        FaultAccount { charged: Some(Faults::default()), ..FaultAccount::default() }
    }

    /// The account of a session whose ended processes taskstats reports from now on. A shell that has logged in from outside has
    /// waited for some before.
    pub fn begin_with_records(proc: &Proc, leader: u32) -> FaultAccount {
        let stat = proc.stat(leader).unwrap_or_default();
        FaultAccount { before: Faults { minor: stat.children_minor, major: stat.children_major }, ..FaultAccount::begin() }
    }

    /// The faults since the last call. `without_living` are those so far of all processes but the living descendants.
    ///
    /// Descendants are looked for only if others than the leader ran: a process that did not run has no new faults.
    pub fn charge(&mut self, proc: &Proc, leader: u32, without_living: Option<Faults>, others_ran: bool) -> Option<Faults> {
        let mut so_far = without_living;
        if others_ran || self.has_descendants {
            let living = LivingFaults::of(proc, leader);
            self.has_descendants = !matches!(living, LivingFaults::Nobody);
            match living {
                LivingFaults::Nobody => {}
                LivingFaults::Unknown => so_far = None,
                LivingFaults::Known(faults) => so_far = faults.since(self.before),
            }
        }
        let charged = std::mem::replace(&mut self.charged, so_far);
        so_far.zip(charged).and_then(|(so_far, charged)| so_far.since(charged))
    }
}

/// Most living descendants that are listed. Chosen by hand: a line's pipeline has fewer.
const MOST_DESCENDANTS: usize = 32;

/// The living descendants of a process, each behind its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descendants {
    pids: [u32; MOST_DESCENDANTS],
    count: usize,
}

impl Descendants {
    /// The living descendants of `pid`, zombies too; `None` if there are too many. It fails where the kernel lists no children.
    pub fn of(proc: &Proc, pid: u32) -> io::Result<Option<Descendants>> {
        let mut descendants = Descendants { pids: [0; MOST_DESCENDANTS], count: 0 };
        if !descendants.add_children(proc, pid)? {
            return Ok(None);
        }
        let mut at = 0;
        while at < descendants.count {
            // A descendant that has ended since it was listed has no children.
            if !descendants.add_children(proc, descendants.pids[at]).unwrap_or(true) {
                return Ok(None);
            }
            at += 1;
        }
        Ok(Some(descendants))
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The process ids.
    pub fn pids(&self) -> &[u32] {
        &self.pids[..self.count]
    }

    /// Adds the children of `pid`; false if there are too many.
    fn add_children(&mut self, proc: &Proc, pid: u32) -> io::Result<bool> {
        let mut text = [0u8; 8 * MOST_DESCENDANTS];
        let length = read_at_start(proc.children_file(pid)?, &mut text)?;
        for child in text[..length].split(|byte| *byte == b' ').filter_map(number) {
            if self.count == MOST_DESCENDANTS {
                return Ok(false);
            }
            self.pids[self.count] = child as u32;
            self.count += 1;
        }
        Ok(length < text.len())
    }

    /// Faults so far of `leader`, of these descendants, and of all processes that they have waited for.
    ///
    /// Parents are read behind their children. A child that ends after it was read may be in its parent's count, too: then it is
    /// `None`. The parent adds it (`wait_task_zombie` in kernel/exit.c) after its state has changed, and before it is gone.
    /// It is also `None` if one had ended before it was read: the kernel's list may then lack the child behind it
    /// (`get_children_pid` in fs/proc/array.c).
    fn faults_with(&self, proc: &Proc, leader: u32) -> io::Result<Option<Faults>> {
        let mut sum = Faults::default();
        for pid in self.pids().iter().rev() {
            let Ok(stat) = proc.stat(*pid) else { return Ok(None) };
            sum.add(stat.minor, stat.major);
        }
        let stat = proc.stat(leader)?;
        sum.add(stat.minor, stat.major);
        let is_whole = self.pids().iter().all(|pid| proc.stat(*pid).is_ok_and(|stat| !stat.is_reaped));
        Ok(is_whole.then_some(sum))
    }
}

/// Readings before the faults of living processes are given up: each time one of them ended meanwhile.
const MOST_READINGS: usize = 5;

/// The faults so far of a leader that has living descendants.
enum LivingFaults {
    /// The leader has none, or is gone.
    Nobody,
    /// The faults are not known: there are too many processes, or some end in each reading.
    Unknown,
    /// The faults of all.
    Known(Faults),
}

impl LivingFaults {
    fn of(proc: &Proc, leader: u32) -> LivingFaults {
        for _ in 0..MOST_READINGS {
            let Ok(list) = Descendants::of(proc, leader) else { return LivingFaults::Nobody };
            let Some(list) = list else { return LivingFaults::Unknown };
            if list.is_empty() {
                return LivingFaults::Nobody;
            }
            match list.faults_with(proc, leader) {
                Ok(Some(faults)) => return LivingFaults::Known(faults),
                Ok(None) => {}
                Err(_) => return LivingFaults::Unknown,
            }
        }
        LivingFaults::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_has_its_faults_while_it_lives_and_none_is_lost_or_counted_again_when_it_ends() {
        let proc = Proc::open().unwrap();
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c 'echo; read line'; read line"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let leader = shell.id();
        let alone = |proc: &Proc| proc.stat(leader).map(|stat| Faults { minor: stat.minor, major: stat.major }).unwrap();
        let mut account = FaultAccount::begin();
        let first = account.charge(&proc, leader, Some(alone(&proc)), true).unwrap();
        assert!(first.minor > alone(&proc).minor, "the child's faults are in no other count yet");
        input.write_all(b"end\n").unwrap();
        while !Descendants::of(&proc, leader).unwrap().unwrap().is_empty() {
            std::thread::yield_now();
        }
        let in_the_end = alone(&proc); // the shell goes on to its next line, and may fault meanwhile
        let last = account.charge(&proc, leader, Some(in_the_end), true).unwrap();
        assert_eq!(first.minor + last.minor, in_the_end.minor);
        input.write_all(b"end\n").unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn children_that_end_while_they_are_read_are_counted_once() {
        let proc = Proc::open().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "n=0; while [ $n -lt 400 ]; do /bin/true & /bin/true & wait; n=$((n+1)); done; read line"]);
        let mut shell = shell.stdin(Stdio::piped()).spawn().unwrap();
        let leader = shell.id();
        let mut last = 0;
        for _ in 0..20_000 {
            if let LivingFaults::Known(faults) = LivingFaults::of(&proc, leader) {
                let ended = proc.stat(leader).unwrap();
                // What is living now will be in the leader's own count, so no reading is more than the next one.
                assert!(faults.minor >= last, "{} after {last}", faults.minor);
                last = faults.minor.max(ended.minor);
            }
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn faults_are_not_known_when_a_process_has_left_the_count() {
        let proc = Proc::open().unwrap();
        let mut account = FaultAccount::begin();
        let mut charge = |minor| account.charge(&proc, 0, Some(Faults { minor, major: 0 }), false);
        assert_eq!(charge(9), Some(Faults { minor: 9, major: 0 }));
        assert_eq!(charge(5), None, "a daemon took its faults with it");
        assert_eq!(charge(6), Some(Faults { minor: 1, major: 0 }));
    }
}
