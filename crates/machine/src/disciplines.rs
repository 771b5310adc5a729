//! The interface to the scheduling disciplines, which say which process runs next, and for how long.
//!
//! A process with work first asks to be *eligible* (multiprogrammed). The engine admits as many as the limit and the memory
//! allow, in the discipline's order. Eligible processes that can run are *ready*, and the discipline chooses among them. A
//! process that waits for a page stays eligible. When its interaction ends, it is no longer eligible.

pub mod any;
pub mod ctss;
pub mod first_come;
pub mod limited;
pub mod linux;
pub mod multics;
pub mod order;
pub mod priority;
pub mod round_robin;
pub mod tenex;
pub mod virtual_deadlines;

/// A process's number; users' processes are numbered from 0.
pub type ProcessId = u32;

/// Facts about a process that asks to be eligible, for the discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CandidateFacts {
    /// Words of the program's image.
    pub image_words: u64,
    /// Working set in pages, as far as known.
    pub pages: u32,
    /// The command's priority; low is good.
    pub priority: u32,
    /// The command's nice value.
    pub nice: i32,
    /// True if an interaction begins; false if the process has lost its eligibility during an interaction.
    pub begins: bool,
}

/// The cause for which a process becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyCause {
    /// The process has become eligible.
    Admitted,
    /// A wait for a page or a device has ended.
    Woken,
    /// The process used its turn up, or was pre-empted, and stays eligible.
    Again,
}

/// The cause for which a process leaves its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveCause {
    /// The process waits for a page or a device.
    Waits,
    /// The turn is used up.
    TurnOver,
    /// Another process pre-empts it.
    Preempted,
    /// The interaction is over.
    Done,
}

/// Whether a process whose turn is over stays eligible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EligibilityAfterTurn {
    /// The process stays eligible and becomes ready with [`ReadyCause::Again`].
    Eligible,
    /// The process is no longer eligible, and asks again.
    Asks,
}

/// A turn on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The process.
    pub pid: ProcessId,
    /// Longest time of the turn; `u64::MAX`: until the process waits or is done.
    pub slice_ns: u64,
}

/// A scheduling discipline. Times are nanoseconds of the machine's clock, also processor times, whatever the processors' speed.
pub trait ReadyList {
    /// Whether users may have quotas. Without them, the engine calls none of the functions about quotas.
    const HAS_QUOTAS: bool = false;
    /// Whether processes may wait while a processor idles. Without that, the engine calls none of the functions about balancing.
    const BALANCES: bool = false;
    /// Adds `pid` to the processes that ask to be eligible.
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64);
    /// The next process to become eligible, of those that ask.
    fn candidate(&self) -> Option<ProcessId>;
    /// Makes `pid`, the candidate, eligible. It becomes ready when its program is in memory.
    fn admit(&mut self, pid: ProcessId, now: u64);
    /// Adds `pid`, which is eligible and can run, to the ready processes.
    fn ready(&mut self, pid: ProcessId, why: ReadyCause, now: u64);
    /// Removes and returns the process that runs next, with its turn.
    fn next(&mut self, now: u64) -> Option<Turn>;
    /// As [`ReadyList::next`], for a discipline whose processors have queues of their own.
    fn next_on(&mut self, _processor: usize, now: u64) -> Option<Turn> {
        self.next(now)
    }
    /// The processor for which `pid`, which is ready, waits; None if any may have it.
    fn processor_of(&self, _pid: ProcessId) -> Option<usize> {
        None
    }
    /// Lets `pid` leave its processor after a run of `ran_ns`. After [`LeaveCause::Done`], the process is forgotten.
    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn;
    /// Whether `arrived`, which has just become ready, takes the processor from `running`.
    ///
    /// If both processes run, the result says which of them loses its processor first: `running`, if it is true.
    fn preempts(&self, _arrived: ProcessId, _running: ProcessId) -> bool {
        false
    }
    /// Forgets all about an earlier process with the number `pid`, which a new process has from now on.
    fn new_process(&mut self, _pid: ProcessId) {}
    /// Removes `pid` from all lists, because its interaction was interrupted or its session hung up.
    fn forget(&mut self, pid: ProcessId);
    /// Ends the interaction of `pid`, which is eligible and neither runs nor is ready.
    fn ends(&mut self, pid: ProcessId) {
        self.forget(pid);
    }
    /// Number of processes that ask to be eligible.
    fn asking(&self) -> usize;
    /// Number of processes that are ready.
    fn waiting(&self) -> usize;
    /// Charges the quota of `pid`, which ran from `from` to `to`.
    fn charge(&mut self, _pid: ProcessId, _from: u64, _to: u64) {}
    /// Counts the switch to `pid`, of `span_ns`, as processor time of its user. No quota is charged for it: a quota that is less
    /// than a switch would otherwise never let the user work.
    fn count_switch(&mut self, _pid: ProcessId, _span_ns: u64) {}
    /// How long the quota lets `pid` run from `now` on without a break.
    fn allowance_ns(&mut self, _pid: ProcessId, _now: u64) -> u64 {
        u64::MAX
    }
    /// When the quota of `pid`, which has just been throttled, is refilled; None if it was not throttled, or the refill is known.
    fn take_new_refill(&mut self, _pid: ProcessId) -> Option<u64> {
        None
    }
    /// Refills the quota of `pid`, and says whether that makes the process ready.
    fn refill(&mut self, _pid: ProcessId, _now: u64) -> bool {
        false
    }
    /// When waiting processes are to be moved to idle processors; None if there are none, or the instant is known.
    fn take_balance(&mut self) -> Option<u64> {
        None
    }
    /// Moves a waiting process to the queue of an idle processor, and returns it.
    fn balance(&mut self, _now: u64) -> Option<ProcessId> {
        None
    }
    /// Ends the wish of `pid`, which is about to be forgotten, for a processor.
    fn rests(&mut self, _pid: ProcessId, _now: u64) {}
    /// Number of throttled processes. They count as ready.
    fn throttled(&self) -> u64 {
        0
    }
}
