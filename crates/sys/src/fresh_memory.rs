//! Memory that is new from the kernel, page by page, and goes back to it when dropped.

use std::io;
use std::ptr::{self, NonNull};
use std::slice;

/// Zeroed words in pages of the smallest size, none of which the process has touched.
#[derive(Debug)]
pub struct FreshMemory {
    start: NonNull<u32>,
    words: usize,
}

impl FreshMemory {
    /// Maps `words` words.
    ///
    /// # Errors
    /// The kernel refuses: there is no room for so much.
    pub fn map(words: usize) -> io::Result<FreshMemory> {
        let (bytes, protection) = (words * size_of::<u32>(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping at a place of the kernel's choice touches none of our memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the range is the mapping above. A kernel without huge pages refuses, and has small ones anyway.
        unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
        Ok(FreshMemory { start: NonNull::new(start.cast()).expect("mmap gives a mapping or fails"), words })
    }

    /// All words.
    pub fn words(&mut self) -> &mut [u32] {
        // SAFETY: that number of words is mapped there, zeroed, and `self` is the only way to them.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

impl Drop for FreshMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference into it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * size_of::<u32>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_memory_is_zeroed_and_keeps_what_is_written() {
        let mut memory = FreshMemory::map(10_000).expect("there is room");
        assert!(memory.words().iter().all(|word| *word == 0));
        memory.words()[9_999] = 7;
        assert_eq!(memory.words()[9_999], 7);
    }

    #[test]
    fn more_than_there_are_addresses_is_an_error() {
        assert!(FreshMemory::map(usize::MAX / 8).is_err());
    }
}
