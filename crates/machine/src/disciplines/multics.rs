//! Multics before 1975: one list ordered by ti, low first, and eligibility for a quantum te.
//!
//! An interaction sets ti and ts to 0. A process is eligible for a quantum of processor time: the first of an interaction is
//! `first`, the others are `last`. It stays eligible while it waits for pages, and loses eligibility at the end of the quantum
//! and of the interaction. Then ts += te. Once ts >= min(first + ti, most): ti += ts, at most `most`, and ts = 0. With equal
//! quanta t, a process goes down the levels 0, t, 3t, 7t, … `most`. The processor runs the first process of the list that is
//! eligible and ready. A process that becomes ready takes the processor from a process further down.
//! Source: `pxss`, the traffic controller (`reschedule`, `sort_in`, `set_newt`, `get_processor`), in releases of the 1980s. The
//! work classes, deadlines and the queue for interactions, which were added from 1975 on, are left out.
//! Assumed: those routines were the same in 1969–74. The arrival of a page pre-empts, which was a parameter later, and then off.
//! The quantum te counts all processor time, while the original leaves out faults and interrupts. A ts equal to the bound is
//! enough, since the original's te always runs over a little. New interactions come before all others, so the lowest level may
//! wait for ever.

use super::order::ProcessHeap;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// Shortest turn on the processor, whatever is left of the quantum (`set_newt`).
const LEAST_RUN_NS: u64 = 4_000_000;

/// Multics's ready list. See the head of the file.
#[derive(Clone, Debug)]
pub struct Multics {
    first_ns: u64,
    last_ns: u64,
    most_ns: u64,
    processes: Vec<MulticsProcess>,
    asking: ProcessHeap<MulticsKey>,
    ready: ProcessHeap<MulticsKey>,
    sorted: u64,
}

/// The key of a process in the list: ti, and the order of insertion among equals.
type MulticsKey = (u64, u64);

#[derive(Clone, Copy, Debug, Default)]
struct MulticsProcess {
    ti_ns: u64,
    ts_ns: u64,
    te_ns: u64,
    quantum_ns: u64,
    key: MulticsKey,
}

impl Multics {
    /// An empty list with the first quantum of an interaction, the later quanta, and the largest ti.
    pub fn new(first_ns: u64, last_ns: u64, most_ns: u64) -> Multics {
        assert!(first_ns > 0 && last_ns > 0, "quanta are above 0");
        let (asking, ready) = (ProcessHeap::default(), ProcessHeap::default());
        Multics { first_ns, last_ns, most_ns, processes: Vec::new(), asking, ready, sorted: 0 }
    }

    /// Moves the process, whose quantum is used up, down the list.
    fn reschedule(&mut self, pid: ProcessId) {
        let process = &mut self.processes[pid as usize];
        process.ts_ns += std::mem::take(&mut process.te_ns);
        process.quantum_ns = self.last_ns;
        if process.ts_ns >= self.most_ns.min(self.first_ns + process.ti_ns) {
            process.ti_ns = self.most_ns.min(process.ti_ns + process.ts_ns);
            process.ts_ns = 0;
        }
    }
}

impl ReadyList for Multics {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, _now: u64) {
        if self.processes.len() <= pid as usize {
            self.processes.resize(pid as usize + 1, MulticsProcess { quantum_ns: self.first_ns, ..MulticsProcess::default() });
        }
        let process = &mut self.processes[pid as usize];
        if facts.begins {
            *process = MulticsProcess { quantum_ns: self.first_ns, ..MulticsProcess::default() };
        }
        process.key = (process.ti_ns, self.sorted);
        self.sorted += 1;
        self.asking.insert(process.key, pid);
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.asking.first().map(|(_, pid)| pid)
    }

    fn admit(&mut self, pid: ProcessId, _now: u64) {
        assert!(self.asking.remove(pid), "process {pid} does not ask to be eligible");
    }

    fn ready(&mut self, pid: ProcessId, _why: ReadyCause, _now: u64) {
        self.ready.insert(self.processes[pid as usize].key, pid);
    }

    fn next(&mut self, _now: u64) -> Option<Turn> {
        let pid = self.ready.take_first()?;
        let process = self.processes[pid as usize];
        let left_ns = process.quantum_ns.saturating_sub(process.te_ns);
        Some(Turn { pid, slice_ns: left_ns.max(LEAST_RUN_NS.min(process.quantum_ns)) })
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, _now: u64) -> EligibilityAfterTurn {
        self.processes[pid as usize].te_ns += ran_ns;
        if why != LeaveCause::TurnOver {
            return EligibilityAfterTurn::Eligible;
        }
        self.reschedule(pid);
        EligibilityAfterTurn::Asks
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        self.processes[arrived as usize].key < self.processes[running as usize].key
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
