//! Paging devices made for a run: compressed memory (zram) or a file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::leftovers::undo::undo;
use crate::leftovers::{Leftovers, Thing};
use crate::refusal::Refusal;
use loadgo_sys::paging::{fill_without_holes, swap_on};

/// Priority of the run's paging device: higher than that of the host's own devices usually is.
const PRIORITY: i32 = 1000;

/// Makes a device of compressed memory that holds `bytes` of pages, and pages to it; its path.
pub(crate) fn page_to_zram(bytes: u64, leftovers: &mut Leftovers) -> Result<PathBuf, Refusal> {
    let refuse = |error: io::Error| {
        Refusal::new("cannot make a zram device")
            .because(error)
            .with_remedy("as root, a kernel with zram: modprobe zram; or swap=file:SIZE")
    };
    let number = add_zram().map_err(refuse)?;
    // The device's number is known only when the device is there, so a note that fails takes it away again.
    leftovers.note(Thing::Zram(number)).inspect_err(|_| drop(undo(&Thing::Zram(number)))).map_err(refuse)?;
    fs::write(format!("/sys/block/zram{number}/disksize"), bytes.to_string()).map_err(refuse)?;
    let path = PathBuf::from(format!("/dev/zram{number}"));
    let device = OpenOptions::new().write(true).open(&path).map_err(refuse)?;
    write_header(&device, bytes).map_err(refuse)?;
    drop(device);
    begin_to_page(&path, leftovers).map_err(refuse)?;
    Ok(path)
}

/// Makes a file of `bytes` in `directory`, and pages to it; its path.
pub(crate) fn page_to_file(bytes: u64, directory: &Path, leftovers: &mut Leftovers) -> Result<PathBuf, Refusal> {
    let path = directory.join(format!("loadgo-swap-{}", std::process::id()));
    let refuse = |error: io::Error| {
        let remedy = "as root, on a file system that holds swap files (ext4, xfs), with room; or swap=zram:SIZE";
        Refusal::new(format!("cannot page to {}", path.display())).because(error).with_remedy(remedy)
    };
    leftovers.note(Thing::File(path.clone())).map_err(refuse)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(refuse)?;
    fill_without_holes(&file, bytes).map_err(refuse)?;
    write_header(&file, bytes).and_then(|()| file.sync_all()).map_err(refuse)?;
    begin_to_page(&path, leftovers).map_err(refuse)?;
    Ok(path)
}

/// A new zram device: reading the kernel's file makes one and tells its number.
fn add_zram() -> io::Result<u32> {
    let text = fs::read_to_string("/sys/class/zram-control/hot_add")?;
    text.trim().parse().map_err(|_| io::Error::other("the kernel tells no number"))
}

/// Writes the header that makes a device or file one for swapping (`union swap_header`, version 1).
fn write_header(device: &File, bytes: u64) -> io::Result<()> {
    let page = rustix::param::page_size();
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
fn begin_to_page(path: &Path, leftovers: &mut Leftovers) -> io::Result<()> {
    leftovers.note(Thing::Swap(path.to_owned()))?;
    swap_on(path, PRIORITY)
}
