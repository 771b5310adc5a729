//! The scheduling discipline with its ready list, and counts of its decisions.

use super::processor::NO_PROCESS;
use super::processors::ProcessorSet;
use crate::disciplines::{ProcessId, ReadyCause, ReadyList, Turn};
use crate::meters::TimedCount;

/// A discipline's list, with meters.
#[derive(Clone, Debug)]
pub(super) struct Scheduler<L> {
    /// The discipline.
    pub list: L,
    /// Processes that can run and have no processor.
    pub ready: TimedCount,
    /// Number of dispatches.
    pub dispatches: u64,
    /// Number of times that a process lost its processor to another one.
    pub preemptions: u64,
}

impl<L: ReadyList> Scheduler<L> {
    /// The discipline without processes.
    pub fn new(list: L) -> Scheduler<L> {
        Scheduler { list, ready: TimedCount::default(), dispatches: 0, preemptions: 0 }
    }

    /// Queues `pid`, which can run from `now` on.
    #[inline]
    pub fn enqueue(&mut self, pid: ProcessId, why: ReadyCause, now: u64) {
        self.ready.rise(now);
        self.list.ready(pid, why, now);
    }

    /// Removes and returns the process that runs next on processor `p`.
    #[inline]
    pub fn take_next(&mut self, p: usize, now: u64) -> Option<Turn> {
        let turn = self.list.next_on(p, now)?;
        self.ready.fall(now);
        self.dispatches += 1;
        Some(turn)
    }

    /// The processor whose process must give way to `arrived`, if any. Of several, it is the process that gives way to the others.
    #[inline]
    pub fn processor_to_preempt(&self, arrived: ProcessId, processors: &ProcessorSet) -> Option<usize> {
        let mut chosen: Option<usize> = None;
        for (p, processor) in processors.all().iter().enumerate() {
            let running = processor.pid;
            if running != NO_PROCESS && !processor.preempted && self.list.preempts(arrived, running) {
                let better = chosen.is_none_or(|other| self.list.preempts(processors[other].pid, running));
                chosen = if better { Some(p) } else { chosen };
            }
        }
        chosen
    }
}
