//! Any of the disciplines, as one type, for lists that put something around a discipline.

use super::ctss::Ctss;
use super::first_come::FirstCome;
use super::linux::Linux;
use super::multics::Multics;
use super::priority::Priority;
use super::round_robin::RoundRobin;
use super::tenex::Tenex;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use crate::spec::{Discipline, ProcessorSpec};

/// The ready list of one of the disciplines. That of `sharing` is never asked for a turn.
#[derive(Clone, Debug)]
pub enum AnyList {
    /// First come, first served.
    FirstCome(FirstCome),
    /// A quantum in turn.
    RoundRobin(RoundRobin),
    /// By the command's priority.
    Priority(Priority),
    /// Exponential queues.
    Ctss(Ctss),
    /// By ti.
    Multics(Multics),
    /// By priority, better with time.
    Tenex(Tenex),
    /// Earliest eligible virtual deadline first.
    Linux(Linux),
}

/// Evaluates an expression with the list of any discipline.
macro_rules! of_each {
    ($any:expr, $list:ident => $asked:expr) => {
        match $any {
            AnyList::FirstCome($list) => $asked,
            AnyList::RoundRobin($list) => $asked,
            AnyList::Priority($list) => $asked,
            AnyList::Ctss($list) => $asked,
            AnyList::Multics($list) => $asked,
            AnyList::Tenex($list) => $asked,
            AnyList::Linux($list) => $asked,
        }
    };
}

impl AnyList {
    /// The list of the processors' discipline, without processes.
    pub fn new(processors: &ProcessorSpec) -> AnyList {
        match processors.discipline {
            Discipline::FirstCome | Discipline::Sharing => AnyList::FirstCome(FirstCome::default()),
            Discipline::RoundRobin { quantum_ns, .. } => AnyList::RoundRobin(RoundRobin::new(quantum_ns)),
            Discipline::Priority { preemptive } => AnyList::Priority(Priority::new(preemptive)),
            Discipline::Ctss { quantum_ns, words_per_quantum, levels, rise_ns } => {
                AnyList::Ctss(Ctss::new(quantum_ns, words_per_quantum, levels).rising(rise_ns))
            }
            Discipline::Multics { first_ns, last_ns, most_ns } => AnyList::Multics(Multics::new(first_ns, last_ns, most_ns)),
            Discipline::Tenex { ref queues, credit_ns } => AnyList::Tenex(Tenex::new(queues, credit_ns)),
            Discipline::Linux { slice_ns, tick_ns, packs, .. } => {
                let list = Linux::with_queues(slice_ns, tick_ns, processors.count);
                AnyList::Linux(if packs { list.packing() } else { list })
            }
        }
    }
}

impl ReadyList for AnyList {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        of_each!(self, list => list.ask(pid, facts, now));
    }

    fn candidate(&self) -> Option<ProcessId> {
        of_each!(self, list => list.candidate())
    }

    fn admit(&mut self, pid: ProcessId, now: u64) {
        of_each!(self, list => list.admit(pid, now));
    }

    fn ready(&mut self, pid: ProcessId, why: ReadyCause, now: u64) {
        of_each!(self, list => list.ready(pid, why, now));
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        of_each!(self, list => list.next(now))
    }

    fn next_on(&mut self, processor: usize, now: u64) -> Option<Turn> {
        of_each!(self, list => list.next_on(processor, now))
    }

    fn processor_of(&self, pid: ProcessId) -> Option<usize> {
        of_each!(self, list => list.processor_of(pid))
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        of_each!(self, list => list.off(pid, ran_ns, why, now))
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        of_each!(self, list => list.preempts(arrived, running))
    }

    fn new_process(&mut self, pid: ProcessId) {
        of_each!(self, list => list.new_process(pid));
    }

    fn forget(&mut self, pid: ProcessId) {
        of_each!(self, list => list.forget(pid));
    }

    fn ends(&mut self, pid: ProcessId) {
        of_each!(self, list => list.ends(pid));
    }

    fn take_balance(&mut self) -> Option<u64> {
        of_each!(self, list => list.take_balance())
    }

    fn balance(&mut self, now: u64) -> Option<ProcessId> {
        of_each!(self, list => list.balance(now))
    }

    fn asking(&self) -> usize {
        of_each!(self, list => list.asking())
    }

    fn waiting(&self) -> usize {
        of_each!(self, list => list.waiting())
    }
}
