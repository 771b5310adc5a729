//! Devices and files that the kernel pages to.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Flag of swapon(2) for a device with a priority, which is in the lower bits.
const PREFER_FLAG: i32 = 0x8000;

/// Begins to page to the device or file `path`, with a priority of 0 to 32767. The kernel uses the highest first.
///
/// # Errors
/// The kernel's: no privilege, or nothing that can be paged to.
pub fn swap_on(path: &Path, priority: i32) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a string with its final zero, alive during the call.
    check_result(unsafe { libc::swapon(path.as_ptr(), PREFER_FLAG | priority) })
}

/// Stops paging to `path`; the kernel reads its pages back into memory.
///
/// # Errors
/// The kernel's: no privilege, no such device, or no memory for what is on it.
pub fn swap_off(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a string with its final zero, alive during the call.
    check_result(unsafe { libc::swapoff(path.as_ptr()) })
}

/// Allocates `bytes` of storage without holes for the file. Where the file system cannot, zeros are written.
///
/// # Errors
/// The file system is full.
pub fn fill_without_holes(file: &File, bytes: u64) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `file` lives.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

fn check_result(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_holes_has_all_its_blocks() {
        use std::os::unix::fs::MetadataExt;
        let file = tempfile::tempfile().expect("a file");
        fill_without_holes(&file, 1 << 20).expect("there is room");
        let about = file.metadata().expect("it is open");
        assert_eq!((about.len(), about.blocks() * 512 >= 1 << 20), (1 << 20, true));
    }

    #[test]
    fn a_path_that_is_no_paging_device_is_refused() {
        assert!(swap_on(Path::new("/dev/null"), 0).is_err());
        assert!(swap_off(Path::new("/dev/null")).is_err());
    }
}
