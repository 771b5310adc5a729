//! In turn: who runs does so for a quantum at most, and goes to the tail.

use super::first_come::FirstCome;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// One queue and a quantum.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    queue: FirstCome,
    quantum_ns: u64,
}

impl RoundRobin {
    /// An empty queue. A quantum of nothing is no quantum: [`super::super::spec::Discipline::Sharing`] is its limit.
    pub fn new(quantum_ns: u64) -> RoundRobin {
        assert!(quantum_ns > 0, "a quantum is above 0");
        RoundRobin { queue: FirstCome::default(), quantum_ns }
    }
}

impl ReadyList for RoundRobin {
    #[inline]
    fn ask(&mut self, job: Job, facts: &Facts, now: u64) {
        self.queue.ask(job, facts, now);
    }

    #[inline]
    fn candidate(&self) -> Option<Job> {
        self.queue.candidate()
    }

    #[inline]
    fn admit(&mut self, job: Job, now: u64) {
        self.queue.admit(job, now);
    }

    #[inline]
    fn ready(&mut self, job: Job, why: Why, now: u64) {
        self.queue.ready(job, why, now);
    }

    #[inline]
    fn next(&mut self, now: u64) -> Option<Turn> {
        self.queue.next(now).map(|turn| Turn { slice_ns: self.quantum_ns, ..turn })
    }

    #[inline]
    fn off(&mut self, _job: Job, _ran_ns: u64, _why: Off, _now: u64) -> Stay {
        Stay::Eligible
    }

    fn forget(&mut self, job: Job) {
        self.queue.forget(job);
    }

    /// It is in no queue.
    #[inline]
    fn ends(&mut self, _job: Job) {}

    #[inline]
    fn asking(&self) -> usize {
        self.queue.asking()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}
