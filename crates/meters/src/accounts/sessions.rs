//! Who began which session and at which line it was when, for samples and faults that are looked at later.

use loadgo_core::system::UserId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The sessions; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Sessions(Arc<Mutex<HashMap<u32, Session>>>);

#[derive(Debug)]
struct Session {
    user: UserId,
    /// Since when (CLOCK_MONOTONIC) which command (0: none), in order.
    lines: Vec<(u64, u32)>,
}

impl Sessions {
    /// The user's session is the process `pid` with all its descendants.
    pub fn began(&self, user: UserId, pid: u32) {
        self.locked(|sessions| {
            sessions.insert(pid, Session { user, lines: Vec::new() });
        });
    }

    /// The user is at a line of `command` (0: of none) since `at_ns` of CLOCK_MONOTONIC.
    pub fn line(&self, pid: u32, command: u32, at_ns: u64) {
        self.locked(|sessions| {
            if let Some(session) = sessions.get_mut(&pid) {
                session.lines.push((at_ns, command));
            }
        });
    }

    /// The user and the command of the session that `leader` began, at a time.
    pub(crate) fn at(&self, leader: u32, time_ns: u64) -> (Option<UserId>, u32) {
        self.locked(|sessions| {
            let Some(session) = sessions.get(&leader) else { return (None, 0) };
            let later = session.lines.partition_point(|(since, _)| *since <= time_ns);
            (Some(session.user), later.checked_sub(1).map_or(0, |last| session.lines[last].1))
        })
    }

    /// Forgets all lines that were over before a time.
    pub(crate) fn forget_before(&self, time_ns: u64) {
        self.locked(|sessions| {
            for session in sessions.values_mut() {
                let later = session.lines.partition_point(|(since, _)| *since <= time_ns);
                session.lines.drain(..later.saturating_sub(1));
            }
        });
    }

    fn locked<T>(&self, look: impl FnOnce(&mut HashMap<u32, Session>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_at_the_line_that_was_sent_last() {
        let sessions = Sessions::default();
        sessions.began(3, 100);
        sessions.line(100, 7, 1000);
        sessions.line(100, 8, 2000);
        assert_eq!(sessions.at(100, 999), (Some(3), 0));
        assert_eq!(sessions.at(100, 1999), (Some(3), 7));
        sessions.forget_before(2500);
        assert_eq!(sessions.at(100, 2600), (Some(3), 8));
        assert_eq!(sessions.at(101, 2600), (None, 0));
    }
}
