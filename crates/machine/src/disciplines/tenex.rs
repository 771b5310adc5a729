//! TENEX's scheduler: queues with quanta, and a priority that gets better with time on the queue.
//!
//! A process goes from queue to queue as it uses up their quanta; on queue q its priority is max(0, base - (time on the queue >>
//! shift)), low is good, so that nobody waits for ever. While it is blocked that time stands still. When it has been blocked, the
//! time divided by (runnable + 1) is credited if it is at least `credit`: it is taken off the quanta used, and the process goes to
//! the first queue when that brings it to the second or above, else two queues up, with the first queue's quantum and priority. The
//! choice is made anew when a process becomes ready, and every 100 ms.
//! Source: TENEX's SCHED.MAC of 22 November 1971 (`CORFCT`, `SAVRT`, `NEWST`, `LDJOB`, `REMJOB`, `CLK2`).
//! Assumed: the clock is not cut to ms; the 100 ms count from the dispatch; of equal priorities, who is longer on its queue goes
//! first. The original takes the worst process out of the balance set for a better one that asks; here who runs gives way, at the
//! end of its turn, when it has had 20 ms a page. Guaranteed shares and interrupts by the terminal are not here.

use super::order::Order;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};
use crate::spec::TenexQueue;

/// The choice is made anew at least so often (`CLK2`).
const CHOICE_NS: u64 = 100_000_000;
/// Processor time for each page before a process may lose its place in the balance set (`BTFACT`).
const STAY_NS_PER_PAGE: u64 = 20_000_000;

/// TENEX's queues. See the head of the file.
#[derive(Clone, Debug)]
pub struct Tenex {
    queues: Vec<Queue>,
    credit_ns: u64,
    processes: Vec<Process>,
    asking: Vec<Order<Place>>,
    ready: Vec<Order<Place>>,
    eligible: usize,
    placed: u64,
    now: u64,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    quantum_ns: u64,
    base_ns: i128,
    shift: u32,
    /// The quanta of the queues before it.
    before_ns: i128,
}

/// A place on a queue: since when, and the order of being placed among equals.
type Place = (i128, u64);

#[derive(Clone, Copy, Debug)]
struct Process {
    queue: usize,
    left_ns: u64,
    place: Place,
    blocked: Option<u64>,
    /// Processor time since it became eligible.
    had_ns: u64,
    pages: u32,
    eligible: bool,
}

impl Tenex {
    /// The queues, best first, and the least credit for blocked time that counts.
    pub fn new(queues: &[TenexQueue], credit_ns: u64) -> Tenex {
        assert!(!queues.is_empty(), "a scheduler has a queue");
        let mut before_ns = 0;
        let queue = |queue: &TenexQueue| {
            assert!(queue.quantum_ns > 0, "quanta are above 0");
            let quanta_before = before_ns;
            before_ns += i128::from(queue.quantum_ns);
            let base_ns = (queue.base * 1e6) as i128;
            Queue { quantum_ns: queue.quantum_ns, base_ns, shift: queue.shift, before_ns: quanta_before }
        };
        let lists = || vec![Order::default(); queues.len()];
        Tenex {
            asking: lists(),
            ready: lists(),
            queues: queues.iter().map(queue).collect(),
            credit_ns,
            processes: Vec::new(),
            eligible: 0,
            placed: 0,
            now: 0,
        }
    }

    /// The priority of a place on a queue at this time; low is good.
    fn priority(&self, queue: usize, place: Place) -> i128 {
        let Queue { base_ns, shift, .. } = self.queues[queue];
        (base_ns - ((i128::from(self.now) - place.0) >> shift)).max(0)
    }

    fn rank(&self, job: Job) -> (i128, Place) {
        let process = &self.processes[job as usize];
        (self.priority(process.queue, process.place), process.place)
    }

    /// The best of these lists, one for each queue: on one queue, who is longer on it is never worse.
    fn best(&self, lists: &[Order<Place>]) -> Option<Job> {
        lists.iter().filter_map(Order::first).map(|(_, job)| job).min_by_key(|job| self.rank(*job))
    }

    fn put(&mut self, job: Job, queue: usize, left_ns: u64, since: i128) {
        let process = &mut self.processes[job as usize];
        (process.queue, process.left_ns, process.place) = (queue, left_ns, (since, self.placed));
        self.placed += 1;
    }

    fn enter(&mut self, job: Job, queue: usize) {
        self.put(job, queue, self.queues[queue].quantum_ns, i128::from(self.now));
    }

