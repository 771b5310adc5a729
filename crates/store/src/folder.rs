//! A run's folder and the files in it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::checksum::with_checksum_line;
use crate::disk::{Disk, SystemDisk};
use crate::{Error, Result, Table};

/// Number of bytes that are kept free for the last `run.toml`, which has some thousand bytes.
const RESERVED_BYTES: usize = 32 << 10;

/// A folder that holds one run. The process that creates it locks it, until the process ends or the last copy is dropped.
#[derive(Clone, Debug)]
pub struct Folder {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    _lock: Option<Arc<File>>,
}

impl Folder {
    /// Makes the folder `dir` and its parents, and writes `run_toml` into it as `run.toml`.
    ///
    /// Errors: [`Error::Exists`] if the folder is not empty; [`Error::Running`] if a run is being written there; the system's
    /// refusal.
    pub fn create(dir: impl Into<PathBuf>, run_toml: &str) -> Result<Folder> {
        Folder::create_on(Arc::new(SystemDisk), dir, run_toml)
    }

    /// As [`Folder::create`], with files on `disk`.
    ///
    /// Errors: those of [`Folder::create`].
    pub fn create_on(disk: Arc<dyn Disk>, dir: impl Into<PathBuf>, run_toml: &str) -> Result<Folder> {
        let dir = dir.into();
        create_private(&dir).map_err(Error::refused("create the folder", &dir))?;
        let lock = File::open(&dir).map_err(Error::refused("open", &dir))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Error::Running(dir));
        }
        let folder = Folder { dir, disk, _lock: Some(Arc::new(lock)) };
        if fs::read_dir(&folder.dir).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Error::Exists(folder.dir));
        }
        folder.write_unfinished_run_toml(run_toml)?;
        Ok(folder)
    }

    /// The folder `dir`, which holds a run.
    ///
    /// Errors: [`Error::NotARun`] when there is no `run.toml`.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Folder> {
        let folder = Folder { dir: dir.into(), disk: Arc::new(SystemDisk), _lock: None };
        match folder.run_toml().is_file() {
            true => Ok(folder),
            false => Err(Error::NotARun(folder.dir, "there is no run.toml in it".into())),
        }
    }

    /// True while a process writes this run.
    pub fn is_being_written(&self) -> Result<bool> {
        let dir = File::open(&self.dir).map_err(Error::refused("open", &self.dir))?;
        Ok(matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The folder's path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of `run.toml`.
    pub fn run_toml(&self) -> PathBuf {
        self.dir.join("run.toml")
    }

    /// The path of `table`'s stream.
    pub fn stream(&self, table: Table) -> PathBuf {
        self.dir.join(format!("{}.arrows", table.name()))
    }

    /// The path of `table`'s Parquet file.
    pub fn parquet(&self, table: Table) -> PathBuf {
        self.dir.join(format!("{}.parquet", table.name()))
    }

    /// Replaces `run.toml` in one step: a reader sees the old text or the new text, never a part. Its last line has its checksum.
    pub fn write_run_toml(&self, text: &str) -> Result<()> {
        self.write_whole(&self.run_toml(), with_checksum_line(text).as_bytes())
    }

    /// As [`Folder::write_run_toml`], while the run goes on. Reserves room for the last `run.toml`, which says what was lost: the
    /// disk may be full by then.
    pub fn write_unfinished_run_toml(&self, text: &str) -> Result<()> {
        self.write_run_toml(text)?;
        self.reserve_run_toml();
        Ok(())
    }

    /// Fills the unfinished file beside `run.toml` with zeros, which the next `run.toml` is written over. A disk that has no room
    /// for it is no error yet.
    fn reserve_run_toml(&self) {
        let path = neighbour(&self.run_toml());
        let reserved = self.disk.create(&path).and_then(|mut file| file.write_all(&[0; RESERVED_BYTES]));
        if reserved.is_err() {
            let _ = fs::remove_file(&path);
        }
    }

    /// Adds `notes` to those of `run.toml`.
    ///
    /// Errors: the system's refusal; a `run.toml` that cannot be understood.
    pub fn add_notes(&self, notes: &[String]) -> Result<()> {
        let path = self.run_toml();
        let text = fs::read_to_string(&path).map_err(Error::refused("read", &path))?;
        let mut run: toml::Table = text.parse().map_err(|error: toml::de::Error| Error::damaged(&path)(error.to_string()))?;
        let all = run.entry("notes").or_insert_with(|| toml::Value::Array(Vec::new()));
        let all = all.as_array_mut().ok_or_else(|| Error::damaged(&path)("`notes` is no list".into()))?;
        all.extend(notes.iter().map(|note| toml::Value::from(note.as_str())));
        self.write_run_toml(&toml::to_string(&run).map_err(|error| Error::damaged(&path)(error.to_string()))?)
    }

    /// Writes `text` as the folder's file `name`.
    ///
    /// Errors: the system's refusal.
    pub fn lay(&self, name: &str, text: &str) -> Result<()> {
        let path = self.dir.join(name);
        let written = self.disk.create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(Error::refused("write", &path))
    }

    /// The disk that the folder is on.
    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Writes `bytes` to a file beside `path`, over what is reserved there, and renames that file to `path` when it is on the disk.
    fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let neighbour = neighbour(path);
        let written = self.disk.open_or_create(&neighbour).and_then(|mut file| {
            file.write_all(bytes)?;
            file.cut(bytes.len() as u64)?;
            file.sync()?;
            fs::rename(&neighbour, path)
        });
        written.map_err(|source| {
            let _ = fs::remove_file(&neighbour);
            Error::refused("write", path)(source)
        })
    }
}

