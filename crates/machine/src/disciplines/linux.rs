//! Linux's fair share of the processors: the earliest eligible virtual deadline first (EEVDF), with a queue for each processor.
//!
//! A process's virtual time v runs at 1024 / weight of its processor time. V is the weighted mean over all processes of a queue.
//! A process's lag V - v is the service that it is owed. With lag >= 0 it is eligible. The eligible process with the earliest
//! deadline runs until its virtual time reaches the deadline, which then moves on by slice / weight. With a clock tick a slice
//! ends at the first tick, or wake-up, that finds it over. A process that becomes ready and is the choice takes the processor
//! from one that is ahead of the mean, or whose slice is over. Any other runs on (RUN_TO_PARITY).
//! A woken process goes back to its last processor; to an idle one, if that is busy. A processor that would idle takes a waiting
//! process from the fullest queue, and busy ones even their queues out from time to time. With a tick, a wake-up searches
//! no further than the kernel's, and what it leaves is found at the next tick.
//! Sources: Stoica and Abdel-Wahab, "Earliest eligible virtual deadline first", 1995; Linux's kernel/sched/fair.c as of 6.18.
//! The kernel has `pick_eevdf`, `place_entity`, `update_deadline`, `protect_slice`, `check_preempt_wakeup_fair`,
//! `select_idle_sibling`, `sched_balance_newidle` and `nohz_balancer_kick`. bench/bench_scheduler.py measures one.
//! Assumed: all processors share a cache and are one domain. All slices are equal.

use super::order::ProcessHeap;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use process::RunState;
use run_queues::RunQueues;

mod process;
mod run_queues;
mod searches;

/// Weights by nice value, from -20.
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
    1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];
/// Time between two moves of a process from a busy queue to an emptier one, for each processor (`busy_factor` x 1 ms).
const BALANCE_NS: u64 = 16_000_000;

/// Linux's run queues. See the head of the file.
#[derive(Clone, Debug)]
pub struct Linux {
    tick_ns: u64,
    packs: bool,
    asking: ProcessHeap<u64>,
    queues: RunQueues,
    /// The last process of each queue's processor.
    last: Vec<ProcessId>,
    /// The process that left a processor which has not been given to another one yet.
    just_left: ProcessId,
    /// When processes may be moved between busy queues again.
    even_out_at: u64,
    /// The process that was moved last; another one is moved next, so that none is among the many for ever.
    moved: ProcessId,
    /// Whether a balancing is in the calendar.
    balance_is_due: bool,
    serial: u64,
}

impl Linux {
    /// An empty queue for all processors, without ticks. With equal weights, each process runs for a slice in turn.
    pub fn new(slice_ns: u64) -> Linux {
        Linux::with_queues(slice_ns, 0, 1)
    }

    /// Empty queues for each of `processors`. Slices end at ticks, if `tick_ns` is over 0.
    pub fn with_queues(slice_ns: u64, tick_ns: u64, processors: u32) -> Linux {
        assert!(slice_ns > 0, "a slice is above 0");
        let count = processors as usize;
        Linux {
            tick_ns,
            packs: false,
            asking: ProcessHeap::default(),
            queues: RunQueues::new(slice_ns, tick_ns, count),
            last: vec![ProcessId::MAX; count],
            just_left: ProcessId::MAX,
            even_out_at: 0,
            moved: ProcessId::MAX,
            balance_is_due: false,
            serial: 0,
        }
    }

    /// The same queues of a kernel that keeps idle processors idle while others have room.
    ///
    /// A woken process stays at its last processor. Another takes it only when that runs dry.
    pub fn packing(self) -> Linux {
        Linux { packs: true, ..self }
    }

    /// The queue for `pid`, which is woken (`select_idle_sibling`).
    fn queue_for(&self, pid: ProcessId) -> usize {
        let count = self.queues.count();
        if count == 1 {
            return 0;
        }
        let process = self.queues.process(pid);
        let Some(before) = process.queue.map(|queue| queue as usize) else { return self.emptiest() };
        // The processor of a process that comes back at once has not been given to another one yet.
        if self.queues.is_idle(before) || self.just_left == pid || self.queues.idle() == 0 || self.packs {
            return before;
        }
        let is_delayed = self.tick_ns > 0 && process.state == RunState::Delayed; // it is still in its queue
        let looked_at = if is_delayed { 0 } else { self.queues.looked_at() };
        let mut others = (1..count).map(|step| (before + step) % count).take(looked_at);
        others.find(|queue| self.queues.is_idle(*queue)).unwrap_or(before)
    }

    /// Wakes `pid`, which is delayed, where it stands, or in an idle queue.
    fn wake_delayed(&mut self, pid: ProcessId) {
        let queue = self.queue_for(pid);
        if queue == self.queues.process(pid).place() {
            return self.queues.wake_delayed(pid);
        }
        self.queues.end_delay(pid);
        self.queues.arrive(pid, queue);
    }

    /// The first queue of those with the least load. Idle queues come first.
    fn emptiest(&self) -> usize {
        let load = |queue: &usize| (!self.queues.is_idle(*queue), self.queues.load(*queue));
        (0..self.queues.count()).min_by_key(load).expect("there is a processor")
    }

    /// Moves a waiting process to this queue from the fullest one, if that has another process that runs or waits
    /// (`sched_balance_newidle`).
    fn pull(&mut self, queue: usize) -> Option<ProcessId> {
        if self.queues.waiting() == 0 {
            return None;
        }
        let fullest = (0..self.queues.count()).max_by_key(|other| self.queues.waiting_in(*other))?;
        if self.queues.runnable_in(fullest) < 2 {
            return None;
        }
        let pid = self.queues.take(fullest)?;
        self.queues.move_to(pid, queue);
        self.queues.wait(pid);
        Some(pid)
    }

