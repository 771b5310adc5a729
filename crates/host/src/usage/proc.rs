//! Usage of a process, and of the children it has waited for, from `/proc/PID`.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::small_files::{number, open_at, open_directory, read_at_start};
use crate::usage::taskstats::Sums;

/// `/proc`, open, so that its files are opened without allocation.
#[derive(Debug)]
pub struct Proc {
    directory: OwnedFd,
    tick_ns: u64,
}

/// The fields of `/proc/PID/stat` that a meter needs; "all" is with the children that were waited for, and theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Page faults without I/O, all.
    pub minor: u64,
    /// Page faults with I/O, all.
    pub major: u64,
    /// Page faults without I/O of the children alone: the count grows when a child has been waited for.
    pub children_minor: u64,
    /// Page faults with I/O of the children alone.
    pub children_major: u64,
    /// Processor time in programs and in the system, all, in clock ticks.
    pub user_ticks: u64,
    /// Processor time in the system, all, in clock ticks.
    pub system_ticks: u64,
    /// Processor time of the children alone, in clock ticks.
    pub children_ticks: u64,
    /// Number of threads.
    pub threads: u64,
    /// Whether the process is about to end, or has ended and was not waited for.
    pub ends: bool,
    /// Whether its parent is waiting for it now, and may have its counts already: the state `X`, just before the process is gone.
    pub is_reaped: bool,
}

/// The kernel's flag of a task that ends (`PF_EXITING` of linux/sched.h), which it sets before the task's record is sent.
const EXITING_FLAG: u64 = 0x4;

/// The account of `/proc/PID/schedstat`: the first thread of the process alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchedStat {
    /// Processor time.
    pub cpu_ns: u64,
    /// Time spent ready, waiting for a processor.
    pub ready_wait_ns: u64,
}

impl Proc {
    /// Opens `/proc`.
    pub fn open() -> io::Result<Proc> {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Ok(Proc { directory: open_directory(Path::new("/proc"))?, tick_ns: 1_000_000_000 / per_second })
    }

    /// The length of a clock tick: the smallest step of processor time in `stat`.
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// Opens `/proc/PID/NAME`.
    pub fn file(&self, pid: u32, name: &str) -> io::Result<OwnedFd> {
        let mut path = [0u8; 48];
        write!(&mut path[..47], "{pid}/{name}")?;
        open_at(&self.directory, &path)
    }

    /// Opens the list of the children of `pid`.
    pub(crate) fn children_file(&self, pid: u32) -> io::Result<OwnedFd> {
        let mut path = [0u8; 48];
        write!(&mut path[..47], "{pid}/task/{pid}/children")?;
        open_at(&self.directory, &path)
    }

    /// Reads `/proc/PID/stat`.
    pub fn stat(&self, pid: u32) -> io::Result<Stat> {
        read_stat(&self.file(pid, "stat")?)
    }

    /// The account of `stat` in nanoseconds.
    pub fn sums(&self, stat: &Stat) -> Sums {
        let microseconds = |ticks: u64| ticks * self.tick_ns / 1000;
        Sums {
            cpu_ns: (stat.user_ticks + stat.system_ticks) * self.tick_ns,
            user_us: microseconds(stat.user_ticks),
            system_us: microseconds(stat.system_ticks),
            minor: stat.minor,
            major: stat.major,
            ..Sums::default()
        }
    }
}

/// Reads an open `/proc/PID/stat`; no allocation.
pub(crate) fn read_stat(file: &OwnedFd) -> io::Result<Stat> {
    let mut text = [0u8; 1024];
    let length = read_at_start(file, &mut text)?;
    parse_stat(&text[..length]).ok_or_else(|| io::Error::other("a /proc/PID/stat of an unknown form"))
}

/// Reads an open `/proc/PID/schedstat`; no allocation.
pub(crate) fn read_schedstat(file: &OwnedFd) -> io::Result<SchedStat> {
    let mut text = [0u8; 128];
    let length = read_at_start(file, &mut text)?;
    let mut words = text[..length].split(|byte| *byte == b' ').map(number);
    match (words.next().flatten(), words.next().flatten()) {
        (Some(cpu_ns), Some(ready_wait_ns)) => Ok(SchedStat { cpu_ns, ready_wait_ns }),
        _ => Err(io::Error::other("a /proc/PID/schedstat of an unknown form")),
    }
}

/// Reads the text of `/proc/PID/stat`, whose second field, a name in parentheses, may hold anything.
pub(crate) fn parse_stat(text: &[u8]) -> Option<Stat> {
    let after_name = text.iter().rposition(|byte| *byte == b')')? + 2;
    let mut words = text.get(after_name..)?.split(|byte| *byte == b' ');
    let is_reaped = words.next()? == b"X";
    let mut words = words.skip(5).map(number);
    let mut next = || words.next().flatten();
    let flags = next()?;
    let (minor, children_minor, major, children_major) = (next()?, next()?, next()?, next()?);
    let (user, system, children_user, children_system) = (next()?, next()?, next()?, next()?);
    let _priority = words.next();
    let _nice = words.next(); // both may be negative
    let threads = words.next().flatten()?;
    Some(Stat {
        minor: minor + children_minor,
        major: major + children_major,
        children_minor,
        children_major,
        user_ticks: user + children_user,
        system_ticks: system + children_system,
        children_ticks: children_user + children_system,
        threads,
        ends: flags & EXITING_FLAG != 0,
        is_reaped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_shift_the_fields() {
        let text = b"7 (a) b (c d) S 1 7 7 34816 7 4194304 10 20 1 2 5 6 70 80 20 0 1 0 9\n";
        let expected = Stat {
            minor: 30,
            major: 3,
            children_minor: 20,
            children_major: 2,
            user_ticks: 75,
            system_ticks: 86,
            children_ticks: 150,
            threads: 1,
            ends: false,
            is_reaped: false,
        };
        assert_eq!(parse_stat(text), Some(expected));
        assert_eq!(parse_stat(b"7 (cut"), None);
        let reaped = b"7 (x) X 1 7 7 34816 7 4194308 10 20 1 2 5 6 70 80 20 0 1 0 9\n";
        assert!(parse_stat(reaped).is_some_and(|stat| stat.is_reaped && stat.ends));
    }

    #[test]
    fn this_process_is_read() {
        let proc = Proc::open().unwrap();
        assert!(proc.stat(std::process::id()).unwrap().minor > 0);
        let file = proc.file(std::process::id(), "schedstat").unwrap();
        assert!(read_schedstat(&file).is_ok());
    }
}
