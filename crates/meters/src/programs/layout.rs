//! The layout of memory that the kernel programs and the reader share, in words of eight bytes: `bpf/meters/layout.h` in Rust.

/// Names of categories of a processor's time, in the order of `enum category`, without `IN_FAULT` and `IDLE`.
pub const CATEGORY_NAMES: [&str; 17] = [
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
    /// Time before a processor was first seen.
    pub(crate) const UNCHARGED: usize = 0;
    /// Users' programs; in the cheap tier all time of users' tasks.
    pub const USER: usize = 1;
    /// System calls.
    pub(crate) const PRIMITIVE: usize = 2;
    /// Page faults.
    pub(crate) const PAGE_FAULT: usize = 3;
    /// Interrupts of devices, of the clock, and of other processors.
    pub(crate) const INTERRUPT: usize = 6;
    /// Soft interrupts, the deferred work of interrupts.
    pub(crate) const SOFT_INTERRUPT: usize = 7;
    /// Choosing a task and switching to it.
    pub(crate) const GETWORK: usize = 8;
    /// Idle without a cause; the idle categories of the causes follow it, in the order of `enum cause`.
    pub(crate) const IDLE_ZERO: usize = 10;
    /// A page fault under way, whose time moves to its kind's category when it ends.
    pub(crate) const IN_FAULT: usize = 17;
    /// Idle time under way, which is divided by cause when it ends.
    pub const IDLE: usize = 18;
}

/// Numbers of `enum cause`, the causes that divide idle time.
pub const IDLE_CAUSES: std::ops::RangeInclusive<usize> = 1..=5;
/// Number of fraction bits of a cause's weight.
pub(crate) const WHOLE_SHIFT: u32 = 16;

/// Word indices in `struct processor`.
pub mod processor {
    /// Time of the last charge, in nanoseconds of CLOCK_MONOTONIC; 0 for never.
    pub const LAST: usize = 0;
    /// Time of the first charge.
    pub const BEGAN: usize = 1;
    /// The present category, in the lower half.
    pub(crate) const CATEGORY: usize = 2;
    /// Times by category, in nanoseconds.
    pub const TIME: usize = 3;
    /// The integrals of the causes when idle began.
    pub(crate) const IDLE_INTEGRAL: usize = 27;
    /// Dispatches.
    pub(crate) const SWITCHES: usize = 35;
    /// Pre-emptions.
    pub(crate) const PREEMPTIONS: usize = 36;
    /// Integral of the ready queue's length, in tasks × nanoseconds.
    pub(crate) const QUEUE_AREA: usize = 37;
    /// Nanoseconds of the ready queue at each length.
    pub const QUEUE: usize = 38;
    /// Time from which on the running task is not yet charged to its name.
    pub(crate) const SINCE: usize = 54;
    /// The index of the task's name in the lower half, its account in the upper half.
    pub const NAME: usize = 55;
    /// 1 in the upper half during a hard interrupt.
    pub const INTERRUPTED: usize = 56;
    /// 1 in the lower half during a soft interrupt.
    pub const SOFT: usize = 57;
    /// Number of words that are read at once: all before these two.
    pub const WORDS: usize = 56;
}

/// Number of classes of the ready queue's length: 0, 1, 2-3, 4-7 and so on, by powers of 2.
pub(crate) const QUEUE_LENGTHS: usize = 16;

/// Word indices in `struct waiting`.
pub mod waiting {
    /// Index of the half word at which the causes' weights of 32 bits begin.
    pub(crate) const WEIGHTS_HALF: usize = 11;
    /// Time of the last update of the integrals.
    pub(crate) const SINCE: usize = 10;
    /// The integrals of the causes.
    pub(crate) const INTEGRAL: usize = 11;
    /// Number of words.
    pub const WORDS: usize = 19;
}

/// Word indices in `struct account`.
pub mod account {
    /// The leader's process id in the lower half, the command in the upper half.
    pub const PID: usize = 0;
    /// Time waiting for a processor, in nanoseconds.
    pub(crate) const READY_WAIT: usize = 2;
    /// Time waiting for a page.
    pub(crate) const PAGE_WAIT: usize = 3;
    /// Time waiting for storage.
    pub(crate) const DISK_WAIT: usize = 4;
    /// Time held back by a quota or by memory, and time of loading.
    pub(crate) const OTHER_WAIT: usize = 5;
    /// Number of words.
    pub const WORDS: usize = 8;
}

/// Word indices in `struct named`.
pub mod named {
    /// Processor time in nanoseconds.
    pub(crate) const CPU: usize = 0;
    /// Time waiting for a processor, in nanoseconds.
    pub(crate) const READY_WAIT: usize = 1;
    /// The account in the lower half; 0 for none.
    pub(crate) const SLOT: usize = 3;
    /// The name, which ends with a zero byte.
    pub const NAME: usize = 4;
    /// Number of words.
    pub const WORDS: usize = 6;
}

/// Word indices in `struct task_record`.
pub(crate) mod task_record {
    /// The session's account in the lower half, the index of the task's name in the upper half; 0 for a name not looked up yet.
    pub(crate) const SLOT_AND_NAME: usize = 17;
}

/// Word indices in `struct lock_sums`.
pub(crate) mod lock_sums {
    /// The key; 0 for unused sums.
    pub(crate) const KEY: usize = 0;
    /// Return address into the function that wants the lock, or the file's device and number; 0 if not known.
    pub(crate) const PLACE: usize = 1;
    /// Number of waits.
    pub(crate) const COUNT: usize = 2;
    /// Time of the waits in nanoseconds.
    pub(crate) const WAIT: usize = 3;
    /// The longest wait since the last reading.
    pub(crate) const LONGEST: usize = 4;
    /// Number of words.
    pub(crate) const WORDS: usize = 8;
}

/// Word indices of counters, `enum counter`.
pub mod counter {
    /// Child processes for which there was no account.
    pub(crate) const SESSIONS_LOST: usize = 0;
    /// Names of processes for which there was no room.
    pub(crate) const NAMES_LOST: usize = 1;
    /// Names that have an index.
    pub(crate) const NAMES_GIVEN: usize = 2;
    /// Tasks for which there was no room.
    pub(crate) const TASKS_LOST: usize = 3;
    /// Waits for locks for whose sums there was no room.
    pub(crate) const LOCK_WAITS_LOST: usize = 4;
    /// Number of counters.
    pub const WORDS: usize = 8;
}