    /// Moves `pid`, whose turn is over, to the emptiest queue, if that makes the queues more even and is due.
    fn even_out(&mut self, pid: ProcessId) {
        let (count, now) = (self.queues.count(), self.queues.now);
        if count == 1 || now < self.even_out_at || pid == self.moved {
            return;
        }
        let (weight, queue) = (self.queues.process(pid).weight, self.queues.process(pid).place());
        if self.queues.waiting_in(queue) == 0 {
            return;
        }
        let emptiest = self.emptiest();
        if 2 * (self.queues.load(queue) - self.queues.load(emptiest)) > weight && !self.queues.is_idle(emptiest) {
            self.queues.move_to(pid, emptiest);
            self.even_out_at = now + BALANCE_NS * count as u64;
            self.moved = pid;
        }
    }

    /// The turn of `pid`, whose run begins. A process that goes on has no new protection until its slice's end.
    fn turn(&mut self, pid: ProcessId, queue: usize) -> Turn {
        let now = self.queues.now;
        let goes_on = self.last[queue] == pid && self.queues.process(pid).left_at == now && self.tick_ns > 0;
        if !goes_on {
            self.queues.protect(pid);
        }
        self.last[queue] = pid;
        let process = self.queues.process(pid);
        let left_ns = RunQueues::time_until_ns(process, process.protected).max(1);
        let slice_ns = match self.tick_ns {
            0 => left_ns,
            tick => now.saturating_add(left_ns).checked_next_multiple_of(tick).map_or(u64::MAX, |end| end - now),
        };
        Turn { pid, slice_ns }
    }
}

impl ReadyList for Linux {
    const BALANCES: bool = true;

    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.queues.now = now;
        self.queues.set_weight(pid, i128::from(WEIGHTS[(facts.nice.clamp(-20, 19) + 20) as usize]));
        self.asking.insert(self.serial, pid);
        self.serial += 1;
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.asking.first().map(|(_, pid)| pid)
    }

    fn admit(&mut self, pid: ProcessId, now: u64) {
        self.queues.now = now;
        assert!(self.asking.remove(pid), "process {pid} does not ask to be eligible");
    }

    fn ready(&mut self, pid: ProcessId, why: ReadyCause, now: u64) {
        self.queues.now = now;
        match self.queues.process(pid).state {
            RunState::Away => self.queues.arrive(pid, self.queue_for(pid)),
            RunState::Delayed => self.wake_delayed(pid),
            _ => {
                if why == ReadyCause::Again {
                    self.even_out(pid);
                }
                self.queues.wait(pid);
            }
        }
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.next_on(0, now)
    }

    fn next_on(&mut self, processor: usize, now: u64) -> Option<Turn> {
        self.queues.now = now;
        self.just_left = ProcessId::MAX;
        let queue = processor % self.queues.count();
        let mut chosen = self.queues.take(queue);
        if chosen.is_none() {
            self.pull(queue);
            chosen = self.queues.take(queue);
        }
        let pid = chosen?;
        self.queues.run(pid);
        Some(self.turn(pid, queue))
    }

    fn processor_of(&self, pid: ProcessId) -> Option<usize> {
        self.queues.process(pid).queue.filter(|_| self.queues.count() > 1).map(|queue| queue as usize)
    }

    fn take_balance(&mut self) -> Option<u64> {
        let tick = self.tick_ns;
        if tick == 0 || self.packs || self.balance_is_due || self.queues.waiting() == 0 || self.queues.idle() == 0 {
            return None;
        }
        self.balance_is_due = true;
        (self.queues.now + 1).checked_next_multiple_of(tick)
    }

    fn balance(&mut self, now: u64) -> Option<ProcessId> {
        self.queues.now = now;
        self.balance_is_due = false;
        let idle = (0..self.queues.count()).find(|queue| self.queues.idle() > 0 && self.queues.is_idle(*queue))?;
        self.pull(idle)
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        self.queues.now = now;
        self.queues.stop(pid, ran_ns);
        self.just_left = pid;
        if matches!(why, LeaveCause::Waits | LeaveCause::Done) {
            self.queues.leave(pid);
        }
        EligibilityAfterTurn::Eligible
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        let (arrival, runner) = (self.queues.process(arrived), self.queues.process(running));
        if matches!(arrival.state, RunState::Runs { .. }) {
            return arrival.deadline < runner.deadline; // both run: the one with the later deadline loses its processor first
        }
        if arrival.queue != runner.queue {
            return false;
        }
        let queue = runner.place();
        let (mean, at) = (self.queues.mean_virtual(queue), self.queues.virtual_time(runner));
        let (is_ahead, is_protected) = (at > mean, at < runner.protected);
        let Some(choice) = self.queues.choice(queue) else { return false };
        let best = self.queues.process(choice);
        if best.virtual_time > mean {
            return false;
        }
        if is_protected {
            return is_ahead && choice == arrived;
        }
        let deadline = if at >= runner.deadline { at + self.queues.slice(runner) } else { runner.deadline };
        is_ahead || best.deadline < deadline
    }

    fn new_process(&mut self, pid: ProcessId) {
        self.queues.renew(pid);
    }

    fn forget(&mut self, pid: ProcessId) {
        self.asking.remove(pid);
        if self.queues.get(pid).is_some() {
            self.queues.forget(pid);
        }
    }

    fn ends(&mut self, _pid: ProcessId) {}

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.queues.waiting()
    }
}
