//! Users' sessions with their leading processes and typed commands, which assign samples and faults to users and commands.
//!
//! The driver's thread owns a [`SessionReporter`], and the profile's thread owns the [`Sessions`]. A ring between them carries each event.

use super::ring::{Message, Receiver, Sender, ring};
use loadgo_core::system::UserId;
use std::collections::HashMap;

/// Number of events between two readings of the profile's thread, a tenth of a second apart, at 40,000 lines a second.
const RING_SLOTS: usize = 4096;

/// An event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DriverReport {
    /// A user's session began; the process `pid` leads it, and its descendants belong to it.
    Began { pid: u32, user: UserId },
    /// A line of `command` (0 for none) was typed at `at_ns` of CLOCK_MONOTONIC.
    Line { pid: u32, command: u32, at_ns: u64 },
    /// The session ended at `at_ns`.
    Ended { pid: u32, at_ns: u64 },
}

impl DriverReport {
    fn to_message(self) -> Message {
        match self {
            DriverReport::Began { pid, user } => [1 << 32 | u64::from(pid), user.into(), 0],
            DriverReport::Line { pid, command, at_ns } => [2 << 32 | u64::from(pid), command.into(), at_ns],
            DriverReport::Ended { pid, at_ns } => [3 << 32 | u64::from(pid), 0, at_ns],
        }
    }

    fn from_message([head, number, at_ns]: Message) -> DriverReport {
        let (pid, number) = (head as u32, number as u32);
        match head >> 32 {
            1 => DriverReport::Began { pid, user: number },
            2 => DriverReport::Line { pid, command: number, at_ns },
            _ => DriverReport::Ended { pid, at_ns },
        }
    }
}

/// The driver's end of the ring: reports events of sessions, and never waits.
#[derive(Debug)]
pub(crate) struct SessionReporter(Sender);

impl SessionReporter {
    /// Reports that the process `pid` leads a new session of the user.
    pub fn session_began(&mut self, user: UserId, pid: u32) {
        self.send(DriverReport::Began { pid, user });
    }

    /// Reports that a line of `command` (0 for none) was typed at `at_ns` of CLOCK_MONOTONIC in the session that `pid` leads.
    pub fn line_sent(&mut self, pid: u32, command: u32, at_ns: u64) {
        self.send(DriverReport::Line { pid, command, at_ns });
    }

    /// Reports that the session of the leader `pid` ended at `at_ns`.
    pub fn session_ended(&mut self, pid: u32, at_ns: u64) {
        self.send(DriverReport::Ended { pid, at_ns });
    }

    fn send(&mut self, event: DriverReport) {
        self.0.send(event.to_message());
    }
}

/// The known sessions, by the leader's process id.
#[derive(Debug)]
pub(crate) struct Sessions {
    events: Receiver,
    by_leader: HashMap<u32, SessionLines>,
    /// The time of the last [`Sessions::forget_before`].
    forgotten_ns: u64,
}

#[derive(Debug)]
struct SessionLines {
    user: UserId,
    /// Times of lines (CLOCK_MONOTONIC) with the number of their command (0 for none), in order of time.
    lines: Vec<(u64, u32)>,
    ended_ns: Option<u64>,
}

impl Sessions {
    /// The sessions of a driver, with the driver's end of the ring.
    pub fn with_reporter() -> (SessionReporter, Sessions) {
        let (sender, events) = ring(RING_SLOTS);
        (SessionReporter(sender), Sessions { events, by_leader: HashMap::new(), forgotten_ns: 0 })
    }

    /// No sessions, and no driver.
    pub fn none() -> Sessions {
        Sessions { events: ring(1).1, by_leader: HashMap::new(), forgotten_ns: 0 }
    }

    /// Reads the driver's events since the last call.
    pub fn read_events(&mut self) {
        while let Some(message) = self.events.take() {
            match DriverReport::from_message(message) {
                DriverReport::Began { pid, user } => {
                    self.by_leader.insert(pid, SessionLines { user, lines: Vec::new(), ended_ns: None });
                }
                DriverReport::Line { pid, command, at_ns } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.lines.push((at_ns, command));
                    }
                }
                DriverReport::Ended { pid, at_ns } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.ended_ns = Some(at_ns);
                    }
                }
            }
        }
    }

    /// The user and the command of the session of `leader` at a time.
    pub fn user_and_command_at(&self, leader: u32, time_ns: u64) -> (Option<UserId>, u32) {
        let Some(session) = self.by_leader.get(&leader) else { return (None, 0) };
        let later = session.lines.partition_point(|(since, _)| *since <= time_ns);
        (Some(session.user), later.checked_sub(1).map_or(0, |last| session.lines[last].1))
    }

    /// Forgets the lines before the one that was current at a time, and the sessions that had ended at the last call. The last samples
    /// of a session may come up to a span later.
    pub fn forget_before(&mut self, time_ns: u64) {
        let last = std::mem::replace(&mut self.forgotten_ns, time_ns);
        self.by_leader.retain(|_, session| session.ended_ns.is_none_or(|ended| ended > last));
        for session in self.by_leader.values_mut() {
            let later = session.lines.partition_point(|(since, _)| *since <= time_ns);
            session.lines.drain(..later.saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_at_the_line_that_was_sent_last() {
        let (mut driver, mut sessions) = Sessions::with_reporter();
        driver.session_began(3, 100);
        driver.line_sent(100, 7, 1000);
        driver.line_sent(100, 8, 2000);
        sessions.read_events();
        assert_eq!(sessions.user_and_command_at(100, 999), (Some(3), 0));
        assert_eq!(sessions.user_and_command_at(100, 1999), (Some(3), 7));
        sessions.forget_before(2500);
        assert_eq!(sessions.user_and_command_at(100, 2600), (Some(3), 8));
        assert_eq!(sessions.user_and_command_at(101, 2600), (None, 0));
    }

    #[test]
    fn a_session_is_forgotten_a_span_after_its_end() {
        let (mut driver, mut sessions) = Sessions::with_reporter();
        driver.session_began(3, 100);
        driver.line_sent(100, 7, 1000);
        driver.session_ended(100, 2500);
        sessions.read_events();
        sessions.forget_before(3000);
        assert_eq!(sessions.user_and_command_at(100, 2400), (Some(3), 7), "samples of its end may still come");
        sessions.forget_before(4000);
        assert_eq!((sessions.user_and_command_at(100, 2400), sessions.by_leader.len()), ((None, 0), 0));
    }

    #[test]
    fn a_profile_that_is_late_misses_nothing() {
        let (mut driver, mut sessions) = Sessions::with_reporter();
        driver.session_began(3, 100);
        let lines = 3 * RING_SLOTS as u64;
        (1..=lines).for_each(|number| driver.line_sent(100, number as u32, number));
        for more in 1..=4 {
            sessions.read_events();
            driver.line_sent(100, 0, lines + more); // the backlog goes with the next line
        }
        sessions.read_events();
        let complete = (1..=lines).all(|number| sessions.user_and_command_at(100, number).1 == number as u32);
        assert!(complete && driver.0.backlog() == 0);
    }
}
