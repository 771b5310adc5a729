//! First come, first served: the process that became ready first runs first, until it waits or is done.

use std::collections::VecDeque;

use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// A queue of the ready processes, and one of those that ask to be eligible.
#[derive(Clone, Debug, Default)]
pub struct FirstCome {
    asking: VecDeque<ProcessId>,
    ready: VecDeque<ProcessId>,
}

impl ReadyList for FirstCome {
    #[inline]
    fn ask(&mut self, pid: ProcessId, _facts: &CandidateFacts, _now: u64) {
        self.asking.push_back(pid);
    }

    #[inline]
    fn candidate(&self) -> Option<ProcessId> {
        self.asking.front().copied()
    }

    #[inline]
    fn admit(&mut self, pid: ProcessId, _now: u64) {
        assert!(self.asking.pop_front() == Some(pid), "process {pid} is not the candidate");
    }

    #[inline]
    fn ready(&mut self, pid: ProcessId, _why: ReadyCause, _now: u64) {
        self.ready.push_back(pid);
    }

    #[inline]
    fn next(&mut self, _now: u64) -> Option<Turn> {
        self.ready.pop_front().map(|pid| Turn { pid, slice_ns: u64::MAX })
    }

    #[inline]
    fn off(&mut self, _pid: ProcessId, _ran_ns: u64, _why: LeaveCause, _now: u64) -> EligibilityAfterTurn {
        EligibilityAfterTurn::Eligible
    }

    fn forget(&mut self, pid: ProcessId) {
        self.asking.retain(|other| *other != pid);
        self.ready.retain(|other| *other != pid);
    }

    /// Does nothing, since the process is in no queue.
    #[inline]
    fn ends(&mut self, _pid: ProcessId) {}

    #[inline]
    fn asking(&self) -> usize {
        self.asking.len()
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
