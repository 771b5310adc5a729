//! The destination of received data: a file that has another name until it is complete, or `/dev/null`.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, OFlags, RenameFlags, fstatvfs, renameat_with};
use rustix::io::Errno;

use crate::tickets::random_ticket;

/// End of the name of a file that is not complete.
const INCOMPLETE_SUFFIX: &str = ".incomplete";

/// A destination for received data. Dropping it removes an incomplete file; after a kill the name shows that it is incomplete.
#[derive(Debug)]
pub struct Destination {
    file: File,
    pending: Option<PendingFile>,
}

/// The names of a file that is not complete yet.
#[derive(Debug)]
struct PendingFile {
    name: PathBuf,
    incomplete_name: PathBuf,
    older: ExistingFile,
}

/// The fate of an older file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExistingFile {
    Stays,
    IsReplaced,
}

impl Destination {
    /// A destination that discards all data.
    ///
    /// # Errors
    /// There is no `/dev/null`.
    pub fn discard() -> io::Result<Destination> {
        let opened = File::options().write(true).open("/dev/null");
        opened.map(Destination::from_file).map_err(|error| with_path(Path::new("/dev/null"), error))
    }

    /// An open file, which the caller keeps or removes.
    pub fn from_file(file: File) -> Destination {
        Destination { file, pending: None }
    }

    /// Checks whether files can be created in `folder`, and leaves none there.
    ///
    /// # Errors
    /// The reason, with the path.
    pub fn try_folder(folder: &Path) -> io::Result<()> {
        Destination::create(&folder.join(random_ticket()?)).map(drop)
    }

    /// A new file `name`.
    ///
    /// # Errors
    /// The file exists or cannot be created; with the path.
    pub fn create(name: &Path) -> io::Result<Destination> {
        let incomplete_name = incomplete_name(name);
        if name.symlink_metadata().is_ok() {
            return Err(with_path(name, io::ErrorKind::AlreadyExists.into()));
        }
        match File::options().write(true).create_new(true).open(&incomplete_name) {
            Ok(file) => Ok(Destination {
                file,
                pending: Some(PendingFile { name: name.to_owned(), incomplete_name, older: ExistingFile::Stays }),
            }),
            Err(error) => Err(with_path(&incomplete_name, error)),
        }
    }

    /// A file `name` that replaces an older one when it is complete. A lock admits one writer at a time, and ends with its process.
    /// Data that a killed process left are overwritten.
    ///
    /// # Errors
    /// Another process writes the file, it is no plain file, or it cannot be created; with the path.
    pub fn replacing(name: &Path) -> io::Result<Destination> {
        if name.symlink_metadata().is_ok_and(|older| !older.is_file()) {
            return Err(with_path(name, io::Error::new(io::ErrorKind::AlreadyExists, "it exists and is no plain file")));
        }
        let incomplete_name = incomplete_name(name);
        let file = loop {
            match open_locked(&incomplete_name) {
                Ok(Some(file)) => break file,
                Ok(None) => {}
                Err(error) => return Err(with_path(&incomplete_name, error)),
            }
        };
        file.set_len(0)?;
        Ok(Destination {
            file,
            pending: Some(PendingFile { name: name.to_owned(), incomplete_name, older: ExistingFile::IsReplaced }),
        })
    }

    /// The path that the complete file will have; None if the file is not pending.
    pub fn name(&self) -> Option<&Path> {
        self.pending.as_ref().map(|pending| pending.name.as_path())
    }

    /// Free bytes on the file's disk; None if the file is not pending, or if the disk does not say.
    pub fn free_bytes(&self) -> Option<u64> {
        self.pending.as_ref()?;
        let disk = fstatvfs(&self.file).ok().filter(|disk| disk.f_blocks > 0)?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The file, for writing received data.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives a complete file its name.
    ///
    /// # Errors
    /// Another file has that name now and must stay, or the disk cannot rename without the risk of replacing one.
    pub fn commit(mut self) -> io::Result<()> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let renamed = match pending.older {
            ExistingFile::IsReplaced => fs::rename(&pending.incomplete_name, &pending.name),
            ExistingFile::Stays => match renameat_with(CWD, &pending.incomplete_name, CWD, &pending.name, RenameFlags::NOREPLACE)
            {
                // Some file systems cannot check and rename in one step.
                Err(Errno::INVAL | Errno::NOSYS) => rename_by_link(&pending.incomplete_name, &pending.name),
                renamed => renamed.map_err(io::Error::from),
            },
        };
        renamed.map_err(|error| with_path(&pending.name, error))?;
        self.pending = None;
        Ok(())
    }
}

