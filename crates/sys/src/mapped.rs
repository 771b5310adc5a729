//! Memory shared with kernel programs: an array map (`BPF_F_MMAPABLE`) that is read and written without system calls.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::AtomicU64;

/// An array map in this process's memory, as words; unmapped when dropped.
pub struct MappedWords {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: what is mapped stays where it is until the drop, and is only reached as atomics.
unsafe impl Send for MappedWords {}
// SAFETY: as above.
unsafe impl Sync for MappedWords {}

impl MappedWords {
    /// Maps the first `bytes` (a multiple of 8) of the map `fd` for reading only.
    ///
    /// # Errors
    /// The kernel refuses: the map is shorter, or was not made to be mapped.
    pub fn for_reading(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<MappedWords> {
        map(fd, bytes, libc::PROT_READ)
    }

    /// Maps the first `bytes` (a multiple of 8) of the map `fd` for reading and writing.
    ///
    /// # Errors
    /// As with [`MappedWords::for_reading`].
    pub fn for_writing(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<MappedWords> {
        map(fd, bytes, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// All mapped words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: that number of words is mapped there as long as `self` lives.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for MappedWords {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference into it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}

fn map(fd: BorrowedFd<'_>, bytes: usize, protection: i32) -> io::Result<MappedWords> {
    assert!(bytes > 0 && bytes.is_multiple_of(8), "words are mapped, and at least one");
    // SAFETY: a new mapping at a place of the kernel's choice touches none of our memory.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = NonNull::new(start.cast()).expect("mmap gives a mapping or fails");
    Ok(MappedWords { start, words: bytes / 8 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn what_one_mapping_writes_another_reads() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let (ours, theirs) =
            (MappedWords::for_writing(file.as_fd(), 64).unwrap(), MappedWords::for_reading(file.as_fd(), 64).unwrap());
        ours.words()[7].store(42, Relaxed);
        assert_eq!(theirs.words().iter().map(|word| word.load(Relaxed)).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 0, 42]);
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error() {
        let (reader, _writer) = io::pipe().unwrap();
        assert!(MappedWords::for_reading(reader.as_fd(), 64).is_err());
    }
}
