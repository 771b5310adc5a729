//! Rows of the table `processor_speed`.

use crate::time::Instant;

/// A row of `processor_speed`: a piece of the reference work on one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorSpeedRow {
    /// The end of the piece.
    pub at: Instant,
    /// The time from its beginning to its end, with waits for the processor.
    pub span_ns: u64,
    /// The processor that did it.
    pub processor: u16,
    /// Processor time of the piece.
    pub cpu_ns: u64,
}
