//! Rows of the table `meter_price`.

use crate::time::Instant;

/// A row of `meter_price`: the kernel programs of one meter in a window in which the kernel clocked them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeterPriceRow {
    /// The end of the window.
    pub at: Instant,
    /// The length of the window.
    pub span_ns: u64,
    /// Busy time of all processors in the window.
    pub busy_ns: u64,
    /// The meter.
    pub meter: &'static str,
    /// Number of runs of its programs, or of its samples.
    pub runs: u64,
    /// Time of the runs, as the kernel clocked it.
    pub run_ns: u64,
    /// Time that the kernel took to call the programs, beyond `run_ns`; `None` where it could not be measured.
    pub call_ns: Option<u64>,
    /// Standard error of `call_ns`.
    pub call_error_ns: Option<u64>,
}
