//! The meters of a live Linux host: kernel programs, and the rows that are made of what they count.
//!
//! The programs (`bpf/*.h`, compiled by `build.rs`) run at tracepoints and perf software events, so that they load where
//! fentry and kprobes do not. `load` brings them into the kernel one by one; what does not load is told by `available`.

pub mod layout;
pub mod load;
