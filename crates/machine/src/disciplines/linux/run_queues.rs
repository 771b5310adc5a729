//! Run queues of processors with virtual time: who is runnable on which, their mean virtual time, and how lag is kept.
//!
//! A process that leaves while ahead of the mean stays in its queue as *delayed*: it counts in the mean, but does not
//! run. It leaves when it would be chosen. Woken before, it becomes runnable where it stands. So nobody gets rid of
//! what it had too much by a short wait (`dequeue_entity`, `requeue_delayed_entity`).

use super::super::ProcessId;
use super::super::virtual_deadlines::VirtualDeadlines;
use super::process::{LinuxProcess, RunState};
use super::searches::BusyShare;

/// Units of virtual time in a nanosecond at weight 1. At weight 1024, a nanosecond has 1024 units.
const UNITS_PER_NS: i128 = 1 << 20;

/// The queue of a processor.
#[derive(Clone, Copy, Debug, Default)]
struct RunQueue {
    /// Sums over all processes in it: the weights, and weight x virtual time at the last dispatch.
    weights: i128,
    weighted_time: i128,
    /// Number of running processes, and the sum of the times of their dispatch.
    running: i128,
    dispatched: i128,
    /// Virtual time of the last process that was in it.
    last_virtual: i128,
    /// Number of processes that wait for the processor.
    waiting: usize,
}

impl RunQueue {
    fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting == 0
    }
}

/// All run queues and their processes.
#[derive(Clone, Debug)]
pub struct RunQueues {
    slice_ns: u64,
    /// Least bound of the lag that a process takes along.
    most_lag_ns: u64,
    processes: Vec<LinuxProcess>,
    queues: Vec<RunQueue>,
    ready: VirtualDeadlines,
    waiting: usize,
    running: usize,
    /// Number of queues in which no process runs or waits.
    idle: usize,
    /// The recent busy share of several processors with ticks. Nobody asks for any other.
    busy: Option<BusyShare>,
    serial: u64,
    /// The present instant.
    pub now: u64,
}

impl RunQueues {
    /// `count` queues without processes.
    pub fn new(slice_ns: u64, tick_ns: u64, count: usize) -> RunQueues {
        RunQueues {
            slice_ns,
            most_lag_ns: slice_ns.saturating_mul(2).max(tick_ns),
            processes: Vec::new(),
            queues: vec![RunQueue::default(); count],
            ready: VirtualDeadlines::with_trees(count),
            waiting: 0,
            running: 0,
            idle: count,
            busy: (tick_ns > 0 && count > 1).then(BusyShare::default),
            serial: 0,
            now: 0,
        }
    }

    /// Number of queues.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Number of processes that wait for a processor.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Number of processes that wait in this queue.
    pub fn waiting_in(&self, queue: usize) -> usize {
        self.queues[queue].waiting
    }

    /// Number of processes that wait in this queue or run.
    pub fn runnable_in(&self, queue: usize) -> usize {
        self.queues[queue].waiting + self.queues[queue].running as usize
    }

    /// Whether no process of this queue runs or waits.
    pub fn is_idle(&self, queue: usize) -> bool {
        self.queues[queue].is_idle()
    }

    /// Number of other queues at which a wake-up looks for an idle one.
    pub fn looked_at(&self) -> usize {
        self.busy.map_or(self.queues.len(), |busy| busy.looked_at(self.queues.len()))
    }

    /// Number of queues in which no process runs or waits.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Sum of the weights in this queue.
    pub fn load(&self, queue: usize) -> i128 {
        self.queues[queue].weights
    }

    /// The process, if it has ever asked.
    pub fn get(&self, pid: ProcessId) -> Option<&LinuxProcess> {
        self.processes.get(pid as usize)
    }

    /// The process, which has asked.
    pub fn process(&self, pid: ProcessId) -> &LinuxProcess {
        &self.processes[pid as usize]
    }

    /// Gives `pid` this weight; a process that is new begins with no lag.
    pub fn set_weight(&mut self, pid: ProcessId, weight: i128) {
        if self.processes.len() <= pid as usize {
            self.processes.resize(pid as usize + 1, LinuxProcess::new(weight));
        }
        if self.processes[pid as usize].weight != weight {
            self.end_delay(pid);
            self.processes[pid as usize].weight = weight;
        }
    }

    /// V, rounded down. A process whose virtual time is at most V is eligible.
    pub fn mean_virtual(&self, queue: usize) -> i128 {
        let queue = &self.queues[queue];
        let run_since = UNITS_PER_NS * (queue.running * i128::from(self.now) - queue.dispatched);
        if queue.weights == 0 { queue.last_virtual } else { (queue.weighted_time + run_since).div_euclid(queue.weights) }
    }

