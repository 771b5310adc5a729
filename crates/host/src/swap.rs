//! Paging devices made for a run: compressed memory (zram) or a file.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::leftovers::{Leftovers, Thing};
use crate::why::Why;

const PREFER: i32 = 0x8000;
const PRIORITY: i32 = 1000;

/// Makes a device of compressed memory that holds `bytes` of pages, and pages to it; its path.
pub fn page_to_zram(bytes: u64, leftovers: &mut Leftovers) -> Result<PathBuf, Why> {
    let refuse = |error: io::Error| {
        Why::new(format!("cannot make a zram device: {error}"), "as root, a kernel with zram: modprobe zram; or swap=file:SIZE")
    };
    let number = add_zram().map_err(refuse)?;
    leftovers.note(Thing::Zram(number)).map_err(refuse)?;
    fs::write(format!("/sys/block/zram{number}/disksize"), bytes.to_string()).map_err(refuse)?;
    let path = PathBuf::from(format!("/dev/zram{number}"));
    let device = OpenOptions::new().write(true).open(&path).map_err(refuse)?;
    write_header(&device, bytes).map_err(refuse)?;
    drop(device);
    swap_on(&path, leftovers).map_err(refuse)?;
    Ok(path)
}

/// Makes a file of `bytes` in `directory`, and pages to it; its path.
pub fn page_to_file(bytes: u64, directory: &Path, leftovers: &mut Leftovers) -> Result<PathBuf, Why> {
    let path = directory.join(format!("loadgo-swap-{}", std::process::id()));
    let refuse = |error: io::Error| {
        let what = format!("cannot page to {}: {error}", path.display());
        Why::new(what, "as root, on a file system that holds swap files (ext4, xfs), with room; or swap=zram:SIZE")
    };
    leftovers.note(Thing::File(path.clone())).map_err(refuse)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(refuse)?;
    // SAFETY: the descriptor is open for as long as `file` lives.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => {}
        error => return Err(refuse(io::Error::from_raw_os_error(error))),
    }
    write_header(&file, bytes).and_then(|()| file.sync_all()).map_err(refuse)?;
    swap_on(&path, leftovers).map_err(refuse)?;
    Ok(path)
}

/// A new zram device: reading the kernel's file makes one and tells its number.
fn add_zram() -> io::Result<u32> {
    let text = fs::read_to_string("/sys/class/zram-control/hot_add")?;
    text.trim().parse().map_err(|_| io::Error::other("the kernel tells no number"))
}

/// Writes the header that makes a device or file one for swapping (`union swap_header`, version 1).
fn write_header(device: &File, bytes: u64) -> io::Result<()> {
    // SAFETY: plain numbers.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let pages = u32::try_from(bytes / page as u64).unwrap_or(u32::MAX);
    if pages < 10 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too small to page to"));
    }
    let mut header = vec![0u8; page];
    header[1024..1028].copy_from_slice(&1u32.to_ne_bytes());
    header[1028..1032].copy_from_slice(&(pages - 1).to_ne_bytes());
    header[page - 10..].copy_from_slice(b"SWAPSPACE2");
    device.write_all_at(&header, 0)
}

/// Begins to page to `path`, before any other device of the host.
fn swap_on(path: &Path, leftovers: &mut Leftovers) -> io::Result<()> {
    leftovers.note(Thing::Swap(path.to_owned()))?;
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a string with its final zero, alive during the call.
    match unsafe { libc::swapon(name.as_ptr(), PREFER | PRIORITY) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
