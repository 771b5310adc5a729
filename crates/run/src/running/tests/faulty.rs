//! A disk that fails at one write, file or sync, or from one write on.

use loadgo_store::{Disk, DiskFile};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kind of fault of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DiskFault {
    /// Refuses the write and all that follow.
    AllRefused,
    /// Refuses the write alone.
    OneRefused,
    /// Panics in the thread that writes.
    OnePanic,
    /// Takes half of the write, and refuses all that follow.
    Torn,
    /// Refuses to make the file of this number.
    FileRefused,
    /// Refuses to let the file reach the disk, for the request of this number.
    SyncRefused,
    /// Refuses `run.toml` when it is written while the users are at work.
    RunTomlRefused,
}

/// Counts of a disk's requests so far.
#[derive(Debug, Default)]
pub struct Asked {
    pub writes: AtomicU64,
    pub files: AtomicU64,
    pub syncs: AtomicU64,
}

/// A disk with a fault at one write, file or request to sync.
#[derive(Debug)]
pub struct FaultyDisk {
    happens: DiskFault,
    number: u64,
    asked: Arc<Asked>,
    /// How many times `run.toml` was created.
    run_toml_writes: AtomicU64,
}

struct FaultyFile {
    file: File,
    happens: DiskFault,
    number: u64,
    asked: Arc<Asked>,
}

impl FaultyDisk {
    /// A disk with the fault `happens` at the write, file or sync `number`, from 0.
    pub fn new(happens: DiskFault, number: u64) -> FaultyDisk {
        FaultyDisk { happens, number, asked: Arc::default(), run_toml_writes: AtomicU64::new(0) }
    }

    /// Counts of its requests so far.
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    fn make_file(&self, make: impl FnOnce() -> io::Result<File>) -> io::Result<Box<dyn DiskFile>> {
        let number = self.asked.files.fetch_add(1, Ordering::SeqCst);
        if self.happens == DiskFault::FileRefused && number == self.number {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(Box::new(FaultyFile { file: make()?, happens: self.happens, number: self.number, asked: Arc::clone(&self.asked) }))
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.make_file(|| File::create(path))
    }

    fn open_or_create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let is_run_toml = path.file_name().is_some_and(|name| name == "run.toml.part");
        if is_run_toml && self.run_toml_writes.fetch_add(1, Ordering::SeqCst) == 1 && self.happens == DiskFault::RunTomlRefused {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.make_file(|| OpenOptions::new().write(true).create(true).truncate(false).open(path))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.make_file(|| OpenOptions::new().write(true).create_new(true).open(path))
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.asked.writes.fetch_add(1, Ordering::SeqCst);
        match self.happens {
            DiskFault::AllRefused if number >= self.number => Err(io::ErrorKind::StorageFull.into()),
            DiskFault::OneRefused if number == self.number => Err(io::ErrorKind::StorageFull.into()),
            DiskFault::Torn if number == self.number => self.file.write(&bytes[..bytes.len().div_ceil(2)]),
            DiskFault::Torn if number > self.number => Err(io::ErrorKind::StorageFull.into()),
            DiskFault::OnePanic if number == self.number => panic!("a fault of this test: write {number}"),
            _ => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for FaultyFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl DiskFile for FaultyFile {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        let number = self.asked.syncs.fetch_add(1, Ordering::SeqCst);
        if self.happens == DiskFault::SyncRefused && number == self.number {
            return Err(io::Error::from_raw_os_error(5)); // EIO: what was written may be gone
        }
        self.file.sync_all()
    }
}
