//! Costs of users' own limits, as the kernel counts them in the users' groups.

use super::Groups;
use loadgo_core::system::UserId;

/// The kernel's counts for one user since the log-in; `None` where it counts none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitCounts {
    /// Processor time.
    pub cpu_ns: Option<u64>,
    /// Periods of the quota in which the user wanted a processor.
    pub periods: Option<u64>,
    /// Periods of the quota in which it was used up.
    pub throttled_periods: Option<u64>,
    /// Time in which the quota was used up and processes were ready, summed over processors.
    pub throttled_ns: Option<u64>,
    /// How often memory was wanted beyond the limit, so that pages had to be reclaimed.
    pub memory_refusals: Option<u64>,
    /// Processes killed for want of memory.
    pub memory_kills: Option<u64>,
    /// The most memory that was held.
    pub memory_peak_bytes: Option<u64>,
    /// How often a new process was refused.
    pub pids_refusals: Option<u64>,
}

impl Groups {
    /// Reads the counts of `user`.
    pub(crate) fn limit_counts(&self, user: UserId) -> LimitCounts {
        let quota = self.read_of_user(user, "cpu.stat").unwrap_or_default();
        let memory = ["memory.events", "memory.oom_control"].iter().find_map(|file| self.read_of_user(user, file));
        let memory = memory.unwrap_or_default();
        let alone = |file| self.number_of_user(user, file);
        LimitCounts {
            cpu_ns: self.user_cpu_ns(user).ok(),
            periods: count(&quota, "nr_periods"),
            throttled_periods: count(&quota, "nr_throttled"),
            throttled_ns: count(&quota, "throttled_time").or_else(|| Some(count(&quota, "throttled_usec")? * 1000)),
            memory_refusals: count(&memory, "max").or_else(|| self.failures_of_v1(user)),
            memory_kills: count(&memory, "oom_kill"),
            memory_peak_bytes: alone("memory.peak").or_else(|| alone("memory.max_usage_in_bytes")),
            pids_refusals: count(&self.read_of_user(user, "pids.events").unwrap_or_default(), "max"),
        }
    }

    /// The count of v1, where memory with paging has a limit and a count of its own. New kernels keep the files and count nothing
    /// in them (6.18 does not), so that a zero says nothing.
    fn failures_of_v1(&self, user: UserId) -> Option<u64> {
        let counted = ["memory.failcnt", "memory.memsw.failcnt"].iter().filter_map(|file| self.number_of_user(user, file));
        Some(counted.sum()).filter(|failures| *failures > 0)
    }

    fn number_of_user(&self, user: UserId, file: &str) -> Option<u64> {
        self.read_of_user(user, file)?.trim().parse().ok()
    }
}

/// The number in the line `name NUMBER` of a text.
pub(super) fn count(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let text = "low 0\nhigh 1\nmax 71\noom 5\noom_kill 3\noom_group_kill 9\n";
        assert_eq!((count(text, "max"), count(text, "oom_kill"), count(text, "oom_group")), (Some(71), Some(3), None));
    }
}
