//! In the order of coming: who becomes ready first runs first, until it waits or is done.

use std::collections::VecDeque;

use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// One queue, and another of those who ask.
#[derive(Clone, Debug, Default)]
pub struct FirstCome {
    asking: VecDeque<Job>,
    ready: VecDeque<Job>,
}

impl ReadyList for FirstCome {
    #[inline]
    fn ask(&mut self, job: Job, _facts: &Facts, _now: u64) {
        self.asking.push_back(job);
    }

    #[inline]
    fn candidate(&self) -> Option<Job> {
        self.asking.front().copied()
    }

    #[inline]
    fn admit(&mut self, job: Job, _now: u64) {
        assert!(self.asking.pop_front() == Some(job), "job {job} is not the candidate");
    }

    #[inline]
    fn ready(&mut self, job: Job, _why: Why, _now: u64) {
        self.ready.push_back(job);
    }

    #[inline]
    fn next(&mut self, _now: u64) -> Option<Turn> {
        self.ready.pop_front().map(|job| Turn { job, slice_ns: u64::MAX })
    }

    #[inline]
    fn off(&mut self, _job: Job, _ran_ns: u64, _why: Off, _now: u64) -> Stay {
        Stay::Eligible
    }

    fn forget(&mut self, job: Job) {
        self.asking.retain(|other| *other != job);
        self.ready.retain(|other| *other != job);
    }

    /// It is in no queue.
    #[inline]
    fn ends(&mut self, _job: Job) {}

    #[inline]
    fn asking(&self) -> usize {
        self.asking.len()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
