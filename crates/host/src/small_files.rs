//! Small files of the kernel's, opened and read again and again without allocation.

use rustix::fs::{Mode, OFlags, openat};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The number with which `text` begins.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0)
        .then(|| text[..digits].iter().fold(0u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))))
}

/// Opens for reading the file `path` (ended by a zero) beneath the open directory `directory`.
pub(crate) fn open_at(directory: &OwnedFd, path: &[u8]) -> io::Result<OwnedFd> {
    let path = CStr::from_bytes_until_nul(path).map_err(io::Error::other)?;
    Ok(openat(directory, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Reads a small file of the kernel's from its beginning; the bytes read.
pub(crate) fn read_at_start(file: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::pread(file, into, 0)?)
}

/// Opens a directory, to open files beneath it.
pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(OwnedFd::from(File::open(path)?))
}
