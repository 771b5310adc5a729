//! The clock of a run: the host's own, or a simulated machine's.

use crate::conditions;
use crate::sections::{ConditionsPart, MachineConditions};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A run's clock, which counts from the beginning of the run.
pub(crate) enum Clock {
    /// The host's clock.
    Host {
        /// The beginning of the run on the monotonic clock, in nanoseconds.
        origin_ns: u64,
    },
    /// A simulated machine's clock: the virtual time that has been computed, in nanoseconds.
    Virtual(Arc<AtomicU64>),
}

impl Clock {
    /// The host's clock, from now on.
    pub(crate) fn start() -> Clock {
        Clock::Host { origin_ns: monotonic_ns() }
    }

    pub(crate) fn now(&self) -> Instant {
        match self {
            Clock::Host { origin_ns } => Instant(monotonic_ns() - origin_ns),
            Clock::Virtual(now_ns) => Instant(now_ns.load(Ordering::Relaxed)),
        }
    }

    /// The clock's zero on the host's monotonic clock, in nanoseconds; 0 for a virtual clock.
    pub(crate) fn origin_ns(&self) -> u64 {
        match self {
            Clock::Host { origin_ns } => *origin_ns,
            Clock::Virtual(_) => 0,
        }
    }

    pub(crate) fn is_virtual(&self) -> bool {
        matches!(self, Clock::Virtual(_))
    }

    /// Adds the state at the end of a run that took `elapsed_s` on this host. Returns the run's length if its clock is virtual.
    pub(crate) fn conclude(&self, conditions: &mut ConditionsPart, elapsed_s: f64) -> Option<f64> {
        if !self.is_virtual() {
            return conditions::at_the_end(conditions);
        }
        let virtual_s = Some(self.now().0 as f64 / 1e9);
        *conditions = ConditionsPart::Machine(MachineConditions { virtual_s, computed_s: Some(elapsed_s) });
        virtual_s
    }
}
