//! Reasons why a run cannot begin, or fails.

use loadgo_host::refusal::Refusal;
use loadgo_store::{Folder, has_rows};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// A reason why a run cannot begin, or fails.
#[derive(Debug)]
pub enum RunRefusal {
    /// This host, or the simulated machine, refuses what the run needs; one refusal or more.
    Refused(Vec<Refusal>),
    /// A disk, a kernel or a directory of this host has no room or no permission for the run, whatever it asks for.
    HostTrouble(Refusal),
    /// The run folder cannot be made or written.
    Folder(loadgo_store::Error),
    /// The run folder cannot be written any more. Its records up to then can be read.
    CutOff {
        /// The refusal of the folder.
        error: loadgo_store::Error,
        /// The run's folder.
        folder: PathBuf,
    },
    /// The caller failed with this reason in its callback for the progress.
    Caller(String),
    /// A thread of the run has panicked.
    Panicked {
        /// The thread, such as `the driver's thread`.
        thread: &'static str,
        /// The panic's message.
        message: String,
    },
    /// Records are missing because the writer has panicked, for these reasons.
    NotWhole(Vec<String>),
}

impl RunRefusal {
    /// The kernel refuses something that the driver needs.
    pub(crate) fn from_kernel(error: io::Error) -> RunRefusal {
        RunRefusal::HostTrouble(Refusal::new("the kernel refuses what the driver needs").because(error))
    }

    /// The list of things that a run makes outside its folder cannot be written.
    pub(crate) fn from_state(error: io::Error) -> RunRefusal {
        let directory = loadgo_host::leftovers::state_directory();
        let attempt = format!("the list of what the run makes cannot be kept in {}", directory.display());
        let remedy = "make that directory yours, or set XDG_RUNTIME_DIR";
        RunRefusal::HostTrouble(Refusal::new(attempt).because(error).with_remedy(remedy))
    }

    /// The arguments of `loadgo.run` that this concerns.
    pub fn arguments(&self) -> Vec<&'static str> {
        match self {
            RunRefusal::Refused(refusals) => refusals.iter().flat_map(Refusal::arguments).copied().collect(),
            RunRefusal::HostTrouble(refusal) => refusal.arguments().to_vec(),
            RunRefusal::Folder(error) | RunRefusal::CutOff { error, .. } => error.arguments().to_vec(),
            RunRefusal::Caller(_) | RunRefusal::Panicked { .. } | RunRefusal::NotWhole(_) => Vec::new(),
        }
    }
}

/// A run that failed, with the things that it could not undo.
#[derive(Debug)]
pub struct Failure {
    /// The reason.
    pub refusal: RunRefusal,
    /// Texts about things that stay behind on this host, each with its reason and its remedy.
    pub left_behind: Vec<String>,
}

impl RunRefusal {
    /// The same refusal; if it is the folder's, and some records are in `folder`, it says so.
    pub(crate) fn with_records_in(self, folder: Option<&Folder>) -> RunRefusal {
        match (self, folder) {
            (RunRefusal::Folder(error), Some(folder)) if has_rows(folder) => {
                RunRefusal::CutOff { error, folder: folder.dir().into() }
            }
            (refusal, _) => refusal,
        }
    }
}

impl From<RunRefusal> for Failure {
    fn from(refusal: RunRefusal) -> Failure {
        Failure { refusal, left_behind: Vec::new() }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        RunRefusal::from(refusal).into()
    }
}

impl From<loadgo_store::Error> for Failure {
    fn from(error: loadgo_store::Error) -> Failure {
        RunRefusal::from(error).into()
    }
}

impl From<loadgo_store::Error> for RunRefusal {
    fn from(error: loadgo_store::Error) -> RunRefusal {
        RunRefusal::Folder(error)
    }
}

impl From<Refusal> for RunRefusal {
    fn from(refusal: Refusal) -> RunRefusal {
        RunRefusal::Refused(vec![refusal])
    }
}

impl fmt::Display for RunRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunRefusal::Refused(refusals) => {
                let lines: Vec<_> = refusals.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
            RunRefusal::HostTrouble(refusal) => refusal.fmt(f),
            RunRefusal::Folder(error) => write!(f, "{error}"),
            RunRefusal::CutOff { error, folder } => {
                write!(f, "{error}. What was recorded up to then is kept: `loadgo report {}`", folder.display())
            }
            RunRefusal::Caller(reason) => write!(f, "its caller raised {reason}"),
            RunRefusal::Panicked { thread, message } => write!(f, "{thread} panicked: {message}"),
            RunRefusal::NotWhole(reasons) => write!(f, "records are missing: {}", reasons.join("; ")),
        }
    }
}
