//! Spans of a simulated machine's time, for which its meters make rows.

use loadgo_core::time::Instant;

/// The cause of a span's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanEnd {
    /// The span has its regular length.
    Period,
    /// A phase begins, or the run is over.
    Cut,
}

/// A finished span.
#[derive(Clone, Copy)]
pub(super) struct SampledSpan {
    /// End of the span.
    pub at: Instant,
    /// Length of the span.
    pub span_ns: u64,
}
