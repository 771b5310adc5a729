//! The program itself: its SHA-256, by which controllers know it, and whose account has started it.

use ring::digest::{Context, SHA256};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

/// The SHA-256 of the running program, in hexadecimal digits.
pub(crate) fn hash() -> io::Result<String> {
    let (mut file, mut context) = (File::open("/proc/self/exe")?, Context::new(&SHA256));
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()),
            length => context.update(&piece[..length]),
        }
    }
}

/// Whether the process of the id `pid` runs the same file as this process.
pub(crate) fn is_ours(pid: &str) -> bool {
    let file = |process: &str| fs::metadata(format!("/proc/{process}/exe")).map(|file| (file.dev(), file.ino())).ok();
    file("self").is_some_and(|own| file(pid) == Some(own))
}

/// The account that has started this program as root by sudo(8), which sets the variable; `None` if nobody has.
pub(crate) fn account_by_sudo() -> Option<u32> {
    std::env::var("SUDO_UID").ok()?.parse().ok().filter(|_| rustix::process::geteuid().is_root())
}
