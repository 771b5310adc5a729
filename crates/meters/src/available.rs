//! What can be metered on this host, how exactly, and why not.

/// How well a meter is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Every event is counted, every stretch is clocked.
    Exact,
    /// Estimated, and how.
    Estimated(String),
    /// Not here, why, and the remedy.
    NotHere(String),
}

/// One meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// Its name, as in the report: `total time`, `idle by cause`, `faults`, `interrupts`, `primitives`, `clock profile`, `segments`, `queue`.
    pub meter: &'static str,
    /// How it is had.
    pub how: How,
}
