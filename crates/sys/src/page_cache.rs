//! The page cache: how much of a file is in memory, and how its pages are dropped.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::fs::{Advice, fadvise, fdatasync};

/// Drops the file's pages from memory, except those that a process has mapped. Pages not yet on the device are written first.
///
/// # Errors
/// The file is a pipe or a device.
pub fn drop_pages(file: &File) -> io::Result<()> {
    let _ = fdatasync(file); // a file that is only read needs no writing
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Returns how many of a file's first `bytes` bytes are in memory, counted in whole pages. None if the kernel does not say.
pub fn resident_bytes(file: &File, bytes: u64) -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let pages = pages_by_cachestat(file).or_else(|| pages_by_mincore(file, bytes, page))?;
    Some((pages * page).min(bytes))
}

/// Number of the whole file's pages in memory, by cachestat(2) of Linux 6.5 and later.
fn pages_by_cachestat(file: &File) -> Option<u64> {
    const CACHESTAT: libc::c_long = 451;
    let range = [0u64; 2];
    let mut counts = [0u64; 5];
    // SAFETY: the range and the counts are as the system call has them (linux/mman.h) and ours.
    let result = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0) };
    (result == 0).then_some(counts[0])
}

fn pages_by_mincore(file: &File, bytes: u64, page: u64) -> Option<u64> {
    let length = usize::try_from(bytes).ok().filter(|length| *length > 0)?;
    let mut present = vec![0u8; length.div_ceil(page as usize)];
    // SAFETY: a new mapping that nobody reads through; the vector has a byte for each of its pages; it is unmapped again.
    let result = unsafe {
        let map = libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if map == libc::MAP_FAILED {
            return None;
        }
        let result = libc::mincore(map, length, present.as_mut_ptr());
        libc::munmap(map, length);
        result
    };
    (result == 0).then(|| present.iter().filter(|byte| **byte & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_nobody_uses_is_dropped_and_both_counters_agree() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("cold-{}.tmp", std::process::id()));
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let pages = pages_by_mincore(&file, 1 << 20, 4096);
        assert_eq!(pages, pages_by_cachestat(&file).or(pages));
        assert_eq!(resident_bytes(&file, 1 << 20), Some(1 << 20));
        let dropped = drop_pages(&file);
        std::fs::remove_file(&path).unwrap();
        dropped.unwrap();
        assert_eq!(resident_bytes(&file, 1 << 20), Some(0));
    }
}
