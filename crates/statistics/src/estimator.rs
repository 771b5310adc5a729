//! An estimator that receives each interaction of a run, and says when the run may stop.

use crate::stop_rule::StopRule;
use crate::windows::RunWindows;

#[cfg(test)]
mod tests;

/// Interactions before the precision is computed for the first time. Each later time is at twice as many.
pub const FIRST_LOOK_INTERACTIONS: u64 = 20_000;
/// Length of the first windows: about a millisecond, so that a run of 0.2 s has enough windows.
const FIRST_WINDOW_NS: u64 = 1 << 20;

/// The interactions of a run so far, and whether the run may stop.
#[derive(Clone, Debug)]
pub struct Estimator {
    stop_rule: StopRule,
    windows: RunWindows,
    interactions: u64,
    next_look: u64,
    stop_reason: Option<StopReason>,
}

/// The reason why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The run has the number of interactions, or the time, that its rule demands.
    Length,
    /// Each figure of the rule is precise enough.
    Precision,
    /// The run reached its limit of interactions or time before each figure was precise enough.
    LimitReached,
    /// The caller stopped the run.
    Stopped,
}

impl Estimator {
    /// An estimator without interactions.
    pub fn new(stop_rule: StopRule) -> Estimator {
        let windows = RunWindows::new(0, FIRST_WINDOW_NS);
        Estimator { stop_rule, windows, interactions: 0, next_look: FIRST_LOOK_INTERACTIONS, stop_reason: None }
    }

    /// Records an interaction of `class` (from 0) that ended at `at`, no earlier than the one before, and took `response_ns`.
    pub fn record(&mut self, class: usize, at: u64, response_ns: u64) {
        self.windows.add(class, at, response_ns);
        self.interactions += 1;
        if self.stop_reason.is_none() {
            self.stop_reason = self.judge(at);
        }
    }

    /// Whether the stop rule is met.
    pub fn is_done(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// The reason why the run may stop; `None` while it must go on.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason
    }

    /// The recorded interactions, for [`estimate`](crate::estimate).
    pub fn windows(&self) -> &RunWindows {
        &self.windows
    }

    fn judge(&mut self, at: u64) -> Option<StopReason> {
        if self.stop_rule.is_over(self.interactions, at) {
            return Some(if self.stop_rule.precisions.is_empty() { StopReason::Length } else { StopReason::LimitReached });
        }
        if self.interactions < self.next_look || self.stop_rule.precisions.is_empty() {
            return None;
        }
        self.next_look *= 2;
        self.stop_rule.is_precise(&[&self.windows]).then_some(StopReason::Precision)
    }
}
