//! Errors of a run folder, each with its remedy.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A run folder could not be made, written or read.
#[derive(Debug)]
pub enum Error {
    /// The folder is not empty.
    Exists(PathBuf),
    /// The folder holds no run, or one of another format.
    NotARun(PathBuf, String),
    /// The folder's run is still being written by another process.
    Running(PathBuf),
    /// The system refused an action, in words, on this file.
    Refused(&'static str, PathBuf, io::Error),
    /// The content of this file is not in the format; the reason in words.
    Damaged(PathBuf, String),
}

impl Error {
    /// The system's refusal of `doing` something (`"create"`, `"write"`, …) to `path`.
    pub(crate) fn refused(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Refused(doing, path.to_path_buf(), source)
    }

    /// A file that cannot be read, with the reader's message.
    pub(crate) fn damaged(path: &Path) -> impl Fn(String) -> Error {
        move |reason| Error::Damaged(path.to_path_buf(), reason)
    }
}

impl Error {
    /// The arguments of `loadgo.run` that the message names in backquotes.
    pub fn arguments(&self) -> &'static [&'static str] {
        match self {
            Error::Refused(..) => &["out"],
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exists(dir) => {
                write!(f, "{} is not empty, or holds a run already: name another folder", dir.display())
            }
            Error::NotARun(dir, reason) => write!(f, "{} is not a run's folder: {reason}", dir.display()),
            Error::Running(dir) => write!(f, "the run in {} has not ended: wait for it, or stop it", dir.display()),
            Error::Refused(doing, path, source) => {
                write!(f, "cannot {doing} {}: {source}; {}", path.display(), remedy(source))
            }
            Error::Damaged(path, reason) => write!(f, "{} is damaged: {reason}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Refused(_, _, source) => Some(source),
            _ => None,
        }
    }
}

/// The number of the refusal EMFILE, which has no kind of its own.
const TOO_MANY_FILES: i32 = 24;

/// The remedy for a refusal of the system.
fn remedy(refusal: &io::Error) -> &'static str {
    if refusal.raw_os_error() == Some(TOO_MANY_FILES) {
        return "raise the limit of open files of this process (ulimit -n)";
    }
    match refusal.kind() {
        io::ErrorKind::StorageFull => "make room on this disk, or put the run elsewhere with `out`",
        io::ErrorKind::QuotaExceeded => "your quota on this disk is used up: make room, or put the run elsewhere with `out`",
        io::ErrorKind::PermissionDenied => "put the run into a folder of your own with `out`, or get permission to write here",
        io::ErrorKind::ReadOnlyFilesystem => "this file system is read-only: put the run elsewhere with `out`",
        io::ErrorKind::NotADirectory => "a part of this path is a file: name another folder with `out`",
        io::ErrorKind::NotFound => "check the path",
        _ => "check the disk and the path, or put the run elsewhere with `out`",
    }
}

/// The result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;
