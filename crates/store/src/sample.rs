//! Rows that a sampler writes beside the driver.

use loadgo_core::time::Instant;

/// A row of `time`: one category of one processor's time over a span.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeRow {
    /// The end of the span.
    pub at: Instant,
    /// The span.
    pub span_ns: u64,
    /// The processor; `None` for all together.
    pub processor: Option<u16>,
    /// `user`, `nice`, `system`, `irq`, `softirq`, `steal`, `iowait`, `idle`.
    pub category: &'static str,
    /// The time that the processor spent so.
    pub time_ns: u64,
}

/// A row of `processes`: the processor time of one party over a span.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessRow {
    /// The end of the span.
    pub at: Instant,
    /// The span.
    pub span_ns: u64,
    /// `users`, `driver`, `meters`.
    pub who: &'static str,
    /// Processor time.
    pub cpu_ns: u64,
    /// Memory in use at the end of the span.
    pub memory_bytes: Option<u64>,
}
