//! The interface to the system under test: a driver's requests, and the system's events.
//!
//! A live host and a simulated machine both implement [`System`], which owns the clock. The driver asks [`System::now`] for
//! the time, and lets it pass with [`System::wait`]. A host then sleeps; a simulated machine moves its calendar.

use crate::load::Phase;
use crate::script::ReadyRule;
use crate::time::Instant;

/// A user's number, from 1.
pub type UserId = u32;

/// A line that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct SentLine<'a> {
    /// The keys that are typed last, with the final newline. Earlier keys of the line went through [`System::keys`].
    pub keys: &'a [u8],
    /// The number of the line in the script, from 1.
    pub line: u32,
    /// The command's name in the report. A simulated machine looks up the command's work by it.
    pub command: &'a str,
    /// The sign that the system is ready again.
    pub until: &'a ReadyRule,
}

/// Resources that all processes of the user took for one interaction. `None` means not measured, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in the users' programs.
    pub cpu_user_ns: Option<u64>,
    /// Processor time in the kernel for these programs.
    pub cpu_system_ns: Option<u64>,
    /// Page faults without I/O.
    pub faults_minor: Option<u64>,
    /// Page faults that waited for a device.
    pub faults_major: Option<u64>,
    /// Time in which a process was ready to run and waited for a processor.
    pub ready_wait_ns: Option<u64>,
    /// Time in which a process waited for a page (swap-in, reclaim, thrashing).
    pub paging_wait_ns: Option<u64>,
    /// Time in which a process waited for block I/O.
    pub io_wait_ns: Option<u64>,
}

/// An event on the system.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The user's session has printed its first prompt.
    LoggedIn {
        /// The user's number.
        user: UserId,
        /// When.
        at: Instant,
    },
    /// The system could not start a session for the user.
    Refused {
        /// The user's number.
        user: UserId,
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
        /// A change that would help; empty if none is known.
        remedy: &'static str,
    },
    /// The system is ready for the user's next line.
    Ready {
        /// The user's number.
        user: UserId,
        /// When.
        at: Instant,
        /// The answer to the line before.
        response: Response,
    },
    /// The session has ended, by itself or after a log-out.
    Ended {
        /// The user's number.
        user: UserId,
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
        /// The answer to the current line so far.
        response: Response,
    },
    /// The run is to stop: an interrupt or a signal asked for that.
    Stop {
        /// When.
        at: Instant,
    },
    /// Users wait, and nothing more can happen on the system.
    Stuck {
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
    },
}

/// The system's answer to a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// When the first byte after the echo was printed.
    pub first_output: Option<Instant>,
    /// Bytes of output, without the echo, the prompt and its mark.
    pub bytes_out: u64,
    /// The command's exit status; `None` if the prompt does not have it.
    pub exit_status: Option<u8>,
    /// False if only silence was the sign that the system is ready.
    pub confirmed: bool,
    /// Resources that the line took.
    pub usage: Usage,
}

/// A system on which users log in and type.
pub trait System {
    /// The time by the system's clock.
    fn now(&self) -> Instant;

    /// Begins to log `user` in; [`Event::LoggedIn`] or [`Event::Refused`] follows.
    fn log_in(&mut self, user: UserId);

    /// Types keys that do not end a line.
    fn keys(&mut self, user: UserId, keys: &[u8]);

    /// Types the end of a line, and returns when it was sent. [`Event::Ready`] or [`Event::Ended`] follows.
    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant;

    /// Types `keys`, which end the user's session, and returns when they were sent. [`Event::Ended`] follows.
    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant;

    /// Tells the system that the run has entered `phase`. A system that meters itself ends its span here.
    fn phase(&mut self, _phase: Phase) {}

    /// Sends the interrupt key, because a line took too long. Returns the answer to the line so far, without usage.
    /// [`Event::Ready`] follows if the command has ended.
    fn interrupt(&mut self, user: UserId) -> Response;

    /// Ends the user's session at once. No event follows.
    fn hang_up(&mut self, user: UserId);

    /// Lets time pass until an event or the instant `until`, and adds the events to `events`.
    ///
    /// It may return without events before `until`. With `None`, it waits for an event.
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>);
}
