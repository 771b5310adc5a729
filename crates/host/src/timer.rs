//! How late this host's timers are, and what its clock costs; measured in a few hundredths of a second.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const READINGS: u64 = 2000;

/// Sleeps `count` times for `sleep_ns` (under a second) with a timerfd, and tells how late each was, in nanoseconds, sorted.
pub fn lateness(count: usize, sleep_ns: u32) -> io::Result<Vec<u64>> {
    // SAFETY: plain numbers.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let timer = unsafe { OwnedFd::from_raw_fd(fd) };
    let mut late = (0..count).map(|_| one_sleep(&timer, sleep_ns)).collect::<io::Result<Vec<u64>>>()?;
    late.sort_unstable();
    Ok(late)
}

fn one_sleep(timer: &OwnedFd, sleep_ns: u32) -> io::Result<u64> {
    let due = now_ns() + u64::from(sleep_ns);
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let at = libc::timespec { tv_sec: (due / 1_000_000_000) as libc::time_t, tv_nsec: (due % 1_000_000_000) as libc::c_long };
    let setting = libc::itimerspec { it_interval: never, it_value: at };
    let mut expired = 0u64;
    // SAFETY: the setting and the count are ours and of the sizes told; the descriptor is open.
    let read = unsafe {
        if libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &setting, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::read(timer.as_raw_fd(), (&raw mut expired).cast(), 8)
    };
    match read {
        8 => Ok(now_ns().saturating_sub(due)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The mean cost of reading the clock, in nanoseconds.
pub fn clock_read_ns() -> u64 {
    let began = now_ns();
    (0..READINGS).for_each(|_| {
        std::hint::black_box(now_ns());
    });
    (now_ns() - began) / READINGS
}

/// The mean cost of reading the clock through a system call, in nanoseconds.
pub fn system_call_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let began = now_ns();
    for _ in 0..READINGS {
        // SAFETY: the struct is ours; this clock is always there.
        unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    }
    (now_ns() - began) / READINGS
}

fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is ours; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
