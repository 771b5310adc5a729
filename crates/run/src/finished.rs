//! What a run came to.

use loadgo_core::driver::SessionCounts;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What the driver counted.
    pub summary: SessionCounts,
    /// Interactions on the disk.
    pub interactions: u64,
    /// `done`, `stopped` or `failed`.
    pub outcome: &'static str,
    /// What the user should know: what was cleared away, what could not be had.
    pub notes: Vec<String>,
    /// What stays behind on this host, each with the reason and the remedy; `notes` have it too.
    pub left_behind: Vec<String>,
}
