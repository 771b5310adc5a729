//! The interface of a finer meter of users' waits, which the kernel meters (`loadgo-meters`) implement.

use loadgo_core::system::UserId;
use std::fmt;

/// Keeps the account of each user's waits; asked on the driver's thread, so that it makes no system call.
pub trait Waits: Send + fmt::Debug {
    /// Where the waits come from, for `usage.waits` in `run.toml`.
    fn source(&self) -> &'static str;

    /// The session of `user` has begun and `pid` leads it.
    fn began(&mut self, user: UserId, pid: u32);

    /// The session of `user` is over.
    fn ended(&mut self, user: UserId);

    /// `user` sends the script's line of this number; 0 is the log-out.
    fn line(&mut self, user: UserId, line: u32);

    /// What the user's processes have waited since this was last asked; `None`: they are not in the account.
    fn interaction(&mut self, user: UserId) -> Option<Waited>;
}

/// Waits, all processes of a user together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Ready to run, and waiting for a processor.
    pub ready_ns: u64,
    /// Waiting for a page.
    pub paging_ns: u64,
    /// Waiting for block I/O.
    pub io_ns: u64,
}
