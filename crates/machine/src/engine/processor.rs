//! A processor: its activity, its process, and its times by category.

use crate::disciplines::{ProcessId, Turn};
use crate::meters::Category;

/// The number that no process has.
pub(crate) const NO_PROCESS: ProcessId = ProcessId::MAX;

/// The activity of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorActivity {
    /// The processor has no process.
    Idle,
    /// The processor waits until its process's program is in memory.
    Loading,
    /// An interrupt.
    Interrupt,
    /// The switch to the process.
    Getwork,
    /// A step of the supervisor for the process.
    Step,
    /// A loop until another processor releases a lock.
    LockWait,
    /// The process's work.
    Work,
}

/// A path of the supervisor that a processor goes through once it has the path's lock.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPath {
    /// The activity on the path.
    pub activity: ProcessorActivity,
    /// The category of the activity.
    pub category: Category,
    /// Processor time of the path.
    pub length_ns: u64,
}

/// A processor.
#[derive(Clone, Debug)]
pub struct Processor {
    /// The process that has the processor.
    pub pid: ProcessId,
    /// The process that had the processor last.
    pub last: ProcessId,
    /// The activity.
    pub doing: ProcessorActivity,
    /// The category of the activity.
    pub category: Category,
    /// When the activity began, or was last charged.
    pub since: u64,
    /// Time left of the turn.
    pub slice_ns: u64,
    /// Processor time of the process in this turn.
    pub ran_ns: u64,
    /// Whether the current work ends with the turn, before its goal.
    pub cut: bool,
    /// Whether the process is to lose the processor after the current step.
    pub preempted: bool,
    /// Processor time of the switch to the process, while it is still to be done.
    pub getwork_ns: u64,
    /// The path for which the processor waits for a lock.
    pub waiting: Option<WaitingPath>,
    /// Interrupts that are handled before the next segment.
    pub interrupts: u32,
    /// The process that had the processor when these interrupts came.
    pub interrupted: ProcessId,
    /// Times by category, up to `since`.
    pub time_ns: [u64; Category::COUNT],
}

impl Processor {
    /// A processor that is idle from the beginning.
    pub fn new() -> Processor {
        Processor {
            pid: NO_PROCESS,
            last: NO_PROCESS,
            doing: ProcessorActivity::Idle,
            category: Category::IdleZero,
            since: 0,
            slice_ns: 0,
            ran_ns: 0,
            cut: false,
            preempted: false,
            getwork_ns: 0,
            waiting: None,
            interrupts: 0,
            interrupted: NO_PROCESS,
            time_ns: [0; Category::COUNT],
        }
    }

    /// Charges the time until `now` to the current category, and returns it.
    #[inline]
    pub fn close(&mut self, now: u64) -> u64 {
        let span_ns = now - self.since;
        self.time_ns[self.category as usize] += span_ns;
        self.since = now;
        span_ns
    }

    /// Begins an activity at `now`.
    #[inline(always)]
    pub fn begin(&mut self, activity: ProcessorActivity, category: Category, now: u64) {
        if self.since != now {
            self.close(now);
        }
        self.doing = activity;
        self.category = category;
    }

    /// Begins the process's work of `planned_ns`, of which it may do `allowed_ns` now. Returns the length of the segment.
    #[inline(always)]
    pub fn begin_work(&mut self, planned_ns: u64, allowed_ns: u64, now: u64) -> u64 {
        self.cut = allowed_ns < planned_ns;
        self.begin(ProcessorActivity::Work, Category::User, now);
        planned_ns.min(allowed_ns)
    }

    /// Takes the process of a turn, and first the time of the switch to it.
    #[inline(always)]
    pub fn take(&mut self, turn: Turn, getwork_ns: u64) {
        self.getwork_ns = getwork_ns;
        self.pid = turn.pid;
        self.slice_ns = turn.slice_ns.max(1);
        self.ran_ns = 0;
    }

    /// Loses the process, which had used its turn for the returned time.
    #[inline(always)]
    pub fn release(&mut self) -> u64 {
        self.last = self.pid;
        self.pid = NO_PROCESS;
        self.preempted = false;
        self.getwork_ns = 0;
        self.ran_ns
    }

    /// Whether the turn ends now, with nothing that comes before its end.
    #[inline(always)]
    pub fn is_turn_over(&self) -> bool {
        self.slice_ns == 0 && self.interrupts == 0 && !self.preempted
    }

    /// Whether the processor waits for the lock of a path of this activity.
    #[inline]
    pub fn waits_for(&self, activity: ProcessorActivity) -> bool {
        self.waiting.is_some_and(|path| path.activity == activity)
    }

    /// Charges the process's turn for processor time.
    #[inline]
    pub fn charge_turn(&mut self, span_ns: u64) {
        self.ran_ns += span_ns;
        self.slice_ns = self.slice_ns.saturating_sub(span_ns);
    }

    /// The times by category up to `now`.
    pub fn times(&self, now: u64) -> [u64; Category::COUNT] {
        let mut times = self.time_ns;
        times[self.category as usize] += now - self.since;
        times
    }
}
