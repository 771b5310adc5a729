//! The processor time that the kernel has charged to a control group, in nanoseconds.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use loadgo_core::system::UserId;

use crate::hierarchy::Version;

/// Opens and reads the accounts of a run's groups; no allocation.
#[derive(Debug)]
pub struct Accounts {
    directory: OwnedFd,
    version: Version,
}

impl Accounts {
    /// The accounts below the run's group, open as `directory`.
    pub fn new(directory: OwnedFd, version: Version) -> Accounts {
        Accounts { directory, version }
    }

    /// The smallest step of an account.
    pub fn resolution_ns(&self) -> u64 {
        match self.version {
            Version::V1 => 1,
            Version::V2 => 1000,
        }
    }

    /// Opens the account of `user`, to be read often.
    pub fn open(&self, user: UserId) -> io::Result<OwnedFd> {
        let mut path = [0u8; 32];
        let name = self.file();
        write!(&mut path[..31], "u{user}/{name}")?;
        open_at(self.directory.as_raw_fd(), &path)
    }

    /// Reads an account that [`Accounts::open`] opened, in nanoseconds.
    pub fn read(&self, account: &OwnedFd) -> io::Result<u64> {
        let mut text = [0u8; 256];
        let length = read_at_start(account.as_raw_fd(), &mut text)?;
        self.parse(&text[..length]).ok_or_else(|| io::Error::other("an account without processor time"))
    }

    /// The account of `user`, through `open` or else opened for this once.
    pub fn read_user(&self, user: UserId, open: Option<&OwnedFd>) -> io::Result<u64> {
        match open {
            Some(account) => self.read(account),
            None => self.read(&self.open(user)?),
        }
    }

    /// What all users of the run have been charged, in nanoseconds.
    pub fn all(&self) -> io::Result<u64> {
        let mut path = [0u8; 32];
        write!(&mut path[..31], "{}", self.file())?;
        self.read(&open_at(self.directory.as_raw_fd(), &path)?)
    }

    fn file(&self) -> &'static str {
        match self.version {
            Version::V1 => "cpuacct.usage",
            Version::V2 => "cpu.stat",
        }
    }

    fn parse(&self, text: &[u8]) -> Option<u64> {
        match self.version {
            Version::V1 => number(text),
            Version::V2 => number_after(text, b"usage_usec ").map(|microseconds| microseconds * 1000),
        }
    }
}

/// The number with which `text` begins.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0)
        .then(|| text[..digits].iter().fold(0u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))))
}

fn number_after(text: &[u8], label: &[u8]) -> Option<u64> {
    let at = text.windows(label.len()).position(|window| window == label)?;
    number(&text[at + label.len()..])
}

/// Opens for reading the file `path` (ended by a zero) beneath the open directory `directory`.
pub(crate) fn open_at(directory: RawFd, path: &[u8]) -> io::Result<OwnedFd> {
    let path = CStr::from_bytes_until_nul(path).map_err(io::Error::other)?;
    // SAFETY: the path ends with a zero and lives during the call.
    let fd = unsafe { libc::openat(directory, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    match fd {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new and nobody else's.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

/// Reads a small file of the kernel's from its beginning; the bytes read.
pub(crate) fn read_at_start(fd: RawFd, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is ours and as long as we say.
    match unsafe { libc::pread(fd, into.as_mut_ptr().cast(), into.len(), 0) } {
        -1 => Err(io::Error::last_os_error()),
        length => Ok(length as usize),
    }
}

/// Opens a directory, to open files beneath it.
pub(crate) fn open_directory(path: &std::path::Path) -> io::Result<OwnedFd> {
    Ok(OwnedFd::from(File::open(path)?))
}
