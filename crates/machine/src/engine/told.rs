//! Values that the engine returns to its caller: finished commands, progress of time, and held page frames.

use loadgo_core::system::{Usage, UserId};

/// An event that the engine reports to its caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EngineEvent {
    /// The user has a process that waits for a command.
    Attached {
        /// The user.
        user: UserId,
        /// The instant, in ns of the machine's time.
        at: u64,
    },
    /// The user's command has been answered.
    Ready {
        /// The user.
        user: UserId,
        /// The instant, in ns of the machine's time.
        at: u64,
        /// The command's result.
        answer: CommandResult,
    },
}

/// The result of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandResult {
    /// The resources that the command used.
    pub usage: Usage,
    /// When the first line came out.
    pub first_output: Option<u64>,
    /// Bytes of the lines that came out.
    pub bytes_out: u64,
    /// The command's exit status, where the machine has one; 130 when the command was abandoned.
    pub exit_status: Option<u8>,
}

/// The outcome of moving time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advance {
    /// An event for the caller has come.
    Event(EngineEvent),
    /// Many events of the machine have come, and none for the caller.
    NotYet,
    /// The requested instant has come. Without one, no event will ever come; [`super::Engine::trouble`] may say why.
    Nothing,
}

/// The holders of page frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// All frames.
    pub frames: u32,
    /// Frames that the supervisor holds for good.
    pub wired: u32,
    /// Free frames.
    pub free: u32,
    /// Frames held by each user's process, from user 1. With equal shares: the whole pages of the share.
    pub held: Vec<u32>,
}
