//! The request for meters.

use std::sync::Arc;

/// The amount of metering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Switches, idle time, queues and waits are exact; clock samples divide busy time.
    Cheap,
    /// Every system call, fault and interrupt is clocked too.
    Exact,
}

/// A request for meters.
#[derive(Clone, Debug)]
pub struct MeterRequest {
    /// Amount of metering.
    pub tier: Tier,
    /// Largest number of sessions (processes forked by this process) with an account of their own.
    pub accounts: u32,
    /// The commands that users type, for system calls and faults by command. A command's number is its index here plus 1.
    pub commands: Vec<Arc<str>>,
    /// Samples per second of the clock profile, which has stacks, and faults and samples by mapping; None without a profile.
    pub profile_hz: Option<u32>,
}

impl MeterRequest {
    /// Whether a program in the kernel counts what processors do at the ticks of a clock. The profile's samples serve as well, and the
    /// exact tier needs none.
    pub(crate) fn counts_activities(&self) -> bool {
        self.tier == Tier::Cheap && self.profile_hz.is_none()
    }
}
