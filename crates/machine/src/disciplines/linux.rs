//! A fair share of the processors as Linux gives it: the earliest eligible virtual deadline first (EEVDF).
//!
//! A process's virtual time runs at 1024 / weight of its processor time; V is the mean of all runnable ones', weighted. Its lag is
//! V - v: what it has coming. Who has lag >= 0 is eligible; of these the one with the earliest deadline runs, until its virtual time
//! comes to the deadline, which then moves on by slice / weight. Who stops being runnable takes its lag along, at most two slices
//! either way, and has it again when it comes back. Who becomes ready and is the choice takes the processor at once.
//! Sources: Stoica and Abdel-Wahab, "Earliest eligible virtual deadline first", 1995; Linux's kernel/sched/fair.c as of 6.6
//! (`pick_eevdf`, `place_entity`, `update_deadline`) and the weights of kernel/sched/core.c.
//! Assumed: one run queue for all processors; where nobody that waits is eligible, the one nearest to it runs. RUN_TO_PARITY is off
//! (with it, hardly anybody is pre-empted), and dequeueing is not put off as from 6.12 on. A slice is not cut to ticks.

use super::order::Order;
use super::virtual_deadlines::VirtualDeadlines;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// Weights by nice value, from -20.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
    1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];
/// Virtual time is counted in nanoseconds of a process of weight 1024, and 1024ths of them.
const UNIT: i128 = 1 << 20;

/// Linux's run queue. See the head of the file.
#[derive(Clone, Debug)]
pub struct Linux {
    slice_ns: u64,
    processes: Vec<Process>,
    asking: Order<u64>,
    ready: VirtualDeadlines,
    /// Of all runnable: the sum of the weights, and of weight x virtual time as of their last dispatch.
    weights: i128,
    weighted_time: i128,
    /// How many run, and the sum of the times of their dispatch.
    running: i128,
    dispatched: i128,
    /// The virtual time of the last one that was runnable.
    last_virtual: i128,
    serial: u64,
    now: u64,
}

#[derive(Clone, Copy, Debug)]
struct Process {
    weight: i128,
    virtual_time: i128,
    deadline: i128,
    lag: i128,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not runnable: it waits, asks or does nothing.
    Away,
    /// Runnable, and neither in the list nor on a processor: between its turn and becoming ready again.
    Between,
    Ready,
    Runs {
        since: u64,
    },
}

