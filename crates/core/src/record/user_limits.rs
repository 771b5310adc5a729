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
