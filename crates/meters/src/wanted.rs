//! What is asked of the meters, and how they are refused.

use crate::refused::Refused;
use std::fmt;
use std::sync::Arc;

/// How much is metered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Switches, idle, queues and waits exactly; busy time divided by a clock that samples.
    Cheap,
    /// Every primitive, fault and interrupt bracketed by clock readings as well.
    Exact,
}

/// What is asked of the meters.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How much.
    pub tier: Tier,
    /// The most sessions (processes forked by this process) that get an account of their own.
    pub accounts: u32,
    /// The commands that users type, for primitives and faults by command; a command's number is its place here plus 1.
    pub commands: Vec<Arc<str>>,
    /// Samples a second of the clock profile; `None`: no profile beyond what the tier needs.
    pub profile_hz: Option<u32>,
    /// Whether page faults are counted by segment.
    pub segments: bool,
}

/// Why the meters cannot be had, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub Refused);

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Unavailable {}
