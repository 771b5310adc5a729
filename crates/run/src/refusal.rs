//! Why a run cannot begin, or came to nothing.

use std::fmt;
use std::io;

/// Why a run cannot begin, or came to nothing.
#[derive(Debug)]
pub enum Refusal {
    /// The system, in words with the remedy.
    Host(String),
    /// The run folder.
    Folder(loadgo_store::Error),
    /// The caller failed while it was told how the run stood.
    Caller(String),
    /// A mistake of ours.
    Broken(String),
}

impl Refusal {
    pub(crate) fn from_kernel(reason: io::Error) -> Refusal {
        Refusal::Host(format!("the kernel refuses what the driver needs: {reason}"))
    }

    pub(crate) fn from_state(reason: io::Error) -> Refusal {
        let directory = loadgo_host::leftovers::state_directory();
        Refusal::Host(format!(
            "the list of what the run makes cannot be kept in {}: {reason}; make that directory yours, or set XDG_RUNTIME_DIR",
            directory.display()
        ))
    }
}

/// A run that came to nothing, and what it could not undo.
#[derive(Debug)]
pub struct Failure {
    /// Why it came to nothing.
    pub refusal: Refusal,
    /// What stays behind on this host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure { refusal, left_behind: Vec::new() }
    }
}

impl From<loadgo_store::Error> for Failure {
    fn from(error: loadgo_store::Error) -> Failure {
        Refusal::from(error).into()
    }
}

impl From<loadgo_store::Error> for Refusal {
    fn from(error: loadgo_store::Error) -> Refusal {
        Refusal::Folder(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Host(words) | Refusal::Broken(words) => f.write_str(words),
            Refusal::Caller(reason) => write!(f, "its caller raised {reason}"),
            Refusal::Folder(error) => write!(f, "{error}"),
        }
    }
}
