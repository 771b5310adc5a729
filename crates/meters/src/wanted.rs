//! The request for meters, and their refusal.

use crate::refused::Refused;
use std::fmt;
use std::sync::Arc;

/// The amount of metering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Switches, idle time, queues and waits are exact; clock samples divide busy time.
    Cheap,
    /// Every primitive, fault and interrupt is clocked too.
    Exact,
}

/// A request for meters.
#[derive(Clone, Debug)]
pub struct MeterRequest {
    /// Amount of metering.
    pub tier: Tier,
    /// Largest number of sessions (processes forked by this process) with an account of their own.
    pub accounts: u32,
    /// The commands that users type, for primitives and faults by command. A command's number is its index here plus 1.
    pub commands: Vec<Arc<str>>,
    /// Samples per second of the clock profile; None for no profile beyond the tier's needs.
    pub profile_hz: Option<u32>,
    /// Whether page faults are counted by segment.
    pub segments: bool,
}

/// Why the meters are unavailable, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub Refused);

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Unavailable {}
