//! A home of a run is removed without touching a file of anybody else's.
//!
//! Users may mount something below their home, also a folder of the host. So all mounts below it are detached first, and
//! where one cannot be, nothing is removed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::mount::{UnmountFlags, unmount};

/// How often mounts are looked for: several may lie on one place, or one be made meanwhile.
const MOST_LOOKS: usize = 100;

/// Removes the home `path` with all that lies in it, after its mounts are detached.
///
/// # Errors
/// A mount that cannot be detached, by its place: then nothing is removed. Or the first file that cannot be removed.
pub(crate) fn remove_home(path: &Path) -> io::Result<()> {
    let path = without_links_above(path)?;
    for _ in 0..MOST_LOOKS {
        let Some(mount) = mounts_below(&path)?.pop() else { return fs::remove_dir_all(&path) };
        unmount(&mount, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).map_err(|error| still_mounted(&mount, error.into()))?;
    }
    Err(io::Error::other(format!("something is mounted below {} again and again", path.display())))
}

/// The path as the kernel shows it. The home itself may have been replaced by a link, which is not followed.
fn without_links_above(home: &Path) -> io::Result<PathBuf> {
    match (home.parent(), home.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Err(io::Error::other("not a path of a home")),
    }
}

fn still_mounted(mount: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("a file system is mounted at {}, and cannot be unmounted: {error}", mount.display()))
}

/// The mounts below `path` in the order in which they were made, by `/proc/self/mountinfo`.
fn mounts_below(path: &Path) -> io::Result<Vec<PathBuf>> {
    let text = fs::read("/proc/self/mountinfo")?;
    let mounts = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped);
    Ok(mounts.filter(|mount| mount.starts_with(path)).collect())
}

/// A path of mountinfo, which has spaces, tabs, newlines and backslashes as octal numbers (proc_pid_mountinfo(5)).
fn unescaped(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let [first, tail @ ..] = rest {
        let octal = tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mount::mount_bind;

    #[test]
    fn paths_of_mountinfo_are_read() {
        assert_eq!(unescaped(br"/tmp/a\040b\134c"), Path::new(r"/tmp/a b\c"));
        assert_eq!(unescaped(br"/tmp/\9"), Path::new(r"/tmp/\9"));
    }

    #[test]
    fn a_folder_of_the_host_that_a_user_has_mounted_keeps_its_files() {
        let place = std::env::temp_dir().join(format!("loadgo-mounted-{}", std::process::id()));
        let (hosts, home) = (place.join("hosts"), place.join("home"));
        let (below, beside) = (home.join("a b/m"), home.join("own"));
        [&hosts, &below, &beside].into_iter().for_each(|folder| fs::create_dir_all(folder).expect("there is room"));
        fs::write(hosts.join("file"), "keep").expect("there is room");
        let mounted = mount_bind(&hosts, &below).and_then(|()| mount_bind(&hosts, &below)).is_ok();
        if !mounted {
            println!("not tried with a mount, which needs root");
        }
        remove_home(&home).expect("it can be removed");
        assert!(!home.exists());
        assert_eq!(fs::read_to_string(hosts.join("file")).expect("it is there"), "keep");
        fs::remove_dir_all(&place).expect("it is ours");
    }

    #[test]
    fn a_link_in_place_of_a_home_goes_and_what_it_points_to_stays() {
        let place = std::env::temp_dir().join(format!("loadgo-linked-{}", std::process::id()));
        let (hosts, home) = (place.join("hosts"), place.join("home"));
        fs::create_dir_all(&hosts).expect("there is room");
        fs::write(hosts.join("file"), "keep").expect("there is room");
        std::os::unix::fs::symlink(&hosts, &home).expect("there is room");
        remove_home(&home).expect("it can be removed");
        assert!(!home.exists());
        assert_eq!(fs::read_to_string(hosts.join("file")).expect("it is there"), "keep");
        fs::remove_dir_all(&place).expect("it is ours");
    }
}
