//! Linux's fair share of the processors: the earliest eligible virtual deadline first (EEVDF).
//!
//! A process's virtual time v runs at 1024 / weight of its processor time. V is the weighted mean over all runnable processes.
//! A process's lag V - v is the service that it is owed. With lag >= 0 it is eligible. The eligible process with the earliest
//! deadline runs until its virtual time reaches the deadline, which then moves on by slice / weight. A process that stops being
//! runnable keeps its lag, at most two slices either way, until it returns. A process that becomes ready and is the choice takes
//! the processor at once.
//! Sources: Stoica and Abdel-Wahab, "Earliest eligible virtual deadline first", 1995; Linux's kernel/sched/fair.c as of 6.6
//! (`pick_eevdf`, `place_entity`, `update_deadline`) and the weights of kernel/sched/core.c.
//! Assumed: one run queue for all processors. If no waiting process is eligible, the nearest to it runs. RUN_TO_PARITY is off,
//! since hardly any process is pre-empted with it. Dequeueing is not delayed, as it is from 6.12 on. A slice is not cut to ticks.

use super::order::ProcessHeap;
use super::virtual_deadlines::VirtualDeadlines;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// Weights by nice value, from -20.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
    1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];
/// Units of virtual time in a nanosecond at weight 1. At weight 1024, a nanosecond has 1024 units.
const UNITS_PER_NS: i128 = 1 << 20;

/// Linux's run queue. See the head of the file.
#[derive(Clone, Debug)]
pub struct Linux {
    slice_ns: u64,
    processes: Vec<LinuxProcess>,
    asking: ProcessHeap<u64>,
    ready: VirtualDeadlines,
    /// Sums over all runnable processes: the weights, and weight x virtual time at the last dispatch.
    weights: i128,
    weighted_time: i128,
    /// Number of running processes, and the sum of the times of their dispatch.
    running: i128,
    dispatched: i128,
    /// Virtual time of the last process that was runnable.
    last_virtual: i128,
    serial: u64,
    now: u64,
}

#[derive(Clone, Copy, Debug)]
struct LinuxProcess {
    weight: i128,
    virtual_time: i128,
    deadline: i128,
    lag: i128,
    state: RunState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RunState {
    /// Not runnable: the process waits, asks or has no work.
    Away,
    /// Runnable, between a turn and becoming ready again: neither in the list nor on a processor.
    Between,
    Ready,
    Runs {
        since: u64,
    },
}

impl Linux {
    /// An empty queue. With equal weights, each process runs for a slice in turn.
    pub fn new(slice_ns: u64) -> Linux {
        assert!(slice_ns > 0, "a slice is above 0");
        Linux {
            slice_ns,
            processes: Vec::new(),
            asking: ProcessHeap::default(),
            ready: VirtualDeadlines::default(),
            weights: 0,
            weighted_time: 0,
            running: 0,
            dispatched: 0,
            last_virtual: 0,
            serial: 0,
            now: 0,
        }
    }

    /// V, rounded down. A process whose virtual time is at most V is eligible.
    fn mean_virtual(&self) -> i128 {
        let run_since = UNITS_PER_NS * (self.running * i128::from(self.now) - self.dispatched);
        if self.weights == 0 { self.last_virtual } else { (self.weighted_time + run_since).div_euclid(self.weights) }
    }

    fn virtual_time(&self, process: &LinuxProcess) -> i128 {
        let RunState::Runs { since } = process.state else { return process.virtual_time };
        process.virtual_time + i128::from(self.now - since) * UNITS_PER_NS / process.weight
    }

    fn slice(&self, process: &LinuxProcess) -> i128 {
        i128::from(self.slice_ns) * UNITS_PER_NS / process.weight
    }

    fn pick(&self) -> Option<ProcessId> {
        let bound = self.mean_virtual().max(self.ready.least()?);
        self.ready.earliest_within(bound)
    }

    /// Makes `pid` runnable at the virtual time that its lag gives (`place_entity`).
    fn arrive(&mut self, pid: ProcessId) {
        let mean = self.mean_virtual();
        let mut process = self.processes[pid as usize];
        let lag = if self.weights == 0 { 0 } else { process.lag * (self.weights + process.weight) / self.weights };
        process.virtual_time = mean - lag;
        process.deadline = process.virtual_time + self.slice(&process);
        self.weights += process.weight;
        self.weighted_time += process.weight * process.virtual_time;
        self.processes[pid as usize] = process;
    }

