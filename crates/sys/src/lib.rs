//! System calls behind safe functions: all of loadgo's unsafe code is here.
//!
//! Where rustix or the standard library has a safe wrapper, other crates call that. This crate has the other calls, and the
//! parts of a host's event loop. Each `unsafe` block says why it is sound.

pub mod child;
pub mod clock;
pub mod events;
pub mod fresh_memory;
pub mod heap;
pub mod held_signals;
pub mod kernel_tls;
pub mod last_words;
pub mod mapped;
pub mod mapped_file;
pub mod netlink;
pub mod page_cache;
pub mod paging;
pub mod perf;
pub mod program_file;
pub mod program_runs;
pub mod scheduling;
pub mod shared_ring;
pub mod signals;
pub mod spawn;
pub mod task_storage;
pub mod tcp;
pub mod thread_usage;
pub mod uring;
pub mod why;
