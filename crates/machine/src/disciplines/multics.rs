//! Multics before 1975: one list ordered by ti, low first, and eligibility for a quantum te.
//!
//! An interaction sets ti and ts to 0. A process is eligible for a quantum of processor time, the first of an interaction `first`,
//! the others `last`. It keeps its eligibility while it waits for pages, and loses it at the end of the quantum (and of the
//! interaction); then ts += te, and once ts >= min(first + ti, most): ti += ts, at most `most`, and ts = 0. With equal quanta t a
//! process goes down the levels 0, t, 3t, 7t, … `most`. The processor runs the first of the list that is eligible and ready; who
//! becomes ready takes it from one further down.
//! Source: `pxss`, the traffic controller (`reschedule`, `sort_in`, `set_newt`, `get_processor`), as of its releases of the 1980s,
//! without the work classes, deadlines and the queue for interactions added from 1975 on.
//! Assumed: those routines were so in 1969–74; a page that has come pre-empts (a parameter later, and then off); te counts all of
//! the processor time, where the original leaves out faults and interrupts; ts equal to the bound is enough, since the original's
//! te always runs over a little. New interactions come before all else: nothing promises the lowest level a turn.

use super::order::Order;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// A process is given the processor for so long at least, whatever is left of its quantum (`set_newt`).
const LEAST_RUN_NS: u64 = 4_000_000;

/// Multics's ready list. See the head of the file.
#[derive(Clone, Debug)]
pub struct Multics {
    first_ns: u64,
    last_ns: u64,
    most_ns: u64,
    processes: Vec<Process>,
    asking: Order<Place>,
    ready: Order<Place>,
    sorted: u64,
}

/// A place in the list: ti, and the order of being sorted in among equals.
type Place = (u64, u64);

#[derive(Clone, Copy, Debug, Default)]
struct Process {
    ti_ns: u64,
    ts_ns: u64,
    te_ns: u64,
    quantum_ns: u64,
    place: Place,
}

impl Multics {
    /// The quantum after an interaction, the quantum of all later times, and the most that ti becomes.
    pub fn new(first_ns: u64, last_ns: u64, most_ns: u64) -> Multics {
        assert!(first_ns > 0 && last_ns > 0, "quanta are above 0");
        let (asking, ready) = (Order::default(), Order::default());
        Multics { first_ns, last_ns, most_ns, processes: Vec::new(), asking, ready, sorted: 0 }
    }

    /// The quantum is used up: the process goes down the list.
    fn reschedule(&mut self, job: Job) {
        let process = &mut self.processes[job as usize];
        process.ts_ns += std::mem::take(&mut process.te_ns);
        process.quantum_ns = self.last_ns;
        if process.ts_ns >= self.most_ns.min(self.first_ns + process.ti_ns) {
            process.ti_ns = self.most_ns.min(process.ti_ns + process.ts_ns);
            process.ts_ns = 0;
        }
    }
}

impl ReadyList for Multics {
    fn ask(&mut self, job: Job, facts: &Facts, _now: u64) {
        if self.processes.len() <= job as usize {
            self.processes.resize(job as usize + 1, Process { quantum_ns: self.first_ns, ..Process::default() });
        }
        let process = &mut self.processes[job as usize];
        if facts.begins {
            *process = Process { quantum_ns: self.first_ns, ..Process::default() };
        }
        process.place = (process.ti_ns, self.sorted);
        self.sorted += 1;
        self.asking.insert(process.place, job);
    }

    fn candidate(&self) -> Option<Job> {
        self.asking.first().map(|(_, job)| job)
    }

    fn admit(&mut self, job: Job, _now: u64) {
        assert!(self.asking.remove(job), "job {job} does not ask to be eligible");
    }

    fn ready(&mut self, job: Job, _why: Why, _now: u64) {
        self.ready.insert(self.processes[job as usize].place, job);
    }

    fn next(&mut self, _now: u64) -> Option<Turn> {
        let job = self.ready.take_first()?;
        let process = self.processes[job as usize];
        let left_ns = process.quantum_ns.saturating_sub(process.te_ns);
        Some(Turn { job, slice_ns: left_ns.max(LEAST_RUN_NS.min(process.quantum_ns)) })
    }

    fn off(&mut self, job: Job, ran_ns: u64, why: Off, _now: u64) -> Stay {
        self.processes[job as usize].te_ns += ran_ns;
        if why != Off::TurnOver {
            return Stay::Eligible;
        }
        self.reschedule(job);
        Stay::Asks
    }

    fn preempts(&self, arrived: Job, running: Job) -> bool {
        self.processes[arrived as usize].place < self.processes[running as usize].place
    }

    fn forget(&mut self, job: Job) {
        self.asking.remove(job);
        self.ready.remove(job);
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
