//! Resources that the calling thread has used, by `getrusage(RUSAGE_THREAD)` and the thread's processor clock.

use libc::{RUSAGE_THREAD, getrusage, rusage, timeval};
use rustix::time::{ClockId, clock_gettime};

/// Totals since the thread began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Exact processor time.
    pub cpu_ns: u64,
    /// Processor time in the program. Where the kernel counts by clock ticks, the division into user and system is an estimate.
    pub user_ns: u64,
    /// Processor time in the kernel, with the same caveat.
    pub system_ns: u64,
    /// Page faults that needed no device.
    pub faults_minor: u64,
    /// Page faults that waited for a device.
    pub faults_major: u64,
    /// Times that the thread gave up its processor.
    pub switches_voluntary: u64,
    /// Times that the thread lost its processor and would have gone on.
    pub switches_involuntary: u64,
}

impl ThreadUsage {
    /// Reads the totals of the calling thread.
    pub fn read() -> ThreadUsage {
        // Safety: the kernel fills the whole of a structure that is all numbers.
        let used = unsafe {
            let mut used: rusage = std::mem::zeroed();
            getrusage(RUSAGE_THREAD, &raw mut used);
            used
        };
        let clock = clock_gettime(ClockId::ThreadCPUTime);
        ThreadUsage {
            cpu_ns: clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64,
            user_ns: ns(used.ru_utime),
            system_ns: ns(used.ru_stime),
            faults_minor: used.ru_minflt as u64,
            faults_major: used.ru_majflt as u64,
            switches_voluntary: used.ru_nvcsw as u64,
            switches_involuntary: used.ru_nivcsw as u64,
        }
    }
}

fn ns(time: timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_processor_time_and_another_does_not() {
        let before = ThreadUsage::read();
        std::thread::spawn(|| while ThreadUsage::read().cpu_ns < 50_000_000 {}).join().expect("it ends");
        let idle = ThreadUsage::read().cpu_ns - before.cpu_ns;
        while ThreadUsage::read().cpu_ns - before.cpu_ns - idle < 20_000_000 {}
        let after = ThreadUsage::read();
        assert!(idle < 20_000_000, "{idle} ns for another's 50 ms");
        let divided = after.user_ns + after.system_ns - before.user_ns - before.system_ns;
        assert!(divided.abs_diff(after.cpu_ns - before.cpu_ns) < 2_000_000, "{divided} ns divided");
    }
}
