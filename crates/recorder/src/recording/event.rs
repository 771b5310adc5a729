//! Events of a recorded session: keys, output, marks, sizes and the end, each with its instant.

use super::marks::PromptMark;
use loadgo_core::time::Instant;

/// An event of a person's session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The person typed these bytes.
    Keys {
        /// Instant at which the bytes were read.
        at: Instant,
        /// Bytes, as the keyboard sent them.
        bytes: Vec<u8>,
    },
    /// The person typed while the terminal's echo was off. The keys are not recorded.
    Hidden {
        /// Instant of the event.
        at: Instant,
        /// Whether the keys ended a line.
        entered: bool,
    },
    /// A program turned the terminal's echo off. What was typed since the command line may be a secret that came too early.
    EchoOff {
        /// Instant of the event.
        at: Instant,
    },
    /// The recording has no keys here, since they may be a secret.
    LeftOut {
        /// Instant of the event.
        at: Instant,
    },
    /// The system printed these bytes, marks taken out.
    Output {
        /// Instant at which the bytes were read.
        at: Instant,
        /// Bytes, as they were printed.
        bytes: Vec<u8>,
    },
    /// The system printed a mark, which says where a prompt begins or ends.
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
    /// This signal asked the recorder to stop; the shell was hung up.
    Stopped(i32),
    /// The person's own terminal went away; the shell was hung up.
    HungUp,
    /// A cast that does not say how its session ended.
    Unknown,
}

impl SessionEvent {
    /// Instant of the event.
    pub fn at(&self) -> Instant {
        match self {
            SessionEvent::Keys { at, .. }
            | SessionEvent::Hidden { at, .. }
            | SessionEvent::EchoOff { at }
            | SessionEvent::LeftOut { at }
            | SessionEvent::Output { at, .. }
            | SessionEvent::Mark { at, .. }
            | SessionEvent::Resize { at, .. }
            | SessionEvent::End { at, .. } => *at,
        }
    }
}
