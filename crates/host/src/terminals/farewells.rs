//! Time for sessions that remove their own files when they are hung up, before their remaining processes are killed.

use crate::groups::Groups;
use loadgo_core::system::UserId;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time from the hang-up of a session that removes its own files to the kill of its processes.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);
/// Interval between two looks whether such a session has ended.
const FAREWELL_LOOK: Duration = Duration::from_millis(5);
/// Number of sessions that are waited for in vain, in a run; later ones are killed at once. A stubborn program is the same for all.
const MOST_FAREWELLS_IN_VAIN: u32 = 5;

/// Sessions that remove their own files when they are hung up, and get time for that.
#[derive(Debug, Default)]
pub(crate) struct Farewells {
    /// Number of sessions that did not end in time.
    in_vain: AtomicU32,
}

impl Farewells {
    /// Waits until the group of `user` is empty, if sessions usually end in time.
    pub(crate) fn wait(&self, groups: &Groups, user: UserId) {
        if self.in_vain.load(Ordering::Relaxed) >= MOST_FAREWELLS_IN_VAIN {
            return;
        }
        let until = Instant::now() + FAREWELL_LIMIT;
        while !groups.is_empty(user) {
            if Instant::now() > until {
                self.in_vain.fetch_add(1, Ordering::Relaxed);
                return;
            }
            thread::sleep(FAREWELL_LOOK);
        }
    }
}