    /// Makes `pid` not runnable any more; it keeps its lag.
    fn depart(&mut self, pid: ProcessId) {
        let mean = self.mean_virtual();
        let mut process = self.processes[pid as usize];
        let most = 2 * self.slice(&process);
        process.lag = (mean - process.virtual_time).clamp(-most, most);
        process.state = RunState::Away;
        self.weights -= process.weight;
        self.weighted_time -= process.weight * process.virtual_time;
        self.last_virtual = process.virtual_time;
        self.processes[pid as usize] = process;
    }

    /// Charges `pid` for `ran_ns` and removes it from the running processes.
    fn stop(&mut self, pid: ProcessId, ran_ns: u64) {
        let mut process = self.processes[pid as usize];
        let RunState::Runs { since } = process.state else { panic!("process {pid} does not run") };
        let ran = i128::from(ran_ns) * UNITS_PER_NS / process.weight;
        process.virtual_time += ran;
        process.state = RunState::Between;
        if process.virtual_time >= process.deadline {
            process.deadline = process.virtual_time + self.slice(&process);
        }
        self.running -= 1;
        self.dispatched -= i128::from(since);
        self.weighted_time += process.weight * ran;
        self.processes[pid as usize] = process;
    }
}

impl ReadyList for Linux {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.now = now;
        let weight = i128::from(WEIGHTS[(facts.nice.clamp(-20, 19) + 20) as usize]);
        if self.processes.len() <= pid as usize {
            let new_process = LinuxProcess { weight, virtual_time: 0, deadline: 0, lag: 0, state: RunState::Away };
            self.processes.resize(pid as usize + 1, new_process);
        }
        self.processes[pid as usize].weight = weight;
        self.asking.insert(self.serial, pid);
        self.serial += 1;
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.asking.first().map(|(_, pid)| pid)
    }

    fn admit(&mut self, pid: ProcessId, now: u64) {
        self.now = now;
        assert!(self.asking.remove(pid), "process {pid} does not ask to be eligible");
    }

    fn ready(&mut self, pid: ProcessId, _why: ReadyCause, now: u64) {
        self.now = now;
        if self.processes[pid as usize].state == RunState::Away {
            self.arrive(pid);
        }
        let process = &mut self.processes[pid as usize];
        process.state = RunState::Ready;
        self.ready.insert(pid, (process.deadline, self.serial), process.virtual_time);
        self.serial += 1;
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.now = now;
        let pid = self.pick()?;
        self.ready.remove(pid);
        self.running += 1;
        self.dispatched += i128::from(now);
        let process = &mut self.processes[pid as usize];
        process.state = RunState::Runs { since: now };
        let left_ns = ((process.deadline - process.virtual_time) * process.weight + UNITS_PER_NS - 1) / UNITS_PER_NS;
        Some(Turn { pid, slice_ns: (left_ns as u64).max(1) })
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        self.now = now;
        self.stop(pid, ran_ns);
        if matches!(why, LeaveCause::Waits | LeaveCause::Done) {
            self.depart(pid);
        }
        EligibilityAfterTurn::Eligible
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        let (arrival, running) = (&self.processes[arrived as usize], &self.processes[running as usize]);
        let earlier = arrival.deadline < running.deadline;
        if matches!(arrival.state, RunState::Runs { .. }) {
            return earlier; // both run: the one with the later deadline loses its processor first
        }
        let mean = self.mean_virtual();
        let served = self.virtual_time(running) > mean;
        (earlier || served) && arrival.virtual_time <= mean && self.pick() == Some(arrived)
    }

    fn new_process(&mut self, pid: ProcessId) {
        if let Some(process) = self.processes.get_mut(pid as usize) {
            process.lag = 0;
        }
    }

    fn forget(&mut self, pid: ProcessId) {
        self.asking.remove(pid);
        self.ready.remove(pid);
        match self.processes.get(pid as usize).map(|process| process.state) {
            Some(RunState::Runs { since }) => {
                self.stop(pid, self.now - since);
                self.depart(pid);
            }
            Some(RunState::Ready | RunState::Between) => self.depart(pid),
            _ => {}
        }
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