/// The environment variable by which other users may read the folders that this process and its children make.
pub const SHARING_VARIABLE: &str = "LOADGO_SHARE";

/// Makes the folder `dir` for this user alone, unless [`SHARING_VARIABLE`] is set, and its parents. A folder that exists keeps
/// its rights. Files in a folder have the rights that the folder gives.
fn create_private(dir: &Path) -> io::Result<()> {
    let is_shared = std::env::var_os(SHARING_VARIABLE).is_some_and(|value| !value.is_empty());
    let mut builder = fs::DirBuilder::new();
    builder.mode(if is_shared { 0o777 } else { 0o700 });
    let made = builder.create(dir).or_else(|error| match (error.kind(), dir.parent()) {
        (io::ErrorKind::NotFound, Some(parent)) => fs::create_dir_all(parent).and_then(|()| builder.create(dir)),
        _ => Err(error),
    });
    if dir.is_dir() { Ok(()) } else { made }
}

/// The path of the unfinished file beside `path`, which is renamed when it is complete.
pub(crate) fn neighbour(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::full::FullDisk;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_new_folder_is_for_its_user_alone_and_a_folder_that_was_given_keeps_its_rights() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let own = Folder::create(dir.path().join("runs/own"), "format = 1\n").unwrap();
        own.lay("script.toml", "").unwrap();
        assert_eq!([own.dir(), &own.run_toml(), &own.dir().join("script.toml")].map(mode), [0o700, 0o600, 0o600]);
        let given = dir.path().join("given");
        fs::create_dir(&given).unwrap();
        fs::set_permissions(&given, fs::Permissions::from_mode(0o750)).unwrap();
        let given = Folder::create(given, "format = 1\n").unwrap();
        assert_eq!([given.dir(), &given.run_toml()].map(mode), [0o750, 0o640]);
    }

    #[test]
    fn a_disk_that_became_full_takes_the_last_run_toml() {
        let (dir, disk) = (tempfile::tempdir().unwrap(), FullDisk::default());
        let folder = Folder::create_on(Arc::new(disk.clone()), dir.path().join("run"), "format = 1\n").unwrap();
        disk.is_full.store(true, std::sync::atomic::Ordering::Relaxed);
        let last = format!("format = 1\n# {}\n", "all that was lost ".repeat(1_000));
        folder.write_run_toml(&last).unwrap();
        assert_eq!(fs::read_to_string(folder.run_toml()).unwrap(), with_checksum_line(&last));
        let names: Vec<_> = fs::read_dir(folder.dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["run.toml"]);
        folder.write_run_toml(&last).expect_err("there is nothing reserved any more");
    }
}
