//! Removes the homes of a run, and no other files.
//!
//! Users may mount something below their home, even a folder of the host. So all mounts below the homes are detached first.
//! Then each file is removed. Files that cannot be removed stay, with the folders above them.

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

/// Largest number of rounds of detaching mounts. Several mounts may lie over each other, and new ones may be made meanwhile.
const MOST_DETACH_ROUNDS: usize = 100;

/// Number of remaining paths that the message names.
const NAMED_PATHS: usize = 3;

/// Detaches the mounts below `path`, the folder of homes, and removes everything in it that can be removed.
///
/// # Errors
/// Each remaining path, with the reason.
pub(crate) fn remove_home(path: &Path) -> io::Result<()> {
    let path = without_links_above(path)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("not a path of a home"));
    };
    let mut removal = Removal { mounts: detach_mounts_below(&path)?, remaining: Vec::new() };
    let parent = fs::File::open(parent)?;
    removal.remove(parent.as_fd(), name, &path);
    match removal.remaining.as_slice() {
        [] => Ok(()),
        _ => Err(io::Error::other(Remaining(removal.remaining))),
    }
}

/// A removal under way.
struct Removal {
    /// Mounts that could not be detached, each with the reason.
    mounts: Vec<(PathBuf, io::Error)>,
    /// Entries that could not be removed, each with the reason. Folders that only hold such entries are not listed.
    remaining: Vec<(PathBuf, io::Error)>,
}

impl Removal {
    /// Removes the entry `name` of `directory`, which is `path`, with all below it.
    fn remove(&mut self, directory: BorrowedFd<'_>, name: &OsStr, path: &Path) {
        if let Some(index) = self.mounts.iter().position(|(mount, _)| mount == path) {
            let mount = self.mounts.swap_remove(index);
            return self.remaining.push(mount);
        }
        let remaining_before = self.remaining.len();
        let removed = match is_directory(directory, name) {
            Ok(true) => self.remove_directory(directory, name, path),
            Ok(false) => unlinkat(directory, name, AtFlags::empty()),
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY | Errno::BUSY) if self.remaining.len() > remaining_before => {}
            Err(error) => self.remaining.push((path.to_owned(), error.into())),
        }
    }

    fn remove_directory(&mut self, directory: BorrowedFd<'_>, name: &OsStr, path: &Path) -> rustix::io::Result<()> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let opened: OwnedFd = openat(directory, name, flags, Mode::empty())?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                let name = os_text(entry.file_name());
                self.remove(opened.as_fd(), name, &path.join(name));
            }
        }
        unlinkat(directory, name, AtFlags::REMOVEDIR)
    }
}

fn os_text(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

/// Whether the entry `name` is a directory itself, not a link to one.
fn is_directory(directory: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<bool> {
    let status = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(status.st_mode) == FileType::Directory)
}

/// Entries that could not be removed; a message names the first few by their paths.
#[derive(Debug)]
struct Remaining(Vec<(PathBuf, io::Error)>);

impl fmt::Display for Remaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<_> =
            self.0.iter().take(NAMED_PATHS).map(|(path, reason)| format!("{}: {reason}", path.display())).collect();
        f.write_str(&named.join("; "))?;
        match self.0.len().saturating_sub(NAMED_PATHS) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Remaining {}

/// The path as the kernel shows it. The home itself may have been replaced by a link, which is not followed.
fn without_links_above(home: &Path) -> io::Result<PathBuf> {
    match (home.parent(), home.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Ok(home.to_owned()),
    }
}

/// Detaches the mounts below `path`, the latest first. Returns those that could not be detached, each with the reason.
fn detach_mounts_below(path: &Path) -> io::Result<Vec<(PathBuf, io::Error)>> {
    let mut attached: Vec<(PathBuf, io::Error)> = Vec::new();
    for _ in 0..MOST_DETACH_ROUNDS {
        let mounts = mounts_below(path)?;
        let Some(mount) = mounts.into_iter().rfind(|mount| attached.iter().all(|(other, _)| other != mount)) else {
            return Ok(attached);
        };
        if let Err(error) = unmount(&mount, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            attached.push((mount, still_mounted(error.into())));
        }
    }
    Err(io::Error::other(format!("something is mounted below {} again and again", path.display())))
}

fn still_mounted(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("a file system is mounted there, and cannot be unmounted: {error}"))
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
    fn a_link_in_place_of_a_home_is_removed_and_its_target_stays() {
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

    #[test]
    fn only_files_that_cannot_be_removed_stay_and_the_message_names_them() {
        let place = std::env::temp_dir().join(format!("loadgo-immutable-{}", std::process::id()));
        let home = place.join("home");
        let user_files: Vec<_> = (1..=5).map(|user| home.join(format!("u{user}/kept"))).collect();
        for (user, user_file) in (1..=5).zip(&user_files) {
            fs::create_dir_all(home.join(format!("u{user}/deep/er"))).expect("there is room");
            fs::write(user_file, "keep").expect("there is room");
            fs::write(home.join(format!("u{user}/deep/er/file")), "remove").expect("there is room");
        }
        let Some(_immutable) = Immutable::make(&user_files[..4]) else {
            println!("not tried, for nothing can be made immutable here");
            return fs::remove_dir_all(&place).expect("it is ours");
        };
        let reason = remove_home(&home).expect_err("some files stay").to_string();
        assert_eq!(reason.matches("Operation not permitted").count(), NAMED_PATHS, "{reason}");
        assert!(reason.ends_with("; and 1 more"), "{reason}");
        let (mut left, mut expected) = (files_below(&home), user_files[..4].to_vec());
        left.sort();
        expected.extend((1..=4).map(|user| home.join(format!("u{user}"))));
        expected.sort();
        assert_eq!(left, expected, "all else is gone, the fifth user's home too");
        drop(_immutable);
        remove_home(&home).expect("it can be removed now");
        fs::remove_dir_all(&place).expect("it is ours");
    }

    /// Files that nobody can remove, until this is dropped.
    struct Immutable<'a>(&'a [PathBuf]);

    impl<'a> Immutable<'a> {
        fn make(paths: &'a [PathBuf]) -> Option<Immutable<'a>> {
            let immutable = Immutable(paths);
            chattr("+i", paths).then_some(immutable)
        }
    }

    impl Drop for Immutable<'_> {
        fn drop(&mut self) {
            chattr("-i", self.0);
        }
    }

    fn chattr(change: &str, paths: &[PathBuf]) -> bool {
        std::process::Command::new("chattr").arg(change).args(paths).status().is_ok_and(|status| status.success())
    }

    fn files_below(directory: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it is there").path());
        entries.flat_map(|path| if path.is_dir() { [files_below(&path), vec![path]].concat() } else { vec![path] }).collect()
    }
}
