//! A disk on which writes fail: all writes from one on, a single write, or a single write by a panic.

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
    /// Refuses `run.toml` when it is written while the users are at work.
    RunTomlRefused,
}

/// A disk with a fault at one write.
#[derive(Debug)]
pub struct FaultyDisk {
    happens: DiskFault,
    number: u64,
    writes: Arc<AtomicU64>,
    /// How many times `run.toml` was created.
    run_toml_writes: AtomicU64,
}

struct FaultyFile {
    file: File,
    happens: DiskFault,
    number: u64,
    writes: Arc<AtomicU64>,
}

impl FaultyDisk {
    /// A disk with the fault `happens` at the write `number`, from 0.
    pub fn new(happens: DiskFault, number: u64) -> FaultyDisk {
        FaultyDisk { happens, number, writes: Arc::default(), run_toml_writes: AtomicU64::new(0) }
    }

    /// Number of writes so far.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    fn faulty_file(&self, file: File) -> Box<dyn DiskFile> {
        Box::new(FaultyFile { file, happens: self.happens, number: self.number, writes: Arc::clone(&self.writes) })
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let is_run_toml = path.file_name().is_some_and(|name| name == "run.toml.part");
        if is_run_toml && self.run_toml_writes.fetch_add(1, Ordering::SeqCst) == 1 && self.happens == DiskFault::RunTomlRefused {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(self.faulty_file(File::create(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.faulty_file(OpenOptions::new().write(true).create_new(true).open(path)?))
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        match self.happens {
            DiskFault::AllRefused if number >= self.number => Err(io::ErrorKind::StorageFull.into()),
            DiskFault::OneRefused if number == self.number => Err(io::ErrorKind::StorageFull.into()),
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
        self.file.sync_all()
    }
}
