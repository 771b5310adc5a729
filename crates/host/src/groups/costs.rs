//! Costs of users' own limits, as the kernel counts them in the users' groups.

use loadgo_core::record::LimitCounts;
use loadgo_core::system::UserId;

use super::Groups;
use crate::small_files::labelled;

impl Groups {
    /// Reads the counts of `user` since the log-in.
    pub(crate) fn limit_counts(&self, user: UserId) -> LimitCounts {
        let quota = self.read_of_user(user, "cpu.stat").unwrap_or_default();
        let memory = ["memory.events", "memory.oom_control"].iter().find_map(|file| self.read_of_user(user, file));
        let memory = memory.unwrap_or_default();
        let alone = |file| self.number_of_user(user, file);
        LimitCounts {
            cpu_ns: self.user_cpu_ns(user).ok(),
            periods: labelled(&quota, "nr_periods"),
            throttled_periods: labelled(&quota, "nr_throttled"),
            throttled_ns: labelled(&quota, "throttled_time").or_else(|| Some(labelled(&quota, "throttled_usec")? * 1000)),
            memory_refusals: labelled(&memory, "max").or_else(|| self.failures_of_v1(user)),
            memory_kills: labelled(&memory, "oom_kill"),
            memory_peak_bytes: alone("memory.peak").or_else(|| alone("memory.max_usage_in_bytes")),
            pids_refusals: labelled(&self.read_of_user(user, "pids.events").unwrap_or_default(), "max"),
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
