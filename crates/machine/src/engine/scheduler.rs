//! The scheduling discipline at work: its ready list, and counts of what it decides.

use super::processor::NO_PROCESS;
use super::processors::ProcessorSet;
use crate::disciplines::{Job, ReadyList, Turn, Why};
use crate::meters::Level;

/// A discipline's list, with meters.
#[derive(Clone, Debug)]
pub(super) struct Scheduler<L> {
    /// The discipline.
    pub list: L,
    /// Processes that can run and have no processor.
    pub ready: Level,
    /// How often a processor was given to a process.
    pub dispatches: u64,
    /// How often a process lost its processor to another one.
    pub preemptions: u64,
}

impl<L: ReadyList> Scheduler<L> {
    /// The discipline without processes.
    pub fn new(list: L) -> Scheduler<L> {
        Scheduler { list, ready: Level::default(), dispatches: 0, preemptions: 0 }
    }

    /// Queues `job`, which can run from `now` on.
    #[inline]
    pub fn enqueue(&mut self, job: Job, why: Why, now: u64) {
        self.ready.rise(now);
        self.list.ready(job, why, now);
    }

    /// Takes out the process that runs next.
    #[inline]
    pub fn take_next(&mut self, now: u64) -> Option<Turn> {
        let turn = self.list.next(now)?;
        self.ready.fall(now);
        self.dispatches += 1;
        Some(turn)
    }

    /// The processor whose process is to give way to `arrived`: the one that would give way to all others that would.
    #[inline]
    pub fn processor_to_preempt(&self, arrived: Job, processors: &ProcessorSet) -> Option<usize> {
        let mut chosen: Option<usize> = None;
        for (p, processor) in processors.all().iter().enumerate() {
            let running = processor.job;
            if running != NO_PROCESS && !processor.preempted && self.list.preempts(arrived, running) {
                let better = chosen.is_none_or(|other| self.list.preempts(processors[other].job, running));
                chosen = if better { Some(p) } else { chosen };
            }
        }
        chosen
    }
}
