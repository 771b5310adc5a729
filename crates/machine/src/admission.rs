//! How many processes may be multiprogrammed: all, a fixed number, as many as fit, or the number that keeps a device rightly busy.
//!
//! The last is a feedback: too many processes in memory fault so much that the paging device is always busy (thrashing), too few
//! leave it idle. At each look the limit goes up or down by one; within a tenth of the target it stays, lest it swing.

use super::spec::Limit;

/// So far from the target, as a part of it, the limit stays as it is.
const BAND: f64 = 0.1;

/// The limit, and its control.
#[derive(Clone, Debug)]
pub struct Admission {
    limit: Limit,
    level: u32,
    /// When the device was last looked at, and what it had done by then.
    looked: u64,
    busy_ns: u64,
}

impl Admission {
    /// The limit as it is at the beginning; that of a control by a device begins at 1.
    pub fn new(limit: &Limit) -> Admission {
        let level = match *limit {
            Limit::None => u32::MAX,
            Limit::Fixed(level) | Limit::WorkingSets { most: level } => level.max(1),
            Limit::DeviceBusy { .. } => 1,
        };
        Admission { limit: limit.clone(), level, looked: 0, busy_ns: 0 }
    }

    /// Whether one more may become eligible, when so many are, with so many pages in their working sets together, and there are
    /// so many `frames` for processes. One alone always may, however large.
    pub fn may_admit(&self, eligible: u32, working_set: u32, eligible_working_sets: u64, frames: u32) -> bool {
        let fits = || eligible_working_sets + u64::from(working_set) <= u64::from(frames);
        eligible < self.level && (!matches!(self.limit, Limit::WorkingSets { .. }) || eligible == 0 || fits())
    }

    /// How often the device is to be looked at (ns), where one is.
    pub fn every_ns(&self) -> Option<u64> {
        match self.limit {
            Limit::DeviceBusy { every_ns, .. } => Some(every_ns),
            _ => None,
        }
    }

    /// Looks at the device, which has given `busy_ns` of service in all until `now` with so many `servers`: one more may be
    /// eligible when it was too idle and somebody asks, one fewer when it was too busy. After a pause in looking, the first look
    /// changes nothing: it would see the pause.
    pub fn look(&mut self, now: u64, busy_ns: u64, servers: u32, asking: usize) {
        let Limit::DeviceBusy { target, most, every_ns, .. } = self.limit else { return };
        let span_ns = now - self.looked;
        let busy = (busy_ns - self.busy_ns) as f64 / (span_ns as f64 * f64::from(servers));
        (self.looked, self.busy_ns) = (now, busy_ns);
        if span_ns == 0 || span_ns > 2 * every_ns {
            return;
        }
        if busy > target * (1.0 + BAND) {
            self.level = (self.level - 1).max(1);
        } else if busy < target * (1.0 - BAND) && asking > 0 {
            self.level = (self.level + 1).min(most.max(1));
        }
    }

    /// How many may be eligible now; `u32::MAX`: all.
    pub fn level(&self) -> u32 {
        self.level
    }
}
