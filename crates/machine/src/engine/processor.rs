//! A processor: what it does now, for whom, and what it has done with its time.

use crate::disciplines::Job;
use crate::meters::Category;

/// The number that no process has.
pub(crate) const NO_PROCESS: Job = Job::MAX;

/// What a processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorActivity {
    /// Nothing.
    Idle,
    /// Nothing, until its process's program is in.
    Loading,
    /// An interrupt.
    Interrupt,
    /// Switching to its process.
    Getwork,
    /// A step of the supervisor for its process.
    Step,
    /// Its process's work.
    Work,
}

/// A processor.
#[derive(Clone, Debug)]
pub struct Processor {
    /// Who has it.
    pub job: Job,
    /// Who had it last.
    pub last: Job,
    /// What it does.
    pub doing: ProcessorActivity,
    /// The category of that.
    pub category: Category,
    /// Since when.
    pub since: u64,
    /// What is left of the turn.
    pub slice_ns: u64,
    /// What its process has run in this turn.
    pub ran_ns: u64,
    /// The work in hand ends before its goal, with the turn.
    pub cut: bool,
    /// Its process is to lose it after the step in hand.
    pub preempted: bool,
    /// Switching to its process is still to be done.
    pub getwork: bool,
    /// Interrupts to be handled before anything else.
    pub interrupts: u32,
    /// By category, up to `since`.
    pub time_ns: [u64; Category::COUNT],
}

impl Processor {
    /// Idle from the beginning.
    pub fn new() -> Processor {
        Processor {
            job: NO_PROCESS,
            last: NO_PROCESS,
            doing: ProcessorActivity::Idle,
            category: Category::IdleZero,
            since: 0,
            slice_ns: 0,
            ran_ns: 0,
            cut: false,
            preempted: false,
            getwork: false,
            interrupts: 0,
            time_ns: [0; Category::COUNT],
        }
    }

    /// Closes the span of the category that it was in until now; its length.
    #[inline]
    pub fn close(&mut self, now: u64) -> u64 {
        let span_ns = now - self.since;
        self.time_ns[self.category as usize] += span_ns;
        self.since = now;
        span_ns
    }

    /// Charges the turn of its process for processor time.
    #[inline]
    pub fn charge_turn(&mut self, span_ns: u64) {
        self.ran_ns += span_ns;
        self.slice_ns = self.slice_ns.saturating_sub(span_ns);
    }

    /// Its times up to `now`.
    pub fn times(&self, now: u64) -> [u64; Category::COUNT] {
        let mut times = self.time_ns;
        times[self.category as usize] += now - self.since;
        times
    }
}
