//! Events of a session as a recorder sees them: keys, output, marks, each with its instant.

use super::marks::PromptMark;
use loadgo_core::time::Instant;

/// One thing that happened in a person's session, in the order in which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The person typed these bytes.
    Keys {
        /// Instant at which the bytes were read.
        at: Instant,
        /// Bytes, as the keyboard sent them.
        bytes: Vec<u8>,
    },
    /// The person typed while the terminal's echo was off; the keys are kept nowhere.
    Hidden {
        /// Instant of the event.
        at: Instant,
        /// Whether the keys ended a line.
        entered: bool,
    },
    /// The system printed these bytes, marks taken out.
    Output {
        /// Instant at which the bytes were read.
        at: Instant,
        /// Bytes, as they were printed.
        bytes: Vec<u8>,
    },
    /// A prompt told where it begins or ends.
    Mark {
        /// Instant at which the mark was read.
        at: Instant,
        /// The mark's content.
        mark: PromptMark,
    },
    /// The person's window has a new size.
    Resize {
        /// Instant of the event.
        at: Instant,
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// The session is over.
    End {
        /// Instant of the event.
        at: Instant,
        /// The way in which the session ended.
        ending: SessionEnding,
    },
}

/// How a recorded session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnding {
    /// The shell exited with this status.
    Exited(u8),
    /// The shell was killed by this signal.
    Killed(i32),
    /// Recording was told to stop by this signal; the shell was hung up.
    Stopped(i32),
    /// The person's own terminal went away; the shell was hung up.
    HungUp,
    /// The file does not say how the session ended.
    Unknown,
}

impl SessionEvent {
    /// Instant of the event.
    pub fn at(&self) -> Instant {
        match self {
            SessionEvent::Keys { at, .. }
            | SessionEvent::Hidden { at, .. }
            | SessionEvent::Output { at, .. }
            | SessionEvent::Mark { at, .. }
            | SessionEvent::Resize { at, .. }
            | SessionEvent::End { at, .. } => *at,
        }
    }
}
