//! The interface to the system under test: a driver's requests, and the system's events.
//!
//! A live host and a simulated machine both implement [`System`], which owns the clock. The driver asks [`System::now`] for
//! the time, and lets it pass with [`System::wait`]. A host then sleeps; a simulated machine moves its calendar.

use crate::load::Phase;
use crate::script::{ReadyRule, TypedForm};
use crate::time::{Instant, Span};

/// A user's number, from 1.
pub type UserId = u32;

/// A point of a run at which a system may hold its driver back, so that several drivers go on together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Before the first log-in of a closed load.
    LogIns,
    /// Before the first line: all users of a closed load are logged in, and in an open load the first has not arrived.
    Lines,
}

/// A line that is being sent.
#[derive(Clone, Copy, Debug)]
pub struct SentLine<'a> {
    /// The keys that are typed last, with the final newline of a line. Earlier keys went through [`System::keys`].
    pub keys: &'a [u8],
    /// Whether this is a line, or keys for a program that fills the screen.
    pub form: TypedForm,
    /// Whether more keys of the same line follow. Then what the screen is promised to show at the line's end is not awaited yet.
    pub has_more: bool,
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
    /// Time for which the user's own processor quota was used up, summed over processors. `None` without such a quota.
    pub throttled_ns: Option<u64>,
}

impl Usage {
    /// The values that are measured wherever processes run, with the names of their columns. Quotas are of this host's users.
    pub fn by_column(&self) -> [(&'static str, Option<u64>); 7] {
        let Usage { cpu_user_ns, cpu_system_ns, faults_minor, faults_major, ready_wait_ns, paging_wait_ns, io_wait_ns, .. } =
            *self;
        [
            ("cpu_user_ns", cpu_user_ns),
            ("cpu_system_ns", cpu_system_ns),
            ("faults_minor", faults_minor),
            ("faults_major", faults_major),
            ("ready_wait_ns", ready_wait_ns),
            ("paging_wait_ns", paging_wait_ns),
            ("io_wait_ns", io_wait_ns),
        ]
    }
}

/// The processors of a system, and the clock that measures the users' time on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorClock {
    /// Number of processors that the users' programs may run on.
    pub processors: u32,
    /// The smallest step of the clock.
    pub step_ns: u64,
}

impl ProcessorClock {
    /// Processor time of `usage` beyond what all processors can give in `span`; `None` if the usage was not measured.
    ///
    /// Each of the two readings may be a step of the clock off, so two steps are allowed.
    pub fn excess_ns(self, usage: &Usage, span: Span) -> Option<u64> {
        let used_ns = usage.cpu_user_ns? + usage.cpu_system_ns?;
        let most_ns = span.0.saturating_mul(u64::from(self.processors)).saturating_add(2 * self.step_ns);
        Some(used_ns.saturating_sub(most_ns))
    }
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
        /// When. After a line that silence ends, when its last output came; where the screen settled, when it last changed.
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
    /// The driver may pass a barrier that [`System::reach`] has not opened at once.
    Opened {
        /// The barrier.
        barrier: Barrier,
        /// When. Users who begin at it have seen their prompts at this instant.
        at: Instant,
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

impl Event {
    /// The user whom the event is about; `None` if it is about the run.
    pub fn user(&self) -> Option<UserId> {
        match self {
            Event::LoggedIn { user, .. }
            | Event::Refused { user, .. }
            | Event::Ready { user, .. }
            | Event::Ended { user, .. } => Some(*user),
            Event::Opened { .. } | Event::Stop { .. } | Event::Stuck { .. } => None,
        }
    }
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
    /// When the user could know that the screen has settled; `None` where another sign than the screen ended the line.
    pub settled: Option<Instant>,
    /// True if keys changed nothing on the screen, so that it is not known when the program had taken them.
    pub is_unseen: bool,
    /// True if the shell said that it cannot start a process, and so the awaited program never came.
    pub is_unstarted: bool,
    /// Time that the user's shell measured from the reading of the line to its prompt; `None` if it measured none.
    pub there_ns: Option<u64>,
    /// Resources that the line took.
    pub usage: Usage,
}

/// A system on which users log in and type.
pub trait System {
    /// The time by the system's clock.
    fn now(&self) -> Instant;

    /// Says that the driver is at `barrier`. Returns when it may pass; `None`: [`Event::Opened`] follows.
    fn reach(&mut self, _barrier: Barrier) -> Option<Instant> {
        Some(self.now())
    }

    /// Begins to log `user` in; [`Event::LoggedIn`] or [`Event::Refused`] follows.
    fn log_in(&mut self, user: UserId);

    /// Says which line of the script `user` types next. The user has the prompt already, and thinks before it.
    fn next_line(&mut self, _user: UserId, _line: u32) {}

    /// Types keys that do not end a line, or a burst of keys.
    fn keys(&mut self, user: UserId, keys: &[u8], form: TypedForm);

    /// The processors, and the clock of their time; `None` if one of them is not known.
    fn processor_clock(&self) -> Option<ProcessorClock> {
        None
    }

    /// Types the end of a line, and returns when it was sent. [`Event::Ready`] or [`Event::Ended`] follows.
    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant;

    /// Resources that the user's processes took between the prompt and the sending of the last line, if it was typed key by key.
    ///
    /// Without values if lines are sent at once: what was taken then is part of the line's own usage.
    fn typing_usage(&self, _user: UserId) -> Usage {
        Usage::default()
    }

    /// Types `keys`, which end the user's session, and returns when they were sent. [`Event::Ended`] follows.
    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant;

    /// Tells the system that the run has entered `phase`. A system that meters itself ends its span here.
    fn phase(&mut self, _phase: Phase) {}

    /// Whether the system is ready for `user`, although a [`System::wait`] still has to return the event.
    ///
    /// A system that takes time to complete an answer says so here, because the user's time limit ends with the answer.
    fn is_ready(&self, _user: UserId) -> bool {
        false
    }

    /// Sends the interrupt key, because a line took too long. Returns the answer to the line so far, without usage.
    /// [`Event::Ready`] follows if the command has ended.
    fn interrupt(&mut self, user: UserId) -> Response;

    /// The last output since the current line was sent, at most some kilobytes; `None` where the system keeps none.
    fn last_screen(&self, _user: UserId) -> Option<String> {
        None
    }

    /// Ends the user's session at once. No event of the user follows from a later [`System::wait`].
    fn hang_up(&mut self, user: UserId);

    /// Lets time pass until an event or the instant `until`, and adds the events to `events`, in the order in which they happened.
    ///
    /// It may return without events before `until`. With `None`, it waits for an event.
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_beyond_the_processors_time_is_an_excess_and_a_step_of_the_clock_is_none() {
        let used = |cpu_ns| Usage { cpu_user_ns: Some(cpu_ns), cpu_system_ns: Some(30), ..Usage::default() };
        let (exact, ticks) = (ProcessorClock { processors: 2, step_ns: 0 }, ProcessorClock { processors: 2, step_ns: 10 });
        assert_eq!(exact.excess_ns(&used(170), Span(100)), Some(0));
        assert_eq!(exact.excess_ns(&used(171), Span(100)), Some(1));
        assert_eq!(ticks.excess_ns(&used(190), Span(100)), Some(0));
        assert_eq!(ticks.excess_ns(&used(195), Span(100)), Some(5));
        assert_eq!(exact.excess_ns(&Usage::default(), Span(100)), None, "what was not measured is not known to be possible");
    }
}
