//! Rows of the table `window_events`.

use crate::time::Instant;
use std::sync::Arc;

/// A row of `window_events`: what the processes of one name did in a window of the sampled meters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowEventRow {
    /// The end of the window.
    pub at: Instant,
    /// The length of the window.
    pub span_ns: u64,
    /// The name of the processes.
    pub process: Arc<str>,
    /// The name of a system call, or the kind of a fault; `None` in the row of their processor time.
    pub event: Option<Arc<str>>,
    /// Number of events.
    pub count: u64,
    /// Processor time of these processes in the window, without what its programs took; only in the row without an event.
    pub cpu_ns: Option<u64>,
    /// Processor time that its programs added to the events of these processes, by measurement; only there, too.
    pub added_ns: Option<u64>,
}
