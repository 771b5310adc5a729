//! What the kernel programs and the reader share, as numbers of eight bytes: `bpf/layout.h` in Rust.

/// The state of a processor, raw.
pub type Processor = [u64; 68];
/// A session, raw.
pub type Account = [u64; 8];
/// A process, raw.
pub type Process = [u64; 6];

/// What a processor does, in the order of `enum category`; the last two, a fault and idle while they last, are charged when they end.
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
/// The number of `enum category` for a processor that is idle now.
pub const IDLE: u64 = 18;

/// Where things are in [`Processor`].
pub mod processor {
    /// When its category was last charged, in nanoseconds of CLOCK_MONOTONIC; 0: never.
    pub const LAST: usize = 0;
    /// Its category in the lower half.
    pub const CATEGORY: usize = 1;
    /// Dispatches, pre-emptions, and the nanoseconds that those dispatched had been ready.
    pub const SWITCHES: usize = 25;
    /// Times of the system's ready queue at each length, in nanoseconds.
    pub const QUEUE: usize = 28;
    /// Times by category, in nanoseconds.
    pub const TIME: usize = 44;
}
