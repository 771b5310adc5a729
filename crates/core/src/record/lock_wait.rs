//! Rows of the table `lock_waits`.

use crate::time::Instant;
use std::sync::Arc;

/// A row of `lock_waits`: waits for locks of one kind at one place that ended in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockWaitRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The kind of lock and of wait (`docs/run-folder.md`).
    pub kind: Arc<str>,
    /// The kernel's function that wanted the lock, or the locked file; `None` if not known.
    pub place: Option<Arc<str>>,
    /// The command that the waiting process's user typed last; `None`: no user's process.
    pub command: Option<Arc<str>>,
    /// Number of waits.
    pub count: u64,
    /// Sum of the waits' times.
    pub wait_ns: u64,
    /// The longest of them.
    pub longest_ns: u64,
}
