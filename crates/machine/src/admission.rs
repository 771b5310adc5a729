//! The multiprogramming limit: none, a fixed number, by working sets, or the number that keeps a device as busy as its target.
//!
//! The last is a feedback control. Too many processes fault so much that the paging device is always busy (thrashing); too few
//! leave it idle. At each check, the limit goes up or down by one. If the device is within a tenth of its target, the limit
//! stays, so that it does not oscillate.

use super::spec::EligibilityLimit;

/// Distance from the target, as a part of it, within which the limit stays. Chosen by hand.
const DEAD_BAND_SHARE: f64 = 0.1;

/// The limit with its control.
#[derive(Clone, Debug)]
pub struct Admission {
    limit: EligibilityLimit,
    level: u32,
    /// Time of the last check.
    last_check: u64,
    /// Service that the device had given until the last check.
    busy_ns: u64,
}

impl Admission {
    /// The limit at the beginning. With control by a device, it begins at 1.
    pub fn new(limit: &EligibilityLimit) -> Admission {
        let level = match *limit {
            EligibilityLimit::None => u32::MAX,
            EligibilityLimit::Fixed(level) | EligibilityLimit::WorkingSets { most: level } => level.max(1),
            EligibilityLimit::DeviceBusy { .. } => 1,
        };
        Admission { limit: limit.clone(), level, last_check: 0, busy_ns: 0 }
    }

    /// Whether a process with this working set may become eligible beside `eligible` others, on a machine with `frames` for
    /// processes.
    ///
    /// `eligible_working_sets` is the sum of the others' working sets, in pages. A process alone may always become eligible.
    pub fn may_admit(&self, eligible: u32, working_set: u32, eligible_working_sets: u64, frames: u32) -> bool {
        let fits = || eligible_working_sets + u64::from(working_set) <= u64::from(frames);
        eligible < self.level && (!matches!(self.limit, EligibilityLimit::WorkingSets { .. }) || eligible == 0 || fits())
    }

    /// Time between two checks of the device, in ns; `None` without control by a device.
    pub fn every_ns(&self) -> Option<u64> {
        match self.limit {
            EligibilityLimit::DeviceBusy { every_ns, .. } => Some(every_ns),
            _ => None,
        }
    }

    /// Adjusts the limit to the device, whose `servers` have given `busy_ns` of service until `now`.
    ///
    /// The limit rises if the device was too idle and a process asks, and falls if it was too busy. The first check after a pause
    /// changes nothing, since it would measure the pause.
    pub fn check(&mut self, now: u64, busy_ns: u64, servers: u32, asking: usize) {
        let EligibilityLimit::DeviceBusy { target, most, every_ns, .. } = self.limit else { return };
        let span_ns = now - self.last_check;
        let busy = (busy_ns - self.busy_ns) as f64 / (span_ns as f64 * f64::from(servers));
        (self.last_check, self.busy_ns) = (now, busy_ns);
        if span_ns == 0 || span_ns > 2 * every_ns {
            return;
        }
        if busy > target * (1.0 + DEAD_BAND_SHARE) {
            self.level = (self.level - 1).max(1);
        } else if busy < target * (1.0 - DEAD_BAND_SHARE) && asking > 0 {
            self.level = (self.level + 1).min(most.max(1));
        }
    }

    /// The number of processes that may be eligible now; `u32::MAX`: no limit.
    pub fn level(&self) -> u32 {
        self.level
    }
}
