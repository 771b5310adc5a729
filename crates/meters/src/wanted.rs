//! The request for meters.

use std::sync::Arc;

/// Samples per second of the clock profile of a run.
pub const PROFILE_HZ: u32 = 1000;
/// Ticks per second on each busy processor, where they only divide its busy time: a tick takes up to 20 µs. A minute of a busy processor
/// has 14,000, so each share is within 0.8 % of the busy time. They stay in step with no timer of 100, 250, 300
/// or 1000 Hz: 64 ticks leave no gap over 4 % in its period.
const ACTIVITY_HZ: u32 = 237;

/// The amount of metering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Switches, idle time, queues and waits are exact; clock samples divide busy time.
    Cheap,
    /// As [`Tier::Cheap`], and every system call, fault and interrupt is clocked in random windows.
    Sampled,
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
    /// Whether waits for locks are metered.
    pub locks: bool,
    /// Samples per second of the clock profile, which has stacks, and faults and samples by mapping; None without a profile.
    pub profile_hz: Option<u32>,
}

impl MeterRequest {
    /// Samples per second of each busy processor: those of the profile, or of the clock that divides busy time. None without a clock.
    pub fn clock_hz(&self) -> Option<u32> {
        self.profile_hz.or(self.counts_activities().then_some(ACTIVITY_HZ))
    }

    /// Whether a program in the kernel counts what processors do at the ticks of a clock. The profile's samples serve as well, and the
    /// exact tier needs none.
    pub(crate) fn counts_activities(&self) -> bool {
        self.tier != Tier::Exact && self.profile_hz.is_none()
    }
}