    /// What being blocked brings (`NEWST`).
    fn unblock(&mut self, job: Job, blocked: u64) {
        let waited = self.now - blocked;
        let credit = waited / (self.asking() + self.eligible + 1) as u64;
        let Process { queue, left_ns, place, .. } = self.processes[job as usize];
        if credit < self.credit_ns {
            return self.put(job, queue, left_ns, place.0 + i128::from(waited));
        }
        // A surprise, but so it is there: what is left of the quantum counts as if it were used.
        let standing = self.queues[queue].before_ns + i128::from(left_ns) - i128::from(credit);
        if queue < 2 || standing <= self.queues[2].before_ns {
            return self.enter(job, 0);
        }
        let queue = (0..=queue - 2).rev().find(|queue| standing >= self.queues[*queue].before_ns).unwrap_or(0);
        let (up, first) = (self.queues[queue], self.queues[0]);
        let ahead = (up.base_ns - first.base_ns).max(0) << up.shift;
        self.put(job, queue, first.quantum_ns.min(up.quantum_ns), i128::from(self.now) - ahead);
    }

    /// Whether `job` makes room for a better one that asks.
    fn gives_way(&self, job: Job) -> bool {
        let process = &self.processes[job as usize];
        let stayed = process.had_ns >= STAY_NS_PER_PAGE * u64::from(process.pages);
        stayed && self.best(&self.asking).is_some_and(|asks| self.rank(asks) < self.rank(job))
    }

    fn leave(&mut self, job: Job) {
        let process = &mut self.processes[job as usize];
        self.eligible -= usize::from(std::mem::take(&mut process.eligible));
    }
}

impl ReadyList for Tenex {
    fn ask(&mut self, job: Job, facts: &Facts, now: u64) {
        self.now = now;
        while self.processes.len() <= job as usize {
            let (place, blocked) = ((0, 0), None);
            self.processes.push(Process { queue: 0, left_ns: 0, place, blocked, had_ns: 0, pages: 0, eligible: false });
            self.new_process(self.processes.len() as Job - 1);
        }
        match self.processes[job as usize].blocked.take() {
            Some(blocked) => self.unblock(job, blocked),
            None if facts.begins => self.enter(job, 0),
            None => {}
        }
        let process = &mut self.processes[job as usize];
        process.pages = facts.pages;
        self.asking[process.queue].insert(process.place, job);
    }

    fn candidate(&self) -> Option<Job> {
        self.best(&self.asking)
    }

    fn admit(&mut self, job: Job, now: u64) {
        self.now = now;
        let process = &mut self.processes[job as usize];
        assert!(self.asking[process.queue].remove(job), "job {job} does not ask to be eligible");
        (process.eligible, process.had_ns) = (true, 0);
        self.eligible += 1;
    }

    fn ready(&mut self, job: Job, _why: Why, now: u64) {
        self.now = now;
        let process = &self.processes[job as usize];
        self.ready[process.queue].insert(process.place, job);
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.now = now;
        let job = self.best(&self.ready)?;
        let process = &self.processes[job as usize];
        self.ready[process.queue].remove(job);
        Some(Turn { job, slice_ns: process.left_ns.min(CHOICE_NS) })
    }

    fn off(&mut self, job: Job, ran_ns: u64, why: Off, now: u64) -> Stay {
        self.now = now;
        let process = &mut self.processes[job as usize];
        process.had_ns += ran_ns;
        process.left_ns = process.left_ns.saturating_sub(ran_ns);
        if process.left_ns == 0 {
            let below = (process.queue + 1).min(self.queues.len() - 1);
            self.enter(job, below);
        }
        if why == Off::Done {
            self.processes[job as usize].blocked = Some(now);
            self.leave(job);
        } else if why == Off::TurnOver && self.gives_way(job) {
            self.leave(job);
            return Stay::Asks;
        }
        Stay::Eligible
    }

    fn preempts(&self, arrived: Job, running: Job) -> bool {
        let priority = |job: Job| self.rank(job).0;
        priority(arrived) < priority(running)
    }

    fn new_process(&mut self, job: Job) {
        if (job as usize) < self.processes.len() {
            self.processes[job as usize].blocked = None;
            self.enter(job, 0);
        }
    }

    fn forget(&mut self, job: Job) {
        let Some(process) = self.processes.get_mut(job as usize) else { return };
        self.asking[process.queue].remove(job);
        self.ready[process.queue].remove(job);
        process.blocked = Some(self.now);
        self.leave(job);
    }

    fn asking(&self) -> usize {
        self.asking.iter().map(Order::len).sum()
    }

    fn waiting(&self) -> usize {
        self.ready.iter().map(Order::len).sum()
    }
}
