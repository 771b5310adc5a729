//! An estimator that is fed interaction by interaction and says when the run is precise enough.

use crate::until::Until;
use crate::windows::Windows;

#[cfg(test)]
mod tests;

/// Interactions at the first look at the precision; later looks are at twice as many each.
pub const FIRST_LOOK: u64 = 20_000;
/// The first windows of a run that is fed by a driver: about a millisecond.
const SHORTEST_WINDOW_NS: u64 = 1 << 20;

/// What a run has come to, and whether that is enough.
#[derive(Clone, Debug)]
pub struct Estimator {
    until: Until,
    windows: Windows,
    interactions: u64,
    look_at: u64,
    end: Option<End>,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The interactions or the time that were asked for.
    Length,
    /// Every asked figure is precise enough.
    Precision,
    /// The most interactions, before every asked figure was precise enough.
    Most,
    /// Somebody stopped it.
    Stopped,
}

impl Estimator {
    /// Nothing yet.
    pub fn new(until: Until) -> Estimator {
        Estimator { until, windows: Windows::new(0, SHORTEST_WINDOW_NS), interactions: 0, look_at: FIRST_LOOK, end: None }
    }

    /// An interaction of `class` (numbered from 0) was over at `at` after `response` ns; `at` does not go back.
    pub fn finished(&mut self, class: usize, at: u64, response: u64) {
        self.windows.add(class, at, response);
        self.interactions += 1;
        if self.end.is_none() {
            self.end = self.judge(at);
        }
    }

    /// Whether the run has come to what was asked.
    pub fn enough(&self) -> bool {
        self.end.is_some()
    }

    /// Why the run is over; `None` while it is not.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// What was recorded, for [`estimate`].
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    fn judge(&mut self, at: u64) -> Option<End> {
        if self.until.is_over(self.interactions, at) {
            return Some(if self.until.precisions.is_empty() { End::Length } else { End::Most });
        }
        if self.interactions < self.look_at || self.until.precisions.is_empty() {
            return None;
        }
        self.look_at *= 2;
        self.until.is_precise(&[&self.windows]).then_some(End::Precision)
    }
}
