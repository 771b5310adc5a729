//! The lines that users type next, as a driver elsewhere tells them to the thread that reads their sessions' accounts.

use loadgo_core::system::UserId;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};

/// The lines, with their users, which all clones share.
#[derive(Clone, Default)]
pub struct ToldLines(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    lines: Mutex<Vec<(UserId, u32)>>,
    reader: OnceLock<Thread>,
}

impl ToldLines {
    /// Adds lines, and wakes the thread that takes them. Without such a thread they are dropped: no session is followed.
    pub fn tell(&self, lines: impl Iterator<Item = (UserId, u32)>) {
        let Some(reader) = self.0.reader.get() else { return };
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        reader.unpark();
    }

    /// Lets new lines wake this thread.
    pub(crate) fn unpark_this_thread(&self) {
        let _ = self.0.reader.set(thread::current());
    }

    /// The lines since the last call.
    pub(crate) fn take(&self) -> Vec<(UserId, u32)> {
        std::mem::take(&mut self.0.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for ToldLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ToldLines")
    }
}
