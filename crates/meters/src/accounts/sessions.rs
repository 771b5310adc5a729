//! Users' sessions with their leading processes and typed commands. They give each sample and each fault its user and command.
//!
//! The driver's thread owns a [`SessionReporter`], and the profile's thread owns the [`Sessions`]. A ring between them carries each event.

use super::ring::{Message, Receiver, Sender, ring};
use loadgo_core::system::UserId;
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;

/// Number of events that the ring holds: those of a tenth of a second, the time between two readings, at 40,000 lines a second.
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

    /// The time of a line or an end; 0 for a beginning, which counts at once.
    fn at_ns(&self) -> u64 {
        match self {
            DriverReport::Began { .. } => 0,
            DriverReport::Line { at_ns, .. } | DriverReport::Ended { at_ns, .. } => *at_ns,
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

    /// Whether a profile's thread hears the reports. Without one, a caller need not read the clock.
    pub fn is_heard(&self) -> bool {
        self.0.has_receiver()
    }

    fn send(&mut self, event: DriverReport) {
        self.0.send(event.to_message());
    }
}

/// The known sessions, by the leader's process id.
///
/// The profile asks about samples in the order of their times. So a line waits in a queue until the samples reach its time, and a session
/// keeps only its present command.
#[derive(Debug)]
pub(crate) struct Sessions {
    events: Receiver,
    by_leader: HashMap<u32, ReportedSession>,
    /// Leaders that have been reported since the last [`Sessions::take_begun`].
    begun: Vec<u32>,
    /// Lines and ends that no sample has reached yet, in the order of time.
    pending: VecDeque<DriverReport>,
    /// The time of the last [`Sessions::forget_before`].
    forgotten_ns: u64,
}

#[derive(Debug)]
struct ReportedSession {
    user: UserId,
    /// The number of the command that was typed last; 0 for none.
    command: u32,
    ended_ns: Option<NonZeroU64>,
}

impl Sessions {
    /// The sessions of a driver, with the driver's end of the ring.
    pub fn with_reporter() -> (SessionReporter, Sessions) {
        let (sender, events) = ring(RING_SLOTS);
        (SessionReporter(sender), Sessions::new(events))
    }

    /// No sessions, and no driver.
    pub fn none() -> Sessions {
        Sessions::new(ring(1).1)
    }

    fn new(events: Receiver) -> Sessions {
        Sessions { events, by_leader: HashMap::new(), begun: Vec::new(), pending: VecDeque::new(), forgotten_ns: 0 }
    }

    /// Reads the driver's events since the last call.
    pub fn read_events(&mut self) {
        while let Some(message) = self.events.take() {
            match DriverReport::from_message(message) {
                DriverReport::Began { pid, user } => {
                    if self.by_leader.contains_key(&pid) {
                        self.advance_to(u64::MAX); // a pending event may be of an earlier session with the same id
                    }
                    self.by_leader.insert(pid, ReportedSession { user, command: 0, ended_ns: None });
                    self.begun.push(pid);
                }
                event => self.pending.push_back(event),
            }
        }
    }

    /// The leaders of the sessions that have begun since the last call.
    pub fn take_begun(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.begun)
    }

    /// Whether the process leads a session that has not ended.
    pub fn is_led_by(&self, pid: u32) -> bool {
        self.by_leader.get(&pid).is_some_and(|session| session.ended_ns.is_none())
    }

    /// Applies the lines and ends up to a time.
    fn advance_to(&mut self, time_ns: u64) {
        while let Some(event) = self.pending.front().copied().filter(|event| event.at_ns() <= time_ns) {
            self.pending.pop_front();
            match event {
                DriverReport::Began { .. } => {}
                DriverReport::Line { pid, command, .. } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.command = command;
                    }
                }
                DriverReport::Ended { pid, at_ns } => {
                    if let Some(session) = self.by_leader.get_mut(&pid) {
                        session.ended_ns = NonZeroU64::new(at_ns);
                    }
                }
            }
        }
    }

    /// The user and the command of the session of `leader` at a time. For a time before that of an earlier call, the command is that at
    /// the earlier call's time.
    pub fn user_and_command_at(&mut self, leader: u32, time_ns: u64) -> (Option<UserId>, u32) {
        self.advance_to(time_ns);
        self.by_leader.get(&leader).map_or((None, 0), |session| (Some(session.user), session.command))
    }

    /// Forgets the sessions that had ended at the last call. The last samples of a session may come up to a span later.
    pub fn forget_before(&mut self, time_ns: u64) {
        self.advance_to(time_ns);
        let last = std::mem::replace(&mut self.forgotten_ns, time_ns);
        self.by_leader.retain(|_, session| session.ended_ns.is_none_or(|ended| ended.get() > last));
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

    /// Log-ins of a week, some ten a minute; the process ids come round again, as the kernel's do.
    const LOG_INS_OF_A_WEEK: u32 = 100_000;
    const PROCESS_IDS: u32 = 32_768;

    #[test]
    fn a_week_of_log_ins_takes_no_more_memory_than_those_who_are_there() {
        let (mut driver, mut sessions) = Sessions::with_reporter();
        let (mut rooms, minute) = (Vec::new(), 60_000_000_000);
        for user in 1..=LOG_INS_OF_A_WEEK {
            let (pid, at) = (user % PROCESS_IDS + 2, u64::from(user) * minute / 10);
            driver.session_began(user, pid);
            (0..5).for_each(|line| driver.line_sent(pid, line, at + u64::from(line)));
            driver.session_ended(pid, at + 5);
            if user.is_multiple_of(100) {
                sessions.read_events();
                sessions.forget_before(at + 5);
                rooms.push((sessions.by_leader.capacity(), sessions.pending.capacity(), driver.0.backlog()));
            }
        }
        assert!(sessions.by_leader.len() <= 200, "{}", sessions.by_leader.len());
        assert!(rooms.iter().all(|(leaders, pending, backlog)| *leaders < 1000 && *pending < 2000 && *backlog == 0), "{rooms:?}");
    }

    #[test]
    fn a_process_id_that_is_used_again_leads_the_new_session_only() {
        let (mut driver, mut sessions) = Sessions::with_reporter();
        driver.session_began(3, 100);
        driver.line_sent(100, 7, 1000);
        driver.session_ended(100, 2000);
        driver.session_began(4, 100);
        sessions.read_events();
        assert_eq!(sessions.user_and_command_at(100, 2100), (Some(4), 0));
        sessions.forget_before(3000);
        sessions.forget_before(4000);
        assert_eq!(sessions.user_and_command_at(100, 4100), (Some(4), 0));
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
