//! The clocks of the machine and of the calling thread.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};
use std::ops::RangeInclusive;

/// Ticks of Linux, with room on both sides: CONFIG_HZ is 100 to 1000.
const LIKELY_TICKS_NS: RangeInclusive<u64> = 500_000..=20_000_000;

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

/// The time between two ticks of the kernel's timer (CONFIG_HZ), in nanoseconds: the resolution of its coarse clocks.
///
/// `None` where the kernel tells no such time: that of Linux is 1 to 10 ms.
pub fn tick_ns() -> Option<u64> {
    Some(ns(clock_getres(ClockId::MonotonicCoarse))).filter(|tick_ns| LIKELY_TICKS_NS.contains(tick_ns))
}

fn ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_a_whole_number_of_times_a_second() {
        let hz = 1e9 / tick_ns().expect("Linux tells its tick") as f64;
        assert!((hz - hz.round()).abs() < 0.01 * hz, "{hz}");
    }

    #[test]
    fn both_ways_read_the_same_clock() {
        let (before, between, after) = (monotonic_ns(), monotonic_ns_by_system_call(), monotonic_ns());
        assert!(before <= between && between <= after, "{before} {between} {after}");
    }
}
