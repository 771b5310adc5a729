//! Where received data are written: a file that has another name until it is whole, or `/dev/null`.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, fstatvfs, renameat_with};
use rustix::io::Errno;

use crate::tickets::ticket;

/// Behind the name of a file that is not whole.
pub(crate) const INCOMPLETE: &str = ".incomplete";

/// A place for what comes; what did not come whole is removed when it is dropped, and after a kill shows by its name.
#[derive(Debug)]
pub struct Place {
    file: File,
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    name: PathBuf,
    until_whole: PathBuf,
    older: Older,
}

/// What becomes of an older file of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Older {
    Stays,
    IsReplaced,
}

impl Place {
    /// Nowhere: what comes is thrown away.
    ///
    /// # Errors
    /// When there is no `/dev/null`.
    pub fn nowhere() -> io::Result<Place> {
        Ok(Place { file: File::options().write(true).open("/dev/null")?, kept: None })
    }

    /// A file that is somebody else's matter afterwards.
    pub fn of(file: File) -> Place {
        Place { file, kept: None }
    }

    /// Tries whether files can be made in `folder`, and leaves nothing there.
    ///
    /// # Errors
    /// In words with the name, when they cannot.
    pub fn try_folder(folder: &Path) -> io::Result<()> {
        Place::at(&folder.join(ticket()?)).map(drop)
    }

    /// A new file `name`.
    ///
    /// # Errors
    /// In words with the name: it exists, or cannot be made.
    pub fn at(name: &Path) -> io::Result<Place> {
        let until_whole = incomplete(name);
        if name.symlink_metadata().is_ok() {
            return Err(named(name, io::ErrorKind::AlreadyExists.into()));
        }
        match File::options().write(true).create_new(true).open(&until_whole) {
            Ok(file) => Ok(Place { file, kept: Some(Kept { name: name.to_owned(), until_whole, older: Older::Stays }) }),
            Err(error) => Err(named(&until_whole, error)),
        }
    }

    /// A file `name` in place of an older one, which stays until this one is whole. It is for one at a time, by a lock that ends with its
    /// process; what one that was killed has left is begun anew.
    ///
    /// # Errors
    /// In words with the name: somebody else is at it, it is no plain file, or it cannot be made.
    pub fn over(name: &Path) -> io::Result<Place> {
        if name.symlink_metadata().is_ok_and(|older| !older.is_file()) {
            return Err(named(name, io::Error::new(io::ErrorKind::AlreadyExists, "it is there, and is no plain file")));
        }
        let until_whole = incomplete(name);
        let file = loop {
            match locked(&until_whole) {
                Ok(Some(file)) => break file,
                Ok(None) => {}
                Err(error) => return Err(named(&until_whole, error)),
            }
        };
        file.set_len(0)?;
        Ok(Place { file, kept: Some(Kept { name: name.to_owned(), until_whole, older: Older::IsReplaced }) })
    }

    /// The name that it will have; None where nothing is kept under one.
    pub fn name(&self) -> Option<&Path> {
        self.kept.as_ref().map(|kept| kept.name.as_path())
    }

    /// How many bytes there is room for; None where nothing is kept, or nobody can tell.
    pub fn room(&self) -> Option<u64> {
        self.kept.as_ref()?;
        let disk = fstatvfs(&self.file).ok().filter(|disk| disk.f_blocks > 0)?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The file itself, while what comes is put there.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// All came: from now on it has its name.
    ///
    /// # Errors
    /// When somebody else has made a file of that name meanwhile that must stay, or the disk cannot rename without replacing.
    pub fn whole(mut self) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let renamed = match kept.older {
            Older::IsReplaced => fs::rename(&kept.until_whole, &kept.name),
            Older::Stays => match renameat_with(CWD, &kept.until_whole, CWD, &kept.name, RenameFlags::NOREPLACE) {
                // There are file systems that cannot look and rename in one.
                Err(Errno::INVAL | Errno::NOSYS) => linked(&kept.until_whole, &kept.name),
                told => told.map_err(io::Error::from),
            },
        };
        renamed.map_err(|error| named(&kept.name, error))?;
        self.kept = None;
        Ok(())
    }
}

