//! Usage of a process by the kernel's taskstats interface: exact counts for one system call pair, no descriptor per user.
//!
//! The layout is `linux/taskstats.h`. Fields are read by their offset, if the record is that long, because the struct grows with
//! its version. Only version 15 (kernels 6.14 and 6.15) has new fields in the middle; version 16 moved them to the end. A
//! sleeping task's processor time is exact. An exit record lacks the time since the last switch and the exit itself (measured:
//! 0.04 ms of 1 ms for `ls`). So exit records are used for faults and waits, never for processor time.

use std::io;
use std::ops::{AddAssign, Sub};

use loadgo_sys::netlink::{NetlinkAttributes, NetlinkRequest, NetlinkSocket, payload, u16_at, u32_at, u64_at};

// Names and numbers of linux/taskstats.h, and of linux/acct.h.
pub(crate) const TASKSTATS_GENL_NAME: &str = "TASKSTATS";
pub(crate) const TASKSTATS_CMD_GET: u8 = 1;
const TASKSTATS_CMD_ATTR_PID: u16 = 1;
const TASKSTATS_TYPE_STATS: u16 = 3;
const TASKSTATS_TYPE_AGGR_PID: u16 = 4;
const AGROUP: u8 = 0x20;
/// Unit of the lifetime in a record, which is microseconds.
const CLOCK_NS: u64 = 1000;

/// Usage of a task since it began, or the sums of several tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Processor time, in nanoseconds.
    pub cpu_ns: u64,
    /// Clock ticks that found the task in its program, in microseconds.
    pub user_us: u64,
    /// Clock ticks that found the task in the system, in microseconds.
    pub system_us: u64,
    /// Page faults without I/O.
    pub minor: u64,
    /// Page faults that waited for a device.
    pub major: u64,
    /// Time spent ready, waiting for a processor.
    pub ready_wait_ns: u64,
    /// Time spent waiting for block I/O.
    pub block_ns: u64,
    /// Time spent waiting for a page from swap.
    pub swap_in_ns: u64,
    /// Time spent waiting for memory to be reclaimed or compacted.
    pub reclaim_ns: u64,
    /// Time spent waiting for a page that was thrown out a moment ago.
    pub thrashing_ns: u64,
    /// The task's lifetime so far.
    pub elapsed_ns: u64,
    /// The number of tasks with a wait that was longer than their life. Their waits are not known, and not in the sums.
    pub unclocked: u64,
}

/// A task's record, on demand or at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The task (a thread).
    pub pid: u32,
    /// The task's process, where the kernel tells it (version 12 and later).
    pub process: Option<u32>,
    /// The parent of the task's process.
    pub parent: u32,
    /// Whether the task ended as the last thread of its process.
    pub last_thread: bool,
    /// The task's usage.
    pub sums: Sums,
}

/// A socket on which the kernel is asked about live tasks.
#[derive(Debug)]
pub(crate) struct Taskstats {
    socket: NetlinkSocket,
    family: u16,
    answer: Box<[u8; 2048]>,
}

impl Taskstats {
    /// Opens the socket; needs CAP_NET_ADMIN, which the first question shows.
    pub fn open() -> io::Result<Taskstats> {
        let socket = NetlinkSocket::open()?;
        let family = socket.family(TASKSTATS_GENL_NAME)?;
        let mut opened = Taskstats { socket, family, answer: Box::new([0; 2048]) };
        opened.get(std::process::id())?;
        Ok(opened)
    }

    /// The record of the live task `pid`; no allocation.
    pub fn get(&mut self, pid: u32) -> io::Result<Record> {
        self.socket.send(&NetlinkRequest::new(self.family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid.to_ne_bytes()))?;
        let length = self.socket.receive(&mut self.answer[..])?;
        record_in(&self.answer[..length])?.ok_or_else(|| io::Error::other("a taskstats answer of an unknown layout"))
    }
}

/// The record of a task in a message; `None` when there is none, or its layout is unknown.
pub(crate) fn record_in(message: &[u8]) -> io::Result<Option<Record>> {
    let task = payload(message)?.find(|(kind, _)| *kind == TASKSTATS_TYPE_AGGR_PID);
    let stats = task.and_then(|(_, inner)| NetlinkAttributes(inner).find(|(kind, _)| *kind == TASKSTATS_TYPE_STATS));
    Ok(stats.and_then(|(_, bytes)| Record::parse(bytes)))
}

impl Record {
    /// Reads a `struct taskstats` of any version from 8 on.
    pub fn parse(bytes: &[u8]) -> Option<Record> {
        let layout = Layout::of(u16_at(bytes, 0)?)?;
        let field_or_0 = |at: usize| u64_at(bytes, at).unwrap_or(0);
        let sums = Sums {
            cpu_ns: u64_at(bytes, layout.basic + 72)?,
            user_us: field_or_0(layout.basic + 152),
            system_us: field_or_0(layout.basic + 160),
            minor: u64_at(bytes, layout.basic + 168)?,
            major: u64_at(bytes, layout.basic + 176)?,
            ready_wait_ns: field_or_0(24),
            block_ns: field_or_0(layout.block),
            swap_in_ns: field_or_0(layout.swap_in),
            reclaim_ns: field_or_0(layout.basic + 320).saturating_add(layout.compact.map_or(0, field_or_0)),
            thrashing_ns: layout.thrashing.map_or(0, field_or_0),
            elapsed_ns: field_or_0(layout.basic + 144).saturating_mul(1000),
            unclocked: 0,
        };
        Some(Record {
            pid: u32_at(bytes, layout.basic + 128)?,
            process: layout.process.and_then(|at| u32_at(bytes, at)),
            parent: u32_at(bytes, layout.basic + 132)?,
            last_thread: *bytes.get(8)? & AGROUP != 0,
            sums,
        })
    }
}

