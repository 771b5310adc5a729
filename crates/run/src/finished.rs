//! Result of a run.

use loadgo_core::driver::SessionCounts;

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The driver's counts of the sessions.
    pub summary: SessionCounts,
    /// The beginning of the run on this host's monotonic clock, in nanoseconds; 0 on a simulated machine.
    pub origin_ns: u64,
    /// Interactions on the disk.
    pub interactions: u64,
    /// `done`, `stopped` or `failed`.
    pub outcome: &'static str,
    /// Notes for the user: leftovers that were cleared away, and measurements that were not available.
    pub notes: Vec<String>,
    /// Things that stay behind on this host, each with the reason and the remedy; `notes` have them too.
    pub left_behind: Vec<String>,
}
