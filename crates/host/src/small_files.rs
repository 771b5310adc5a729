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

/// The number behind the first `label` of `text`.
pub(crate) fn number_after(text: &[u8], label: &[u8]) -> Option<u64> {
    let at = text.windows(label.len()).position(|window| window == label)?;
    number(&text[at + label.len()..])
}

/// The number in the line `name NUMBER` of `text`.
pub(crate) fn labelled(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_by_its_whole_name() {
        let text = "low 0\nhigh 1\nmax 71\noom 5\noom_kill 3\noom_group_kill 9\n";
        assert_eq!((labelled(text, "max"), labelled(text, "oom_kill"), labelled(text, "oom_group")), (Some(71), Some(3), None));
        assert_eq!(labelled("oom_kill_disable 0\nunder_oom 0\noom_kill 12\n", "oom_kill"), Some(12));
        assert_eq!(labelled("oom_kill_disable 0\nunder_oom 0\n", "oom_kill"), None, "an old kernel does not count them");
    }
}
