//! TENEX's scheduler: queues with quanta, and a priority that gets better with time on the queue.
//!
//! A process goes from queue to queue as it uses up their quanta. On queue q its priority is max(0, base - (time on the queue >>
//! shift)), and low is good, so no process waits for ever. While a process is blocked, its time on the queue stands still. After
//! that, the blocked time divided by (runnable + 1) is credited if it is at least `credit`: it is subtracted from the used quanta.
//! If that brings the process to the second queue or above, it goes to the first queue. Otherwise it goes two queues up, with the
//! first queue's quantum and priority. The choice is made again when a process becomes ready, and every 100 ms.
//! Source: TENEX's SCHED.MAC of 22 November 1971 (`CORFCT`, `SAVRT`, `NEWST`, `LDJOB`, `REMJOB`, `CLK2`).
//! Assumed: the clock is not cut to ms. The 100 ms count from the dispatch. Of equal priorities, the process that is longer on its
//! queue goes first. The original removes the worst process from the balance set for a better one that asks. Here the running
//! process gives way, at the end of its turn, when it has had 20 ms a page. Guaranteed shares and interrupts by the terminal are
//! not modelled.

use super::order::ProcessHeap;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use crate::spec::TenexQueue;

/// Longest time between two choices (`CLK2`).
const CHOICE_NS: u64 = 100_000_000;
/// Processor time for each page before a process may leave the balance set (`BTFACT`).
const STAY_NS_PER_PAGE: u64 = 20_000_000;

/// TENEX's queues. See the head of the file.
#[derive(Clone, Debug)]
pub struct Tenex {
    queues: Vec<TenexQueueState>,
    credit_ns: u64,
    processes: Vec<TenexProcess>,
    asking: Vec<ProcessHeap<TenexKey>>,
    ready: Vec<ProcessHeap<TenexKey>>,
    eligible: usize,
    placed: u64,
    now: u64,
}

#[derive(Clone, Copy, Debug)]
struct TenexQueueState {
    quantum_ns: u64,
    base_ns: i128,
    shift: u32,
    /// Sum of the quanta of the queues before it.
    before_ns: i128,
}

/// The key of a process on a queue: since when it is on it, and the order of insertion among equals.
type TenexKey = (i128, u64);

#[derive(Clone, Copy, Debug)]
struct TenexProcess {
    queue: usize,
    left_ns: u64,
    key: TenexKey,
    blocked: Option<u64>,
    /// Processor time since the process became eligible.
    had_ns: u64,
    pages: u32,
    eligible: bool,
}

