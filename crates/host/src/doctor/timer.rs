//! How late this host's timers are, and what its clock costs; measured in a few hundredths of a second.

use std::io;
use std::os::fd::OwnedFd;

use loadgo_sys::clock::{monotonic_ns, monotonic_ns_by_system_call};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};

const READINGS: u64 = 2000;

/// Sleeps `count` times for `sleep_ns` (under a second) with a timerfd, and tells how late each was, in nanoseconds, sorted.
pub(crate) fn lateness(count: usize, sleep_ns: u32) -> io::Result<Vec<u64>> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let mut late = (0..count).map(|_| one_sleep(&timer, sleep_ns)).collect::<io::Result<Vec<u64>>>()?;
    late.sort_unstable();
    Ok(late)
}

fn one_sleep(timer: &OwnedFd, sleep_ns: u32) -> io::Result<u64> {
    let due = monotonic_ns() + u64::from(sleep_ns);
    let at = Timespec { tv_sec: (due / 1_000_000_000) as i64, tv_nsec: (due % 1_000_000_000) as i64 };
    let setting = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &setting)?;
    match rustix::io::read(timer, &mut [0; 8])? {
        8 => Ok(monotonic_ns().saturating_sub(due)),
        _ => Err(io::Error::other("a timer without a count")),
    }
}

/// The mean cost of reading the clock, in nanoseconds.
pub(crate) fn clock_read_ns() -> u64 {
    let began = monotonic_ns();
    (0..READINGS).for_each(|_| {
        std::hint::black_box(monotonic_ns());
    });
    (monotonic_ns() - began) / READINGS
}

/// The mean cost of reading the clock through a system call, in nanoseconds.
pub(crate) fn system_call_ns() -> u64 {
    let began = monotonic_ns();
    (0..READINGS).for_each(|_| {
        std::hint::black_box(monotonic_ns_by_system_call());
    });
    (monotonic_ns() - began) / READINGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_never_early() {
        let late = lateness(5, 1000).unwrap();
        assert_eq!(late.len(), 5);
        assert!(late.is_sorted());
    }
}
