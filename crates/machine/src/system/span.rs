//! Spans of a simulated machine's time, for which its meters make rows.

use loadgo_core::time::Instant;

/// Why a span ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was as long as a span is now.
    Period,
    /// A phase begins, or the run is over.
    Cut,
}

/// A span that is over.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Its end.
    pub at: Instant,
    /// Its length.
    pub span_ns: u64,
}
