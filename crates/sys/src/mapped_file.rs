//! The pages of a file, mapped, and sent to a socket from where they are.
//!
//! Only the kernel reads the pages. So a file that shrinks meanwhile causes an error of the call (`EFAULT`) and no signal.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

/// A file's first bytes in this process's memory; unmapped when dropped.
pub struct MappedFile {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: what is mapped stays where it is until the drop, and no reference into it is ever given.
unsafe impl Send for MappedFile {}

impl MappedFile {
    /// Maps the first `bytes` of `file`, at least one.
    ///
    /// # Errors
    /// The kernel cannot map this file.
    pub fn map(file: BorrowedFd<'_>, bytes: usize) -> io::Result<MappedFile> {
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty file cannot be mapped"));
        }
        // SAFETY: a new mapping at a place of the kernel's choice touches none of our memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(MappedFile { start: NonNull::new(start.cast()).expect("mmap gives a mapping or fails"), bytes })
    }

    /// Sends up to `length` bytes at `offset` to the socket `onto`, with the `flags` of `send`. Returns how many the socket took, 0 behind
    /// the end of the file.
    ///
    /// # Errors
    /// The kernel's; `EFAULT` when the file has no such bytes any more.
    pub fn send(&self, onto: BorrowedFd<'_>, offset: usize, length: usize, flags: i32) -> io::Result<usize> {
        let (start, length) = self.piece(offset, length);
        // SAFETY: `length` bytes from `start` on are in the mapping, which lives as long as `self`; the kernel only reads.
        let sent = unsafe { libc::send(onto.as_raw_fd(), start.cast(), length, flags) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }

    /// The address of `offset`, and how many of `length` bytes from there on are mapped.
    pub(crate) fn piece(&self, offset: usize, length: usize) -> (*const u8, usize) {
        let offset = offset.min(self.bytes);
        // SAFETY: the address is in the mapping, or right behind it.
        (unsafe { self.start.as_ptr().add(offset) }, length.min(self.bytes - offset))
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_file_that_has_shrunk_is_an_error_and_no_signal() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[7; 8192]).expect("written");
        let mapped = MappedFile::map(file.as_fd(), 8192).expect("mapped");
        let (near, mut far) = UnixStream::pair().expect("a pair");
        assert_eq!(mapped.send(near.as_fd(), 8000, 500, 0).expect("written"), 192);
        let mut got = [0; 192];
        far.read_exact(&mut got).expect("it comes");
        assert_eq!(got, [7; 192]);
        file.set_len(0).expect("cut off");
        assert_eq!(mapped.send(near.as_fd(), 4096, 10, 0).expect_err("gone").raw_os_error(), Some(libc::EFAULT));
    }
}
