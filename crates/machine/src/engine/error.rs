//! Reasons why a machine cannot be simulated, or not any further.

use loadgo_core::system::UserId;
use std::fmt;

/// The reason why a machine cannot be simulated, or not any further. Its text says what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The description of the machine cannot work: the mistake, and what would help.
    Impossible(String),
    /// The machine has no load of its own.
    NoLoad,
    /// A user's number is 0, or over the most.
    UserNumber {
        /// The user.
        user: UserId,
        /// The largest number of a user.
        most: usize,
    },
    /// The system table has no room for one more user.
    TableFull {
        /// Entries of the table.
        entries: u32,
        /// Entries that a user needs.
        per_user: u32,
    },
    /// Users give commands without end at one instant.
    NoTimePasses,
    /// No event is to come.
    NothingToCome,
    /// The machine's time would pass its last instant.
    TimeLimit,
    /// A command works for longer than shared processors can account for.
    LongCommand,
    /// More users of an open load are on the machine than fit.
    TooManyUsers {
        /// The load's name.
        load: String,
        /// The largest number of users of open loads.
        most: usize,
    },
    /// A command asks for more of something at once than a run can carry out.
    TooMany {
        /// The command's name.
        command: String,
        /// The kind of thing that it asks for.
        what: &'static str,
        /// The largest number at once.
        most: u64,
    },
}

impl EngineError {
    pub(super) fn impossible(message: impl Into<String>) -> EngineError {
        EngineError::Impossible(message.into())
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Impossible(message) => out.write_str(message),
            EngineError::NoLoad => {
                write!(out, "the machine has no load of its own: give it a [[load]], or run a script on it")
            }
            EngineError::UserNumber { user, most } => write!(out, "user {user} is not between 1 and {most}"),
            EngineError::TableFull { entries, per_user } => {
                write!(out, "the system table is full: of its {entries} entries a user needs {per_user}")
            }
            EngineError::NoTimePasses => {
                write!(out, "users give commands without end and no time passes: give them a think time, or their commands work")
            }
            EngineError::NothingToCome => {
                write!(out, "nothing can happen any more: nobody thinks, works or waits for a device")
            }
            EngineError::TimeLimit => write!(
                out,
                "the machine's time would pass 292 years before anything else happens: check `speed`, `cpu`, `think`, \
                 `arrivals` and the stores' times"
            ),
            EngineError::LongCommand => write!(
                out,
                "a command works for more than 104 days at one go, and that cannot be shared out: check `speed` and `cpu`, or \
                 use a discipline with a quantum"
            ),
            EngineError::TooManyUsers { load, most } => write!(
                out,
                "{most} users are on the machine at once, the last of load {load:?}: they come faster than it can \
                 answer; lower `arrivals`, or ask for fewer interactions"
            ),
            EngineError::TooMany { command, what, most } => write!(
                out,
                "command {command:?} asks for more than {most} {what} at once, the most that a command may have: lower \
                 their number, or give their law an upper bound"
            ),
        }
    }
}

impl std::error::Error for EngineError {}
