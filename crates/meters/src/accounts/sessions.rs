//! Which process leads whose session, and which command was typed there when: told by the driver, asked about samples and faults.
//!
//! The driver's thread owns [`Told`], the profile's thread [`Sessions`]; a ring between them carries each event.

use super::ring::{Message, Receiver, Sender, ring};
use loadgo_core::system::UserId;
use std::collections::HashMap;

/// Events that fit between two looks of the profile's thread, a tenth of a second apart, at 40,000 lines a second.
const RING_SLOTS: usize = 4096;

/// What happens to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A user's session began: the process `pid` with all its descendants.
    Began { pid: u32, user: UserId },
    /// A line of `command` (0: of none) was typed at `at_ns` of CLOCK_MONOTONIC.
    Line { pid: u32, command: u32, at_ns: u64 },
    /// The session was over at `at_ns`.
    Ended { pid: u32, at_ns: u64 },
}

impl Event {
    fn to_message(self) -> Message {
        match self {
            Event::Began { pid, user } => [1 << 32 | u64::from(pid), user.into(), 0],
            Event::Line { pid, command, at_ns } => [2 << 32 | u64::from(pid), command.into(), at_ns],
            Event::Ended { pid, at_ns } => [3 << 32 | u64::from(pid), 0, at_ns],
        }
    }

    fn of_message([head, number, at_ns]: Message) -> Event {
        let (pid, number) = (head as u32, number as u32);
        match head >> 32 {
            1 => Event::Began { pid, user: number },
            2 => Event::Line { pid, command: number, at_ns },
            _ => Event::Ended { pid, at_ns },
        }
    }
}

/// The driver's end: tells what happens to sessions, and never waits.
#[derive(Debug)]
pub(crate) struct Told(Sender);

impl Told {
    /// The user's session is the process `pid` with all its descendants.
    pub fn began(&mut self, user: UserId, pid: u32) {
        self.tell(Event::Began { pid, user });
    }

    /// In the session that `pid` leads, a line of `command` (0: of none) was typed at `at_ns` of CLOCK_MONOTONIC.
    pub fn line(&mut self, pid: u32, command: u32, at_ns: u64) {
        self.tell(Event::Line { pid, command, at_ns });
    }

    /// The session that `pid` led was over at `at_ns`.
    pub fn ended(&mut self, pid: u32, at_ns: u64) {
        self.tell(Event::Ended { pid, at_ns });
    }

    fn tell(&mut self, event: Event) {
        self.0.send(event.to_message());
    }
}

/// The sessions as far as they are known, by their leader's process id.
#[derive(Debug)]
pub(crate) struct Sessions {
    events: Receiver,
    by_leader: HashMap<u32, Session>,
    /// The time of the last [`Sessions::forget_before`].
    forgotten_ns: u64,
}

#[derive(Debug)]
struct Session {
    user: UserId,
    /// Since when (CLOCK_MONOTONIC) which command (0: none), in order.
    lines: Vec<(u64, u32)>,
    ended_ns: Option<u64>,
}

impl Sessions {
    /// Sessions that a driver tells of.
    pub fn told() -> (Told, Sessions) {
        let (sender, events) = ring(RING_SLOTS);
        (Told(sender), Sessions { events, by_leader: HashMap::new(), forgotten_ns: 0 })
    }

    /// No sessions: nobody tells of any.
    pub fn none() -> Sessions {
        Sessions { events: ring(1).1, by_leader: HashMap::new(), forgotten_ns: 0 }
    }

    /// Takes in what the driver has told since the last call.
    pub fn learn(&mut self) {
        while let Some(message) = self.events.take() {
            match Event::of_message(message) {
                Event::Began { pid, user } => {
                    self.by_leader.insert(pid, Session { user, lines: Vec::new(), ended_ns: None });
                }
                Event::Line { pid, command, at_ns } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.lines.push((at_ns, command));
                    }
                }
                Event::Ended { pid, at_ns } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.ended_ns = Some(at_ns);
                    }
                }
            }
        }
    }

    /// The user and the command of the session that `leader` began, at a time.
    pub fn at(&self, leader: u32, time_ns: u64) -> (Option<UserId>, u32) {
        let Some(session) = self.by_leader.get(&leader) else { return (None, 0) };
        let later = session.lines.partition_point(|(since, _)| *since <= time_ns);
        (Some(session.user), later.checked_sub(1).map_or(0, |last| session.lines[last].1))
    }

    /// Forgets all lines that were over before a time, and the sessions that were over at the last call: their last samples
    /// may come up to a span later.
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
        let (mut driver, mut sessions) = Sessions::told();
        driver.began(3, 100);
        driver.line(100, 7, 1000);
        driver.line(100, 8, 2000);
        sessions.learn();
        assert_eq!(sessions.at(100, 999), (Some(3), 0));
        assert_eq!(sessions.at(100, 1999), (Some(3), 7));
        sessions.forget_before(2500);
        assert_eq!(sessions.at(100, 2600), (Some(3), 8));
        assert_eq!(sessions.at(101, 2600), (None, 0));
    }

    #[test]
    fn a_session_is_forgotten_a_span_after_its_end() {
        let (mut driver, mut sessions) = Sessions::told();
        driver.began(3, 100);
        driver.line(100, 7, 1000);
        driver.ended(100, 2500);
        sessions.learn();
        sessions.forget_before(3000);
        assert_eq!(sessions.at(100, 2400), (Some(3), 7), "samples of its end may still come");
        sessions.forget_before(4000);
        assert_eq!((sessions.at(100, 2400), sessions.by_leader.len()), ((None, 0), 0));
    }

    #[test]
    fn a_profile_that_is_late_misses_nothing() {
        let (mut driver, mut sessions) = Sessions::told();
        driver.began(3, 100);
        let lines = 3 * RING_SLOTS as u64;
        (1..=lines).for_each(|number| driver.line(100, number as u32, number));
        for more in 1..=4 {
            sessions.learn();
            driver.line(100, 0, lines + more); // the backlog goes with the next line
        }
        sessions.learn();
        let known = (1..=lines).all(|number| sessions.at(100, number).1 == number as u32);
        assert!(known && driver.0.backlog() == 0);
    }
}
