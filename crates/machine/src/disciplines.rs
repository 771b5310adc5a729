//! Who runs next, and for how long: the door to the scheduling disciplines.
//!
//! A process that has something to do first asks to be *eligible* (multiprogrammed); the engine admits as many as the limit and
//! the memory allow, in the discipline's order. Eligible processes that can run are *ready*; the discipline says who is next and for
//! how long. A process that waits for a page stays eligible; one whose interaction is over does not.

pub mod ctss;
pub mod first_come;
pub mod linux;
pub mod multics;
pub mod order;
pub mod priority;
pub mod round_robin;
pub mod tenex;
pub mod virtual_deadlines;

/// A process's number; users' processes are numbered from 0.
pub type Job = u32;

/// What a discipline may know of a process that asks to be eligible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// The words of its image.
    pub image_words: u64,
    /// Its working set as far as known.
    pub pages: u32,
    /// The command's priority; low is good.
    pub priority: u32,
    /// The command's nice value.
    pub nice: i32,
    /// Whether an interaction begins (else the process has lost its eligibility in the middle of one).
    pub begins: bool,
}

/// Why a process becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has become eligible.
    Admitted,
    /// What it waited for has come (a page, a device).
    Woken,
    /// It used its turn up, or was pre-empted, and stays eligible.
    Again,
}

/// Why a process leaves its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// It waits for a page or a device.
    Waits,
    /// Its turn is used up.
    TurnOver,
    /// Another pre-empts it.
    Preempted,
    /// Its interaction is over.
    Done,
}

/// Whether a process whose turn is over stays eligible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// It does; it becomes ready with [`Why::Again`].
    Eligible,
    /// It does not; it asks again.
    Asks,
}

/// Who runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The process.
    pub job: Job,
    /// For how long at most; `u64::MAX`: until it waits or is done.
    pub slice_ns: u64,
}

/// A scheduling discipline. Times are nanoseconds of the machine's clock; processor times are of the machine, not of speed 1.
pub trait ReadyList {
    /// `job` asks to be eligible.
    fn ask(&mut self, job: Job, facts: &Facts, now: u64);
    /// Who is to become eligible next, of those who ask.
    fn candidate(&self) -> Option<Job>;
    /// `job`, the candidate, is eligible from now on; it becomes ready when its program is in memory.
    fn admit(&mut self, job: Job, now: u64);
    /// The eligible `job` can run.
    fn ready(&mut self, job: Job, why: Why, now: u64);
    /// Takes out who runs next.
    fn next(&mut self, now: u64) -> Option<Turn>;
    /// `job` leaves its processor after having run for `ran_ns`; after [`Off::Done`] it is forgotten.
    fn off(&mut self, job: Job, ran_ns: u64, why: Off, now: u64) -> Stay;
    /// Whether `arrived`, which has just become ready, takes the processor from `running`; of two that run, whether `running` is
    /// to lose it before `arrived` does.
    fn preempts(&self, _arrived: Job, _running: Job) -> bool {
        false
    }
    /// A new process has the number `job` from now on: what was known of an earlier one is nothing to it.
    fn new_process(&mut self, _job: Job) {}
    /// `job` has gone in the middle of its interaction (interrupted, hung up): it is taken out wherever it is.
    fn forget(&mut self, job: Job);
    /// The interaction of `job`, which is eligible and neither runs nor is ready, is over.
    fn ends(&mut self, job: Job) {
        self.forget(job);
    }
    /// How many ask and are not eligible.
    fn asking(&self) -> usize;
    /// How many are ready and do not run.
    fn waiting(&self) -> usize;
}