/// Renames `from` to `to` by a link, which never replaces a file.
fn rename_by_link(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let words =
                format!("this disk cannot rename a file without the risk of replacing another ({error}): name another disk");
            Err(io::Error::new(error.kind(), words))
        }
        linked => linked.and_then(|()| fs::remove_file(from)),
    }
}

/// Opens and locks the file `path`. Returns None if it was renamed or removed before it was locked.
fn open_locked(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK; // refuse links, and do not wait for a pipe
    let file = File::options().write(true).create(true).truncate(false).custom_flags(flags.bits() as i32).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let words = "another process writes it now: wait until that has ended, or name another file";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
        }
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (locked, named) = (file.metadata()?, path.symlink_metadata());
    let is_same = named.is_ok_and(|named| (named.dev(), named.ino()) == (locked.dev(), locked.ino()));
    Ok(is_same.then_some(file))
}

fn incomplete_name(name: &Path) -> PathBuf {
    let mut incomplete_name = name.as_os_str().to_owned();
    incomplete_name.push(INCOMPLETE_SUFFIX);
    incomplete_name.into()
}

impl Drop for Destination {
    fn drop(&mut self) {
        if let Some(pending) = &self.pending {
            let _ = fs::remove_file(&pending.incomplete_name);
        }
    }
}

fn with_path(name: &Path, error: io::Error) -> io::Error {
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
    fn a_file_has_its_name_when_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut place = Destination::create(&folder.path().join("deck")).expect("made");
        place.file().write_all(b"half").expect("written");
        assert_eq!(names(folder.path()), ["deck.incomplete"]);
        place.commit().expect("kept");
        assert_eq!(names(folder.path()), ["deck"]);
    }

    #[test]
    fn an_incomplete_file_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Destination::create(&folder.path().join("deck")).expect("made"));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_disk_that_cannot_rename_without_replacing_is_given_a_link_and_replaces_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("deck.incomplete"), folder.path().join("deck"));
        fs::write(&from, "ours").expect("written");
        rename_by_link(&from, &to).expect("it has its name");
        assert_eq!((names(folder.path()), fs::read(&to).expect("there")), (vec!["deck".to_owned()], b"ours".to_vec()));
        fs::write(&from, "too late").expect("written");
        assert_eq!(rename_by_link(&from, &to).expect_err("it is taken").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).expect("there"), b"ours");
        let elsewhere = rename_by_link(&from, Path::new("/proc/deck")).expect_err("there is no such link").to_string();
        assert!(elsewhere.contains("name another disk"), "{elsewhere}");
        assert_eq!(fs::read(&from).expect("there"), b"too late");
    }

    #[test]
    fn an_older_file_stays_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        fs::write(&name, "older").expect("written");
        drop(Destination::replacing(&name).expect("made"));
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"older".to_vec()));
        let mut place = Destination::replacing(&name).expect("made");
        place.file().write_all(b"new").expect("written");
        place.commit().expect("kept");
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"new".to_vec()));
    }

    #[test]
    fn of_two_writers_of_one_file_the_second_is_refused_and_the_first_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        let mut place = Destination::replacing(&name).expect("made");
        place.file().write_all(b"half").expect("written");
        let error = Destination::replacing(&name).expect_err("it is taken").to_string();
        assert!(error.contains("print.incomplete: another process writes it"), "{error}");
        place.file().write_all(b" and half").expect("written");
        place.commit().expect("kept");
        assert_eq!(fs::read(&name).expect("there"), b"half and half");
        drop(Destination::replacing(&name).expect("the next is let in"));
    }

    #[test]
    fn data_of_a_killed_process_are_overwritten_and_special_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("print");
        fs::write(folder.path().join("print.incomplete"), "a long piece of an older print file").expect("written");
        let mut place = Destination::replacing(&name).expect("made");
        place.file().write_all(b"new").expect("written");
        place.commit().expect("kept");
        assert_eq!((names(folder.path()), fs::read(&name).expect("there")), (vec!["print".to_owned()], b"new".to_vec()));
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("other.incomplete")).expect("made");
        assert!(Destination::replacing(&folder.path().join("other")).is_err());
        assert!(Destination::replacing(folder.path()).expect_err("it is a folder").to_string().contains("no plain file"));
        assert!(
            Destination::replacing(Path::new("/dev/null")).expect_err("it is a device").to_string().contains("no plain file")
        );
    }

    #[test]
    fn another_processs_file_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("deck");
        let place = Destination::create(&name).expect("made");
        fs::write(&name, "another's").expect("written");
        assert!(place.commit().expect_err("it is taken").to_string().contains("deck"));
        assert!(Destination::create(&name).expect_err("it is taken").to_string().contains("exists"));
        assert_eq!(names(folder.path()), ["deck"]);
        assert_eq!(fs::read(&name).expect("there"), b"another's");
    }
}
