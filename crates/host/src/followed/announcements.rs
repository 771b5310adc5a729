//! The directory in which sessions announce themselves: each makes a file there, and waits until the file is gone.
//!
//! The file's name says all: the user's number, the shell's process id, and its process id namespace.

use loadgo_core::system::UserId;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, unlinkat};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, fchown};
use std::path::Path;

/// Most announcements that are read at a time; the others follow with the next reading.
const MOST_ANNOUNCEMENTS: usize = 256;

/// The directory, open: what is later put at its path does not count.
#[derive(Debug)]
pub(crate) struct Announcements {
    directory: OwnedFd,
}

/// A session that waits to be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    pub user: UserId,
    /// The process id of the session's shell.
    pub pid: u32,
    pub pid_namespace: String,
    name: String,
}

impl Announcements {
    /// Makes the directory at `path`, which `owner` alone can write and enter.
    pub(crate) fn make(path: &Path, owner: u32) -> io::Result<Announcements> {
        DirBuilder::new().mode(0o700).create(path)?;
        let directory = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        if owner != rustix::process::geteuid().as_raw() {
            fchown(&directory, Some(owner), None)?;
        }
        Ok(Announcements { directory })
    }

    /// The sessions that wait.
    pub(crate) fn waiting(&self) -> Vec<Announced> {
        let Ok(entries) = Dir::read_from(&self.directory) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
        names.filter_map(Announced::parse).take(MOST_ANNOUNCEMENTS).collect()
    }

    /// Lets the session go on.
    pub(crate) fn answer(&self, announced: &Announced) {
        let _ = unlinkat(&self.directory, announced.name.as_str(), AtFlags::empty());
    }
}

impl Announced {
    /// Parses a file's name; `None` if it is no announcement.
    fn parse(name: String) -> Option<Announced> {
        let mut words = name.splitn(3, '.');
        let (user, pid) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let pid_namespace = words.next()?.to_owned();
        Some(Announced { user, pid, pid_namespace, name })
    }
}
