//! Round robin: each process runs for a quantum at most, and then goes to the tail of the queue.

use super::first_come::FirstCome;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// A queue with a quantum.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    queue: FirstCome,
    quantum_ns: u64,
}

impl RoundRobin {
    /// An empty queue. The quantum is above 0; the limit of short quanta is [`super::super::spec::Discipline::Sharing`].
    pub fn new(quantum_ns: u64) -> RoundRobin {
        assert!(quantum_ns > 0, "a quantum is above 0");
        RoundRobin { queue: FirstCome::default(), quantum_ns }
    }
}

impl ReadyList for RoundRobin {
    #[inline]
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.queue.ask(pid, facts, now);
    }

    #[inline]
    fn candidate(&self) -> Option<ProcessId> {
        self.queue.candidate()
    }

    #[inline]
    fn admit(&mut self, pid: ProcessId, now: u64) {
        self.queue.admit(pid, now);
    }

    #[inline]
    fn ready(&mut self, pid: ProcessId, why: ReadyCause, now: u64) {
        self.queue.ready(pid, why, now);
    }

    #[inline]
    fn next(&mut self, now: u64) -> Option<Turn> {
        self.queue.next(now).map(|turn| Turn { slice_ns: self.quantum_ns, ..turn })
    }

    #[inline]
    fn off(&mut self, _pid: ProcessId, _ran_ns: u64, _why: LeaveCause, _now: u64) -> EligibilityAfterTurn {
        EligibilityAfterTurn::Eligible
    }

    fn forget(&mut self, pid: ProcessId) {
        self.queue.forget(pid);
    }

    /// Does nothing, since the process is in no queue.
    #[inline]
    fn ends(&mut self, _pid: ProcessId) {}

    #[inline]
    fn asking(&self) -> usize {
        self.queue.asking()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}
