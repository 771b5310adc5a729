//! Events of a session as a recorder sees them: keys, output, marks, each with its instant.

use super::marks::Mark;
use loadgo_core::time::Instant;

/// One thing that happened in a person's session, in the order in which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The person typed these bytes.
    Keys {
        /// When they were read.
        at: Instant,
        /// As the keyboard sent them.
        bytes: Vec<u8>,
    },
    /// The person typed while the terminal's echo was off: what, is not in the event, and nowhere else.
    Hidden {
        /// When.
        at: Instant,
        /// Whether the keys ended a line.
        entered: bool,
    },
    /// The system printed these bytes, marks taken out.
    Output {
        /// When they were read.
        at: Instant,
        /// As they were printed.
        bytes: Vec<u8>,
    },
    /// A prompt told where it begins or ends.
    Mark {
        /// When it was read.
        at: Instant,
        /// The mark's content.
        mark: Mark,
    },
    /// The person's window has a new size.
    Resize {
        /// When.
        at: Instant,
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// The session is over.
    End {
        /// When.
        at: Instant,
        /// How.
        ending: Ending,
    },
}

/// How a recorded session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The shell exited with this status.
    Exited(u8),
    /// The shell was killed by this signal.
    Killed(i32),
    /// Recording was told to stop by this signal; the shell was hung up.
    Stopped(i32),
    /// The person's own terminal went away; the shell was hung up.
    HungUp,
    /// A file that does not say.
    Unknown,
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> Instant {
        match self {
            Event::Keys { at, .. }
            | Event::Hidden { at, .. }
            | Event::Output { at, .. }
            | Event::Mark { at, .. }
            | Event::Resize { at, .. }
            | Event::End { at, .. } => *at,
        }
    }
}
