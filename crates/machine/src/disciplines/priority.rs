//! The lowest priority number first, and equal numbers in the order of arrival. An arrival may pre-empt a higher number.
//!
//! A pre-empted process keeps its position: it goes on before all that arrived after it (pre-emptive resume).

use super::order::ProcessHeap;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// Processes that ask and processes that are ready, both ordered by priority and position.
#[derive(Clone, Debug)]
pub struct Priority {
    preemptive: bool,
    asking: ProcessHeap<(u32, u64)>,
    ready: ProcessHeap<(u32, u64)>,
    /// For each process, the priority of its command, and its position.
    keys: Vec<(u32, u64)>,
    next_position: u64,
}

impl Priority {
    /// Empty lists.
    pub fn new(preemptive: bool) -> Priority {
        Priority { preemptive, asking: ProcessHeap::default(), ready: ProcessHeap::default(), keys: Vec::new(), next_position: 0 }
    }

    fn new_position(&mut self) -> u64 {
        self.next_position += 1;
        self.next_position
    }
}

impl ReadyList for Priority {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, _now: u64) {
        if self.keys.len() <= pid as usize {
            self.keys.resize(pid as usize + 1, (0, 0));
        }
        let key = (facts.priority, self.new_position());
        self.keys[pid as usize] = key;
        self.asking.insert(key, pid);
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.asking.first().map(|(_, pid)| pid)
    }

    fn admit(&mut self, pid: ProcessId, _now: u64) {
        assert!(self.asking.remove(pid), "process {pid} does not ask to be eligible");
    }

    fn ready(&mut self, pid: ProcessId, why: ReadyCause, _now: u64) {
        if why == ReadyCause::Woken {
            self.keys[pid as usize].1 = self.new_position();
        }
        self.ready.insert(self.keys[pid as usize], pid);
    }

    fn next(&mut self, _now: u64) -> Option<Turn> {
        self.ready.take_first().map(|pid| Turn { pid, slice_ns: u64::MAX })
    }

    fn off(&mut self, _pid: ProcessId, _ran_ns: u64, _why: LeaveCause, _now: u64) -> EligibilityAfterTurn {
        EligibilityAfterTurn::Eligible
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        self.preemptive && self.keys[arrived as usize].0 < self.keys[running as usize].0
    }

    fn forget(&mut self, pid: ProcessId) {
        self.asking.remove(pid);
        self.ready.remove(pid);
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, Priority, ReadyCause, ReadyList};

    fn arrives(list: &mut Priority, pid: u32, priority: u32) {
        list.ask(pid, &CandidateFacts { priority, begins: true, ..CandidateFacts::default() }, 0);
        let candidate = list.candidate().unwrap();
        list.admit(candidate, 0);
        list.ready(candidate, ReadyCause::Admitted, 0);
    }

    #[test]
    fn low_numbers_run_first_and_equals_in_the_order_of_arrival() {
        let mut list = Priority::new(true);
        [(0, 5), (1, 1), (2, 5), (3, 0)].iter().for_each(|(pid, priority)| arrives(&mut list, *pid, *priority));
        let order: Vec<u32> = std::iter::from_fn(|| list.next(0)).map(|turn| turn.pid).collect();
        assert_eq!(order, [3, 1, 0, 2]);
    }

    #[test]
    fn a_pre_empted_process_goes_on_before_later_arrivals() {
        let mut list = Priority::new(true);
        arrives(&mut list, 0, 5);
        assert_eq!(list.next(0).map(|turn| turn.pid), Some(0));
        arrives(&mut list, 1, 5);
        arrives(&mut list, 2, 1);
        assert!(list.preempts(2, 0) && !list.preempts(1, 0) && !Priority::new(false).preempts(2, 0));
        assert_eq!(list.off(0, 10, LeaveCause::Preempted, 1), EligibilityAfterTurn::Eligible);
        list.ready(0, ReadyCause::Again, 1);
        let order: Vec<u32> = std::iter::from_fn(|| list.next(0)).map(|turn| turn.pid).collect();
        assert_eq!(order, [2, 0, 1]);
    }
}
