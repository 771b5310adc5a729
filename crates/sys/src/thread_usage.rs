//! What the calling thread has used: `getrusage(RUSAGE_THREAD)` and the thread's processor clock.

use libc::{RUSAGE_THREAD, getrusage, rusage, timeval};
use rustix::time::{ClockId, clock_gettime};

/// Sums since the thread began; times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUsage {
    /// All processor time, exactly.
    pub cpu_ns: u64,
    /// In the program; where the kernel counts by its clock's ticks, this division is an estimate.
    pub user_ns: u64,
    /// In the kernel, likewise.
    pub system_ns: u64,
    /// Page faults without reading.
    pub faults_minor: u64,
    /// Page faults that read.
    pub faults_major: u64,
    /// How often it gave its processor up.
    pub switches_voluntary: u64,
    /// How often it was taken from it.
    pub switches_involuntary: u64,
}

impl ThreadUsage {
    /// Of the thread that calls.
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
