//! The interface of a finer meter of users' waits, which the kernel meters (`loadgo-meters`) implement.

use loadgo_core::system::UserId;
use std::fmt;

/// Keeps the account of each user's waits; called on the driver's thread, so implementations make no system call.
pub trait Waits: Send + fmt::Debug {
    /// Where the waits come from, for `usage.waits` in `run.toml`.
    fn source(&self) -> &'static str;

    /// Records that the session of `user` has begun, and that `pid` leads it.
    fn began(&mut self, user: UserId, pid: u32);

    /// Records that the session of `user` is over.
    fn ended(&mut self, user: UserId);

    /// Records that `user` sends the script's line of this number; 0 is the log-out.
    fn line(&mut self, user: UserId, line: u32);

    /// Waits of the user's processes since the last call; `None` when they are not in the account.
    fn interaction(&mut self, user: UserId) -> Option<Waited>;
}

/// Waits of all processes of a user together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Time spent ready to run, waiting for a processor.
    pub ready_ns: u64,
    /// Time spent waiting for a page.
    pub paging_ns: u64,
    /// Time spent waiting for block I/O.
    pub io_ns: u64,
}
