//! The door to the system under test: what a driver may ask of it, and what it tells.
//!
//! A live host and a simulated machine both stand behind [`System`]. It owns the clock: the driver asks [`System::now`],
//! and [`System::wait`] lets time pass until something happens or the deadline comes, on a host by sleeping, on a
//! simulated machine by moving its calendar.

use crate::load::Phase;
use crate::script::ReadyRule;
use crate::time::Instant;

/// A user's number, from 1.
pub type UserId = u32;

/// A line as it is sent.
#[derive(Clone, Copy, Debug)]
pub struct SentLine<'a> {
    /// What is typed last, with the final newline; keys typed before it went through [`System::keys`].
    pub keys: &'a [u8],
    /// The number of the line in the script, from 1.
    pub line: u32,
    /// Its row in the report; a simulated machine looks up the command's needs by it.
    pub command: &'a str,
    /// How one knows that the system is ready again.
    pub until: &'a ReadyRule,
}

/// What the system used for an interaction, all processes of the user together; `None` is *not measured*, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in the users' programs.
    pub cpu_user_ns: Option<u64>,
    /// Processor time in the system on their behalf.
    pub cpu_system_ns: Option<u64>,
    /// Page faults without I/O.
    pub faults_minor: Option<u64>,
    /// Page faults that waited for a device.
    pub faults_major: Option<u64>,
    /// Ready to run, and waiting for a processor.
    pub ready_wait_ns: Option<u64>,
    /// Waiting for a page (swap-in, reclaim, thrashing).
    pub paging_wait_ns: Option<u64>,
    /// Waiting for block I/O.
    pub io_wait_ns: Option<u64>,
}

/// Something that happened on the system.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The user's session shows its first prompt.
    LoggedIn {
        /// Whose.
        user: UserId,
        /// When.
        at: Instant,
    },
    /// The user's session could not be had.
    Refused {
        /// Whose.
        user: UserId,
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
    },
    /// The system is ready for the user's next line.
    Ready {
        /// Whose.
        user: UserId,
        /// When.
        at: Instant,
        /// How it answered the line before.
        response: Response,
    },
    /// The session has ended, by itself or after a log-out.
    Ended {
        /// Whose.
        user: UserId,
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
        /// What was answered to the line in hand until then.
        response: Response,
    },
    /// Somebody asked for the run to stop (an interrupt, a signal).
    Stop {
        /// When.
        at: Instant,
    },
    /// Nothing will ever happen on the system again, though users wait.
    Stuck {
        /// When.
        at: Instant,
        /// Why, in words.
        reason: String,
    },
}

/// How the system answered a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// When the first byte after the echo came.
    pub first_output: Option<Instant>,
    /// Bytes of output, without the echo, the prompt and its mark.
    pub bytes_out: u64,
    /// The command's exit status, where the prompt tells it.
    pub exit_status: Option<u8>,
    /// False when only silence said that the system is ready.
    pub confirmed: bool,
    /// What it used.
    pub usage: Usage,
}

/// A system that users can be logged in to.
pub trait System {
    /// The present moment of the system's clock.
    fn now(&self) -> Instant;

    /// Begins to log `user` in; [`Event::LoggedIn`] or [`Event::Refused`] follows.
    fn log_in(&mut self, user: UserId);

    /// Types keys that do not end a line.
    fn keys(&mut self, user: UserId, keys: &[u8]);

    /// Types the end of a line; the instant at which it was sent. [`Event::Ready`] or [`Event::Ended`] follows.
    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant;

    /// Types `keys`, which end the user's session; the instant at which they were sent. [`Event::Ended`] follows.
    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant;

    /// The run has entered `phase`: a system that meters itself ends its span here.
    fn phase(&mut self, _phase: Phase) {}

    /// Sends the interrupt key: the user gives up on a line. A later [`Event::Ready`] says that it worked.
    fn interrupt(&mut self, user: UserId);

    /// Ends the user's session at once, whatever it does; no event follows.
    fn hang_up(&mut self, user: UserId);

    /// Lets time pass until something happens or `until` has come (`None`: until something happens), and adds what
    /// happened to `events`. It may return without events before `until`.
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>);
}
