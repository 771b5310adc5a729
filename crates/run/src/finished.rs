//! What a run came to, and what runs on a host and on a machine share.

use crate::refusal::Refusal;
use loadgo_core::driver::Summary;
use loadgo_store::Folder;
use std::time::Duration;

/// How often the calling thread looks how a run stands.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What the driver counted.
    pub summary: Summary,
    /// Interactions on the disk.
    pub interactions: u64,
    /// `done`, `stopped` or `failed`.
    pub outcome: &'static str,
    /// What the user should know: what was cleared away, what could not be had.
    pub notes: Vec<String>,
}

/// Lays a file into a run's folder.
pub(crate) fn lay(folder: &Folder, name: &str, text: &str) -> Result<(), Refusal> {
    let path = folder.dir().join(name);
    std::fs::write(&path, text).map_err(|reason| Refusal::Host(format!("{}: {reason}", path.display())))
}