/// Gives `from` the name `to` by a link, which never replaces anything.
fn linked(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let words =
                format!("on this disk it cannot be renamed for sure that it replaces no other file ({error}): name another disk");
            Err(io::Error::new(error.kind(), words))
        }
        told => told.and_then(|()| fs::remove_file(from)),
    }
}

/// The file `path`, which nobody else has locked; None when it was renamed or removed while we came to it.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK; // no link elsewhere, and no pipe that is waited for
    let file = File::options().write(true).create(true).truncate(false).custom_flags(flags.bits() as i32).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let words = "somebody else is at it now: wait until that has ended, or name another file";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (ours, there) = (file.metadata()?, path.symlink_metadata());
    let is_there = there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()));
    Ok(is_there.then_some(file))
}

fn incomplete(name: &Path) -> PathBuf {
    let mut until_whole = name.as_os_str().to_owned();
    until_whole.push(INCOMPLETE);
    until_whole.into()
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            let _ = fs::remove_file(&kept.until_whole);
        }
    }
}

fn named(name: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", name.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut place = Place::at(&folder.path().join("deck")).expect("made");
        place.file().write_all(b"half").expect("written");
        assert_eq!(names(folder.path()), ["deck.incomplete"]);
        place.whole().expect("kept");
        assert_eq!(names(folder.path()), ["deck"]);
    }

    #[test]
    fn what_did_not_come_whole_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Place::at(&folder.path().join("deck")).expect("made"));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_disk_that_cannot_rename_without_replacing_is_given_a_link_and_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("deck.incomplete"), folder.path().join("deck"));
        fs::write(&from, "ours").expect("written");
        linked(&from, &to).expect("it has its name");
        assert_eq!((names(folder.path()), fs::read(&to).expect("there")), (vec!["deck".to_owned()], b"ours".to_vec()));
        fs::write(&from, "too late").expect("written");
        assert_eq!(linked(&from, &to).expect_err("it is taken").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).expect("there"), b"ours");
        let elsewhere = linked(&from, Path::new("/proc/deck")).expect_err("there is no such link").to_string();
        assert!(elsewhere.contains("name another disk"), "{elsewhere}");
        assert_eq!(fs::read(&from).expect("there"), b"too late");
    }

    #[test]
    fn an_older_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        fs::write(&name, "older").expect("written");
        drop(Place::over(&name).expect("made"));
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"older".to_vec()));
        let mut place = Place::over(&name).expect("made");
        place.file().write_all(b"new").expect("written");
        place.whole().expect("kept");
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"new".to_vec()));
    }

    #[test]
    fn of_two_who_fetch_one_file_the_second_is_refused_and_disturbs_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        let mut place = Place::over(&name).expect("made");
        place.file().write_all(b"half").expect("written");
        let told = Place::over(&name).expect_err("it is taken").to_string();
        assert!(told.contains("print.incomplete: somebody else is at it"), "{told}");
        place.file().write_all(b" and half").expect("written");
        place.whole().expect("kept");
        assert_eq!(fs::read(&name).expect("there"), b"half and half");
        drop(Place::over(&name).expect("the next is let in"));
    }

    #[test]
    fn what_one_that_was_killed_has_left_is_begun_anew_and_what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        fs::write(folder.path().join("print.incomplete"), "a long piece of an older print file").expect("written");
        let mut place = Place::over(&name).expect("made");
        place.file().write_all(b"new").expect("written");
        place.whole().expect("kept");
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"new".to_vec()));
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("other.incomplete")).expect("made");
        assert!(Place::over(&folder.path().join("other")).is_err());
        assert!(Place::over(folder.path()).expect_err("it is a folder").to_string().contains("no plain file"));
        assert!(Place::over(Path::new("/dev/null")).expect_err("it is a device").to_string().contains("no plain file"));
    }

    #[test]
    fn nothing_of_somebody_else_is_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("deck");
        let place = Place::at(&name).expect("made");
        fs::write(&name, "another's").expect("written");
        assert!(place.whole().expect_err("it is taken").to_string().contains("deck"));
        assert!(Place::at(&name).expect_err("it is taken").to_string().contains("exists"));
        assert_eq!(names(folder.path()), ["deck"]);
        assert_eq!(fs::read(&name).expect("there"), b"another's");
    }
}