impl Sums {
    /// The sums of one task, its waits marked as unknown where a wait is longer than the time there was for it.
    ///
    /// The kernel counts a wait from boot when it saw the wait's end without its beginning. This happens when the wait was under
    /// way as delay accounting was switched on. Since 6.12 a sleeping task may stay queued for a while. The kernel then writes
    /// the beginning of its wait down for the task that runs by then.
    pub fn clocked(self) -> Sums {
        let longest = self.block_ns.max(self.swap_in_ns).max(self.reclaim_ns).max(self.thrashing_ns);
        if longest <= self.elapsed_ns + CLOCK_NS {
            return self;
        }
        Sums { block_ns: 0, swap_in_ns: 0, reclaim_ns: 0, thrashing_ns: 0, unclocked: self.unclocked + 1, ..self }
    }
}

impl Sums {
    /// The waits and the lifetime, without what else was used.
    pub fn waits_alone(self) -> Sums {
        Sums { cpu_ns: 0, user_us: 0, system_us: 0, minor: 0, major: 0, ..self }
    }

    /// The waits and the lifetime since `earlier`; `None` if a wait was longer then, because a process has left the sum.
    pub fn since(self, earlier: Sums) -> Option<Sums> {
        let waits = |sums: Sums| [sums.ready_wait_ns, sums.block_ns, sums.swap_in_ns, sums.reclaim_ns, sums.thrashing_ns];
        let grew = waits(self).iter().zip(waits(earlier)).all(|(now, before)| *now >= before);
        grew.then(|| self - earlier)
    }
}

/// Offsets, in bytes, of the fields whose places depend on the version.
struct Layout {
    basic: usize,
    block: usize,
    swap_in: usize,
    thrashing: Option<usize>,
    compact: Option<usize>,
    process: Option<usize>,
}

impl Layout {
    fn of(version: u16) -> Option<Layout> {
        let since = |first: u16, at: usize| (version >= first).then_some(at);
        match version {
            0..8 => None,
            15 => Some(Layout {
                basic: 48,
                block: 56,
                swap_in: 88,
                thrashing: Some(336 + 64),
                compact: Some(360 + 80),
                process: Some(368 + 96),
            }),
            _ => Some(Layout {
                basic: 0,
                block: 40,
                swap_in: 56,
                thrashing: since(9, 336),
                compact: since(11, 360),
                process: since(12, 368),
            }),
        }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.cpu_ns += other.cpu_ns;
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.minor += other.minor;
        self.major += other.major;
        self.ready_wait_ns += other.ready_wait_ns;
        self.block_ns += other.block_ns;
        self.swap_in_ns += other.swap_in_ns;
        self.reclaim_ns += other.reclaim_ns;
        self.thrashing_ns += other.thrashing_ns;
        self.elapsed_ns += other.elapsed_ns;
        self.unclocked += other.unclocked;
    }
}

impl Sub for Sums {
    type Output = Sums;
    fn sub(self, earlier: Sums) -> Sums {
        Sums {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
            ready_wait_ns: self.ready_wait_ns.saturating_sub(earlier.ready_wait_ns),
            block_ns: self.block_ns.saturating_sub(earlier.block_ns),
            swap_in_ns: self.swap_in_ns.saturating_sub(earlier.swap_in_ns),
            reclaim_ns: self.reclaim_ns.saturating_sub(earlier.reclaim_ns),
            thrashing_ns: self.thrashing_ns.saturating_sub(earlier.thrashing_ns),
            elapsed_ns: self.elapsed_ns.saturating_sub(earlier.elapsed_ns),
            unclocked: self.unclocked.saturating_sub(earlier.unclocked),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(elapsed_us: u64, block_ns: u64, swap_in_ns: u64) -> Sums {
        let mut bytes = [0u8; 376];
        bytes[..2].copy_from_slice(&9u16.to_ne_bytes());
        bytes[144..152].copy_from_slice(&elapsed_us.to_ne_bytes());
        bytes[40..48].copy_from_slice(&block_ns.to_ne_bytes());
        bytes[56..64].copy_from_slice(&swap_in_ns.to_ne_bytes());
        Record::parse(&bytes).expect("a record of version 9").sums
    }

    #[test]
    fn waits_are_not_known_when_one_is_longer_than_the_task_has_lived() {
        let sums = told(5_000, 6_600_000_000_000, 4_000_000).clocked();
        assert_eq!((sums.unclocked, sums.block_ns, sums.swap_in_ns), (1, 0, 0));
        let sums = told(5_000, 1_000_000, 4_000_000).clocked();
        assert_eq!((sums.unclocked, sums.block_ns, sums.swap_in_ns), (0, 1_000_000, 4_000_000));
    }

    #[test]
    fn a_wait_counted_from_boot_spoils_one_reading_of_a_live_task_and_none_after_it() {
        let (first, second, third) = (told(1_000, 0, 0), told(2_000, 6_600_000_000_000, 0), told(4_000, 6_600_001_500_000, 0));
        assert_eq!((second - first).clocked().unclocked, 1);
        let after = (third - second).clocked();
        assert_eq!((after.unclocked, after.block_ns), (0, 1_500_000));
    }

    #[test]
    fn one_task_whose_waits_are_not_known_spoils_the_sum() {
        let mut sum = told(5_000, 1_000_000, 0).clocked();
        sum += told(5_000, 6_600_000_000_000, 0).clocked();
        assert_eq!(sum.unclocked, 1);
    }
}
