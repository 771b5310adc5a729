//! Where what comes is put: a file whose name says that it is incomplete until it is whole, or nowhere.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::meeting::ticket;

/// Behind the name of a file that is not whole.
pub const INCOMPLETE: &str = ".incomplete";

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
        let mut until_whole = name.as_os_str().to_owned();
        until_whole.push(INCOMPLETE);
        let until_whole = PathBuf::from(until_whole);
        if name.symlink_metadata().is_ok() {
            return Err(named(name, io::ErrorKind::AlreadyExists.into()));
        }
        match File::options().write(true).create_new(true).open(&until_whole) {
            Ok(file) => Ok(Place { file, kept: Some(Kept { name: name.to_owned(), until_whole }) }),
            Err(error) => Err(named(&until_whole, error)),
        }
    }

    /// The file itself, while what comes is put there.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// All came: from now on it has its name.
    ///
    /// # Errors
    /// When somebody else has made a file of that name meanwhile.
    pub fn whole(mut self) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        match renameat_with(CWD, &kept.until_whole, CWD, &kept.name, RenameFlags::NOREPLACE) {
            // There are file systems that cannot look and rename in one.
            Err(Errno::INVAL | Errno::NOSYS) => fs::rename(&kept.until_whole, &kept.name)?,
            told => told.map_err(|error| named(&kept.name, error.into()))?,
        }
        self.kept = None;
        Ok(())
    }
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
