//! Rows of the table `user_limits`.

use crate::system::UserId;
use crate::time::Instant;

/// A row of `user_limits`: the cost of a user's own limits in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserLimitRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span: the time since the user's previous row. Spans without a change have no row.
    pub span_ns: u64,
    /// The user.
    pub user: UserId,
    /// The kernel's counts in the span; the peak of memory is that since the log-in.
    pub counts: LimitCounts,
}

/// The kernel's counts for a user's group; `None` where it counts none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitCounts {
    /// Processor time that the user's processes took.
    pub cpu_ns: Option<u64>,
    /// Periods of the quota in which they wanted a processor.
    pub periods: Option<u64>,
    /// Periods of the quota in which it was used up.
    pub throttled_periods: Option<u64>,
    /// Time in which the quota was used up and processes were ready, summed over processors.
    pub throttled_ns: Option<u64>,
    /// How often memory was wanted beyond the limit, so that pages had to be reclaimed.
    pub memory_refusals: Option<u64>,
    /// Processes killed for want of memory.
    pub memory_kills: Option<u64>,
    /// The most memory held since the log-in.
    pub memory_peak_bytes: Option<u64>,
    /// How often a new process was refused.
    pub pids_refusals: Option<u64>,
}

impl LimitCounts {
    /// The counts since `before`, but for the peak of memory, which is that of now.
    pub fn since(&self, before: &LimitCounts) -> LimitCounts {
        let added =
            |count: fn(&LimitCounts) -> Option<u64>| count(self).map(|value| value.saturating_sub(count(before).unwrap_or(0)));
        LimitCounts {
            cpu_ns: added(|counts| counts.cpu_ns),
            periods: added(|counts| counts.periods),
            throttled_periods: added(|counts| counts.throttled_periods),
            throttled_ns: added(|counts| counts.throttled_ns),
            memory_refusals: added(|counts| counts.memory_refusals),
            memory_kills: added(|counts| counts.memory_kills),
            memory_peak_bytes: self.memory_peak_bytes,
            pids_refusals: added(|counts| counts.pids_refusals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_span_are_differences_the_peak_is_as_it_is_and_what_is_not_counted_stays_unknown() {
        let before =
            LimitCounts { cpu_ns: Some(5), throttled_ns: Some(7), memory_peak_bytes: Some(90), ..LimitCounts::default() };
        let now = LimitCounts { cpu_ns: Some(25), throttled_ns: Some(7), ..before };
        let counts = now.since(&before);
        assert_eq!((counts.cpu_ns, counts.throttled_ns), (Some(20), Some(0)));
        assert_eq!((counts.memory_peak_bytes, counts.pids_refusals), (Some(90), None));
    }
}
