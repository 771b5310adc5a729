//! The clocks of the machine and of the calling thread.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The monotonic clock, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// The monotonic clock, read by a system call. Some machines allow no other way, because programs cannot read their clock
/// directly.
pub fn monotonic_ns_by_system_call() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the structure, which lives during the call; this clock exists on every Linux.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    ns(clock_gettime(ClockId::ThreadCPUTime))
}

fn ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same_clock() {
        let (before, between, after) = (monotonic_ns(), monotonic_ns_by_system_call(), monotonic_ns());
        assert!(before <= between && between <= after, "{before} {between} {after}");
    }
}
