//! Log-in sessions of this host observed: the lines of each, when they were typed, and what they used.
//!
//! [`Observer`] loads the kernel programs (`bpf/sessions/`) and gathers their records. `records` reads one record, and `gathered`
//! puts lines together. Nothing here has a text that somebody typed: the kernel's programs read none.

pub mod gathered;
pub mod observer;
mod records;

pub use gathered::{Gathered, ObservedLine};
pub use observer::{ObservedPeople, Observer, availability};
pub use records::Use;