    /// The virtual time of `process` now.
    pub fn virtual_time(&self, process: &LinuxProcess) -> i128 {
        let RunState::Runs { since } = process.state else { return process.virtual_time };
        process.virtual_time + i128::from(self.now - since) * UNITS_PER_NS / process.weight
    }

    /// A slice of `process`, in virtual time.
    pub fn slice(&self, process: &LinuxProcess) -> i128 {
        i128::from(self.slice_ns) * UNITS_PER_NS / process.weight
    }

    /// Processor time from the last dispatch of `process` until its virtual time is `until`, rounded up.
    pub fn time_until_ns(process: &LinuxProcess, until: i128) -> u64 {
        let left = (until - process.virtual_time) * process.weight;
        u64::try_from((left + UNITS_PER_NS - 1).div_euclid(UNITS_PER_NS).max(0)).unwrap_or(u64::MAX)
    }

    /// The process of this queue with the earliest deadline of those that are eligible; if none is, the nearest to it.
    pub fn choice(&self, queue: usize) -> Option<ProcessId> {
        let bound = self.mean_virtual(queue).max(self.ready.least(queue)?);
        self.ready.earliest_within(queue, bound)
    }

    /// Lets `pid`, which is away, wait in this queue, at the virtual time that its lag gives (`place_entity`).
    pub fn arrive(&mut self, pid: ProcessId, queue: usize) {
        let mean = self.mean_virtual(queue);
        let mut process = self.processes[pid as usize];
        debug_assert!(process.state == RunState::Away, "process {pid} arrives once");
        let weights = self.queues[queue].weights;
        let lag = if weights == 0 { 0 } else { process.lag * (weights + process.weight) / weights };
        process.virtual_time = mean - lag;
        process.deadline = process.virtual_time + self.slice(&process);
        process.queue = Some(queue as u32);
        self.processes[pid as usize] = process;
        self.weigh_in(pid);
        self.wait(pid);
    }

    /// Lets `pid`, which is runnable and neither runs nor waits, wait in its queue.
    pub fn wait(&mut self, pid: ProcessId) {
        self.insert(pid);
        self.processes[pid as usize].state = RunState::Ready;
        self.change(self.processes[pid as usize].place(), |queue| queue.waiting += 1);
        self.waiting += 1;
    }

    /// Makes `pid`, which is delayed, ready where it stands. What it is owed by now is forgotten.
    pub fn wake_delayed(&mut self, pid: ProcessId) {
        let queue = self.processes[pid as usize].place();
        self.ready.remove(pid);
        if self.mean_virtual(queue) > self.processes[pid as usize].virtual_time {
            self.weigh_out(pid);
            let mean = self.mean_virtual(queue);
            let slice = self.slice(&self.processes[pid as usize]);
            let process = &mut self.processes[pid as usize];
            (process.virtual_time, process.deadline) = (mean, mean + slice);
            self.weigh_in(pid);
        }
        self.wait(pid);
    }

    /// Removes the next process of this queue from its waiting ones. Delayed processes that would be chosen leave.
    pub fn take(&mut self, queue: usize) -> Option<ProcessId> {
        loop {
            let pid = self.choice(queue)?;
            if self.processes[pid as usize].state == RunState::Delayed {
                self.end_delay(pid);
                continue;
            }
            self.remove(pid);
            return Some(pid);
        }
    }

    /// Begins a run of `pid`, which has just been taken.
    pub fn run(&mut self, pid: ProcessId) {
        let now = self.now;
        let process = &mut self.processes[pid as usize];
        process.state = RunState::Runs { since: now };
        let place = process.place();
        self.note_busy();
        self.running += 1;
        self.change(place, |queue| {
            queue.running += 1;
            queue.dispatched += i128::from(now);
        });
    }

    /// Protects the run of `pid` until its deadline.
    pub fn protect(&mut self, pid: ProcessId) {
        let process = &mut self.processes[pid as usize];
        process.protected = process.deadline;
    }

    /// Charges `pid` for `ran_ns` and removes it from the running processes. After a whole slice it has a later deadline.
    pub fn stop(&mut self, pid: ProcessId, ran_ns: u64) {
        let mut process = self.processes[pid as usize];
        let RunState::Runs { since } = process.state else { panic!("process {pid} does not run") };
        let ran = i128::from(ran_ns) * UNITS_PER_NS / process.weight;
        process.virtual_time += ran;
        process.state = RunState::Between;
        process.left_at = self.now;
        if process.virtual_time >= process.deadline {
            process.deadline = process.virtual_time + self.slice(&process);
        }
        self.note_busy();
        self.running -= 1;
        self.change(process.place(), |queue| {
            queue.running -= 1;
            queue.dispatched -= i128::from(since);
            queue.weighted_time += process.weight * ran;
        });
        self.processes[pid as usize] = process;
    }

