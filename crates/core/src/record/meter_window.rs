//! Rows of the table `meter_windows`.

use crate::time::Instant;

/// A row of `meter_windows`: a window in which every system call, fault and interrupt was clocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterWindowRow {
    /// The end of the window. Rows of `primitives` and `faults` of the window have the same `at`.
    pub at: Instant,
    /// The length of the window.
    pub span_ns: u64,
    /// The length of the stretch of the run for which the window stands.
    pub stretch_ns: u64,
    /// Busy time of all processors in the window, without what the window's programs and its thread took.
    pub busy_ns: u64,
    /// Processor time that the window cost: what its programs added to events, and what its thread used before, in and after it.
    pub cost_ns: u64,
}