impl Tenex {
    /// A scheduler with these queues, the best first, and the least credit for blocked time that counts.
    pub fn new(queues: &[TenexQueue], credit_ns: u64) -> Tenex {
        assert!(!queues.is_empty(), "a scheduler has a queue");
        let mut before_ns = 0;
        let queue = |queue: &TenexQueue| {
            assert!(queue.quantum_ns > 0, "quanta are above 0");
            let quanta_before = before_ns;
            before_ns += i128::from(queue.quantum_ns);
            let base_ns = (queue.base * 1e6) as i128;
            TenexQueueState { quantum_ns: queue.quantum_ns, base_ns, shift: queue.shift, before_ns: quanta_before }
        };
        let lists = || vec![ProcessHeap::default(); queues.len()];
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

    /// The priority of a process with this key on a queue at this time; low is good.
    fn priority(&self, queue: usize, key: TenexKey) -> i128 {
        let TenexQueueState { base_ns, shift, .. } = self.queues[queue];
        (base_ns - ((i128::from(self.now) - key.0) >> shift)).max(0)
    }

    fn rank(&self, pid: ProcessId) -> (i128, TenexKey) {
        let process = &self.processes[pid as usize];
        (self.priority(process.queue, process.key), process.key)
    }

    /// The best process of these lists, one for each queue. On a queue, the process that is longer on it is never worse.
    fn best(&self, lists: &[ProcessHeap<TenexKey>]) -> Option<ProcessId> {
        lists.iter().filter_map(ProcessHeap::first).map(|(_, pid)| pid).min_by_key(|pid| self.rank(*pid))
    }

    fn put(&mut self, pid: ProcessId, queue: usize, left_ns: u64, since: i128) {
        let process = &mut self.processes[pid as usize];
        (process.queue, process.left_ns, process.key) = (queue, left_ns, (since, self.placed));
        self.placed += 1;
    }

    fn enter(&mut self, pid: ProcessId, queue: usize) {
        self.put(pid, queue, self.queues[queue].quantum_ns, i128::from(self.now));
    }

    /// Moves `pid`, which was blocked since `blocked`, to the queue that its credit gives (`NEWST`).
    fn unblock(&mut self, pid: ProcessId, blocked: u64) {
        let waited = self.now - blocked;
        let credit = waited / (self.asking() + self.eligible + 1) as u64;
        let TenexProcess { queue, left_ns, key, .. } = self.processes[pid as usize];
        if credit < self.credit_ns {
            return self.put(pid, queue, left_ns, key.0 + i128::from(waited));
        }
        // As in the source: the part of the quantum that is left counts as if it were used.
        let standing = self.queues[queue].before_ns + i128::from(left_ns) - i128::from(credit);
        if queue < 2 || standing <= self.queues[2].before_ns {
            return self.enter(pid, 0);
        }
        let queue = (0..=queue - 2).rev().find(|queue| standing >= self.queues[*queue].before_ns).unwrap_or(0);
        let (up, first) = (self.queues[queue], self.queues[0]);
        let ahead = (up.base_ns - first.base_ns).max(0) << up.shift;
        self.put(pid, queue, first.quantum_ns.min(up.quantum_ns), i128::from(self.now) - ahead);
    }

    /// Whether `pid` gives way to a better process that asks.
    fn gives_way(&self, pid: ProcessId) -> bool {
        let process = &self.processes[pid as usize];
        let stayed = process.had_ns >= STAY_NS_PER_PAGE * u64::from(process.pages);
        stayed && self.best(&self.asking).is_some_and(|asks| self.rank(asks) < self.rank(pid))
    }

    fn leave(&mut self, pid: ProcessId) {
        let process = &mut self.processes[pid as usize];
        self.eligible -= usize::from(std::mem::take(&mut process.eligible));
    }
}

impl ReadyList for Tenex {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.now = now;
        while self.processes.len() <= pid as usize {
            let (key, blocked) = ((0, 0), None);
            self.processes.push(TenexProcess { queue: 0, left_ns: 0, key, blocked, had_ns: 0, pages: 0, eligible: false });
            self.new_process(self.processes.len() as ProcessId - 1);
        }
        match self.processes[pid as usize].blocked.take() {
            Some(blocked) => self.unblock(pid, blocked),
            None if facts.begins => self.enter(pid, 0),
            None => {}
        }
        let process = &mut self.processes[pid as usize];
        process.pages = facts.pages;
        self.asking[process.queue].insert(process.key, pid);
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.best(&self.asking)
    }

    fn admit(&mut self, pid: ProcessId, now: u64) {
        self.now = now;
        let process = &mut self.processes[pid as usize];
        assert!(self.asking[process.queue].remove(pid), "process {pid} does not ask to be eligible");
        (process.eligible, process.had_ns) = (true, 0);
        self.eligible += 1;
    }

    fn ready(&mut self, pid: ProcessId, _why: ReadyCause, now: u64) {
        self.now = now;
        let process = &self.processes[pid as usize];
        self.ready[process.queue].insert(process.key, pid);
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.now = now;
        let pid = self.best(&self.ready)?;
        let process = &self.processes[pid as usize];
        self.ready[process.queue].remove(pid);
        Some(Turn { pid, slice_ns: process.left_ns.min(CHOICE_NS) })
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        self.now = now;
        let process = &mut self.processes[pid as usize];
        process.had_ns += ran_ns;
        process.left_ns = process.left_ns.saturating_sub(ran_ns);
        if process.left_ns == 0 {
            let below = (process.queue + 1).min(self.queues.len() - 1);
            self.enter(pid, below);
        }
        if why == LeaveCause::Done {
            self.processes[pid as usize].blocked = Some(now);
            self.leave(pid);
        } else if why == LeaveCause::TurnOver && self.gives_way(pid) {
            self.leave(pid);
            return EligibilityAfterTurn::Asks;
        }
        EligibilityAfterTurn::Eligible
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        let priority = |pid: ProcessId| self.rank(pid).0;
        priority(arrived) < priority(running)
    }

    fn new_process(&mut self, pid: ProcessId) {
        if (pid as usize) < self.processes.len() {
            self.processes[pid as usize].blocked = None;
            self.enter(pid, 0);
        }
    }

    fn forget(&mut self, pid: ProcessId) {
        let Some(process) = self.processes.get_mut(pid as usize) else { return };
        self.asking[process.queue].remove(pid);
        self.ready[process.queue].remove(pid);
        process.blocked = Some(self.now);
        self.leave(pid);
    }

    fn asking(&self) -> usize {
        self.asking.iter().map(ProcessHeap::len).sum()
    }

    fn waiting(&self) -> usize {
        self.ready.iter().map(ProcessHeap::len).sum()
    }
}