    /// Makes `pid`, which has just been stopped, not runnable any more. Ahead of the mean it is delayed.
    pub fn leave(&mut self, pid: ProcessId) {
        let process = &self.processes[pid as usize];
        if process.virtual_time <= self.mean_virtual(process.place()) {
            return self.depart(pid);
        }
        self.insert(pid);
        self.processes[pid as usize].state = RunState::Delayed;
    }

    /// Lets `pid` leave its queue for good if it is delayed. It takes along what it had too much, but nothing that it is owed.
    pub fn end_delay(&mut self, pid: ProcessId) {
        if self.processes[pid as usize].state == RunState::Delayed {
            self.ready.remove(pid);
            self.depart(pid);
            let process = &mut self.processes[pid as usize];
            process.lag = process.lag.min(0);
        }
    }

    /// Lets `pid` leave its queue for good, whatever its state. The run that it may be in is charged.
    pub fn forget(&mut self, pid: ProcessId) {
        match self.processes[pid as usize].state {
            RunState::Away => {}
            RunState::Delayed => self.end_delay(pid),
            RunState::Between => self.depart(pid),
            RunState::Ready => {
                self.remove(pid);
                self.depart(pid);
            }
            RunState::Runs { since } => {
                self.stop(pid, self.now - since);
                self.depart(pid);
            }
        }
    }

    /// Forgets the lag and the queue of an earlier process with this number.
    pub fn renew(&mut self, pid: ProcessId) {
        if self.get(pid).is_some() {
            self.forget(pid);
            let process = &mut self.processes[pid as usize];
            (process.lag, process.queue) = (0, None);
        }
    }

    /// Moves `pid`, which is runnable and neither runs nor waits, to another queue. It keeps its lag and the rest of its slice.
    pub fn move_to(&mut self, pid: ProcessId, queue: usize) {
        let process = &self.processes[pid as usize];
        let left = process.deadline - process.virtual_time;
        self.depart(pid);
        self.arrive(pid, queue);
        self.remove(pid);
        let process = &mut self.processes[pid as usize];
        process.deadline = process.virtual_time + left;
        process.state = RunState::Between;
    }

    fn note_busy(&mut self) {
        if let Some(busy) = &mut self.busy {
            busy.note(self.running, self.queues.len(), self.now);
        }
    }

    /// Changes a queue, and counts it if it becomes idle or busy.
    fn change(&mut self, queue: usize, change: impl FnOnce(&mut RunQueue)) {
        let queue = &mut self.queues[queue];
        self.idle -= usize::from(queue.is_idle());
        change(queue);
        self.idle += usize::from(queue.is_idle());
    }

    fn insert(&mut self, pid: ProcessId) {
        let process = &self.processes[pid as usize];
        self.ready.insert(process.place(), pid, (process.deadline, self.serial), process.virtual_time);
        self.serial += 1;
    }

    fn remove(&mut self, pid: ProcessId) {
        let was_there = self.ready.remove(pid);
        debug_assert!(was_there, "process {pid} waits");
        self.change(self.processes[pid as usize].place(), |queue| queue.waiting -= 1);
        self.waiting -= 1;
        self.processes[pid as usize].state = RunState::Between;
    }

    fn depart(&mut self, pid: ProcessId) {
        let mean = self.mean_virtual(self.processes[pid as usize].place());
        let process = &mut self.processes[pid as usize];
        let most = i128::from(self.most_lag_ns) * UNITS_PER_NS / process.weight;
        process.lag = (mean - process.virtual_time).clamp(-most, most);
        process.state = RunState::Away;
        self.weigh_out(pid);
    }

    fn weigh_in(&mut self, pid: ProcessId) {
        let process = &self.processes[pid as usize];
        let queue = &mut self.queues[process.place()];
        queue.weights += process.weight;
        queue.weighted_time += process.weight * process.virtual_time;
    }

    fn weigh_out(&mut self, pid: ProcessId) {
        let process = &self.processes[pid as usize];
        let queue = &mut self.queues[process.place()];
        queue.weights -= process.weight;
        queue.weighted_time -= process.weight * process.virtual_time;
        queue.last_virtual = process.virtual_time;
    }
}
