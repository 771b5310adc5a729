//! What the kernel programs and the reader share, as words of eight bytes: `bpf/meters/layout.h` in Rust.

/// What a processor does, in the order of `enum category`; idle while it lasts is not among them.
pub const CATEGORIES: [&str; 17] = [
    "uncharged",
    "user",
    "primitive",
    "page fault",
    "segment fault",
    "bound fault",
    "interrupt",
    "soft interrupt",
    "getwork",
    "kernel thread",
    "idle zero",
    "idle loading",
    "idle not eligible",
    "idle governed",
    "idle page wait",
    "idle disk wait",
    "idle dispatch",
];

/// Numbers of `enum category`.
pub mod category {
    /// What no task is charged for.
    pub(crate) const UNCHARGED: usize = 0;
    /// Users' programs themselves; in the cheap tier all that they do.
    pub const USER: usize = 1;
    /// System calls.
    pub(crate) const PRIMITIVE: usize = 2;
    /// Page faults.
    pub(crate) const PAGE_FAULT: usize = 3;
    /// Interrupts of devices, of the clock, and of other processors.
    pub(crate) const INTERRUPT: usize = 6;
    /// What interrupts left to be done.
    pub(crate) const SOFT_INTERRUPT: usize = 7;
    /// Choosing a task and switching to it.
    pub(crate) const GETWORK: usize = 8;
    /// Idle without a cause; the idle categories of the causes follow it, in the order of `enum cause`.
    pub(crate) const IDLE_ZERO: usize = 10;
    /// A page fault while it lasts: charged to its kind when it ends.
    pub(crate) const IN_FAULT: usize = 17;
    /// Idle while it lasts: divided by cause when it ends.
    pub const IDLE: usize = 18;
}

/// The causes that divide idle time: numbers of `enum cause`.
pub const CAUSES: std::ops::RangeInclusive<usize> = 1..=5;
/// Weights are parts of 2 to this.
pub(crate) const WHOLE_SHIFT: u32 = 16;

/// Where things are in `struct processor`.
pub mod processor {
    /// When its category was last charged, in nanoseconds of CLOCK_MONOTONIC; 0: never.
    pub const LAST: usize = 0;
    /// When it was first.
    pub const BEGAN: usize = 1;
    /// Its category in the lower half.
    pub(crate) const CATEGORY: usize = 2;
    /// Times by category, in nanoseconds.
    pub const TIME: usize = 3;
    /// The integrals of the causes when idle began.
    pub(crate) const IDLE_INTEGRAL: usize = 27;
    /// Dispatches.
    pub(crate) const SWITCHES: usize = 35;
    /// Pre-emptions.
    pub(crate) const PREEMPTIONS: usize = 36;
    /// Nanoseconds × tasks of the ready queue.
    pub(crate) const QUEUE_AREA: usize = 37;
    /// Nanoseconds of the ready queue at each length.
    pub const QUEUE: usize = 38;
    /// Since when the running task has not been charged to its name.
    pub(crate) const SINCE: usize = 54;
    /// The place of its name in the lower half, its account in the upper.
    pub const NAME: usize = 55;
    /// Whether it is in a hard interrupt, in the upper half.
    pub const INTERRUPTED: usize = 56;
    /// Whether it is in a soft one, in the lower half.
    pub const SOFT: usize = 57;
    /// What is read of a processor at once: the words before those two.
    pub const WORDS: usize = 56;
}

/// Lengths of the ready queue that are told apart: 0, 1, 2-3, 4-7 and so on, each a power of 2.
pub(crate) const QUEUE_LENGTHS: usize = 16;

/// Where things are in `struct waiting`.
pub mod waiting {
    /// The weights of the causes, of 32 bits each, begin at this half word.
    pub(crate) const WEIGHTS_HALF: usize = 11;
    /// When the integrals were last brought up.
    pub(crate) const SINCE: usize = 10;
    /// The integrals of the causes.
    pub(crate) const INTEGRAL: usize = 11;
    /// All of it.
    pub const WORDS: usize = 19;
}

/// Where things are in `struct account`.
pub mod account {
    /// The leader's id in the lower half, the command in the upper.
    pub const PID: usize = 0;
    /// Ready to run, and waiting for a processor, in nanoseconds.
    pub(crate) const READY_WAIT: usize = 2;
    /// Waiting for a page.
    pub(crate) const PAGE_WAIT: usize = 3;
    /// Waiting for storage.
    pub(crate) const DISK_WAIT: usize = 4;
    /// Held back by a quota or by memory, and loading.
    pub(crate) const OTHER_WAIT: usize = 5;
    /// All of it.
    pub const WORDS: usize = 8;
}

/// Where things are in `struct named`.
pub mod named {
    /// Processor time in nanoseconds.
    pub(crate) const CPU: usize = 0;
    /// Ready to run, and waiting for a processor.
    pub(crate) const READY_WAIT: usize = 1;
    /// The account in the lower half; 0: nobody's.
    pub(crate) const SLOT: usize = 3;
    /// The name, ended by a zero byte.
    pub const NAME: usize = 4;
    /// All of it.
    pub const WORDS: usize = 6;
}

/// `enum counter`.
pub mod counter {
    /// Children of our own process that found no account.
    pub(crate) const SESSIONS_LOST: usize = 0;
    /// Names of processes that found no place.
    pub(crate) const NAMES_LOST: usize = 1;
    /// Names that have places.
    pub(crate) const NAMES_GIVEN: usize = 2;
    /// Tasks that nothing could be kept of.
    pub(crate) const TASKS_LOST: usize = 3;
    /// All of them.
    pub const WORDS: usize = 8;
}