impl Linux {
    /// The slice, of which each process has one in turn when all want the processor.
    pub fn new(slice_ns: u64) -> Linux {
        assert!(slice_ns > 0, "a slice is above 0");
        Linux {
            slice_ns,
            processes: Vec::new(),
            asking: Order::default(),
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

    /// V, rounded down: who is not past this is eligible.
    fn mean_virtual(&self) -> i128 {
        let run_since = UNIT * (self.running * i128::from(self.now) - self.dispatched);
        if self.weights == 0 { self.last_virtual } else { (self.weighted_time + run_since).div_euclid(self.weights) }
    }

    fn virtual_time(&self, process: &Process) -> i128 {
        let State::Runs { since } = process.state else { return process.virtual_time };
        process.virtual_time + i128::from(self.now - since) * UNIT / process.weight
    }

    fn slice(&self, process: &Process) -> i128 {
        i128::from(self.slice_ns) * UNIT / process.weight
    }

    fn pick(&self) -> Option<Job> {
        let bound = self.mean_virtual().max(self.ready.least()?);
        self.ready.earliest_within(bound)
    }

    /// Makes `job` runnable where its lag puts it (`place_entity`).
    fn arrive(&mut self, job: Job) {
        let mean = self.mean_virtual();
        let mut process = self.processes[job as usize];
        let lag = if self.weights == 0 { 0 } else { process.lag * (self.weights + process.weight) / self.weights };
        process.virtual_time = mean - lag;
        process.deadline = process.virtual_time + self.slice(&process);
        self.weights += process.weight;
        self.weighted_time += process.weight * process.virtual_time;
        self.processes[job as usize] = process;
    }

    /// `job`, which is runnable, is so no more, and keeps its lag.
    fn depart(&mut self, job: Job) {
        let mean = self.mean_virtual();
        let mut process = self.processes[job as usize];
        let most = 2 * self.slice(&process);
        process.lag = (mean - process.virtual_time).clamp(-most, most);
        process.state = State::Away;
        self.weights -= process.weight;
        self.weighted_time -= process.weight * process.virtual_time;
        self.last_virtual = process.virtual_time;
        self.processes[job as usize] = process;
    }

    /// Counts `ran_ns` and takes `job` from among those that run.
    fn stop(&mut self, job: Job, ran_ns: u64) {
        let mut process = self.processes[job as usize];
        let State::Runs { since } = process.state else { panic!("job {job} does not run") };
        let ran = i128::from(ran_ns) * UNIT / process.weight;
        process.virtual_time += ran;
        process.state = State::Between;
        if process.virtual_time >= process.deadline {
            process.deadline = process.virtual_time + self.slice(&process);
        }
        self.running -= 1;
        self.dispatched -= i128::from(since);
        self.weighted_time += process.weight * ran;
        self.processes[job as usize] = process;
    }
}

impl ReadyList for Linux {
    fn ask(&mut self, job: Job, facts: &Facts, now: u64) {
        self.now = now;
        let weight = i128::from(WEIGHTS[(facts.nice.clamp(-20, 19) + 20) as usize]);
        if self.processes.len() <= job as usize {
            let nobody = Process { weight, virtual_time: 0, deadline: 0, lag: 0, state: State::Away };
            self.processes.resize(job as usize + 1, nobody);
        }
        self.processes[job as usize].weight = weight;
        self.asking.insert(self.serial, job);
        self.serial += 1;
    }

    fn candidate(&self) -> Option<Job> {
        self.asking.first().map(|(_, job)| job)
    }

    fn admit(&mut self, job: Job, now: u64) {
        self.now = now;
        assert!(self.asking.remove(job), "job {job} does not ask to be eligible");
    }

    fn ready(&mut self, job: Job, _why: Why, now: u64) {
        self.now = now;
        if self.processes[job as usize].state == State::Away {
            self.arrive(job);
        }
        let process = &mut self.processes[job as usize];
        process.state = State::Ready;
        self.ready.insert(job, (process.deadline, self.serial), process.virtual_time);
        self.serial += 1;
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.now = now;
        let job = self.pick()?;
        self.ready.remove(job);
        self.running += 1;
        self.dispatched += i128::from(now);
        let process = &mut self.processes[job as usize];
        process.state = State::Runs { since: now };
        let left_ns = ((process.deadline - process.virtual_time) * process.weight + UNIT - 1) / UNIT;
        Some(Turn { job, slice_ns: (left_ns as u64).max(1) })
    }

    fn off(&mut self, job: Job, ran_ns: u64, why: Off, now: u64) -> Stay {
        self.now = now;
        self.stop(job, ran_ns);
        if matches!(why, Off::Waits | Off::Done) {
            self.depart(job);
        }
        Stay::Eligible
    }

    fn preempts(&self, arrived: Job, running: Job) -> bool {
        let (arrived_one, running) = (&self.processes[arrived as usize], &self.processes[running as usize]);
        let earlier = arrived_one.deadline < running.deadline;
        if matches!(arrived_one.state, State::Runs { .. }) {
            return earlier; // which of two that run is to go
        }
        let mean = self.mean_virtual();
        let served = self.virtual_time(running) > mean;
        (earlier || served) && arrived_one.virtual_time <= mean && self.pick() == Some(arrived)
    }

    fn new_process(&mut self, job: Job) {
        if let Some(process) = self.processes.get_mut(job as usize) {
            process.lag = 0;
        }
    }

    fn forget(&mut self, job: Job) {
        self.asking.remove(job);
        self.ready.remove(job);
        match self.processes.get(job as usize).map(|process| process.state) {
            Some(State::Runs { since }) => {
                self.stop(job, self.now - since);
                self.depart(job);
            }
            Some(State::Ready | State::Between) => self.depart(job),
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
