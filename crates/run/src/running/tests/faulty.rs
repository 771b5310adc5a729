//! A disk on which writes fail: all from one on, one alone, or one with a panic of the thread that writes.

use loadgo_store::{Disk, DiskFile};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The fault at a write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happens {
    /// Refuses this write and all that follow.
    RunRefusal,
    /// Refuses this write alone.
    OneRefusal,
    /// The thread that writes panics.
    OnePanic,
    /// `run.toml` is refused when it is brought up to date while the users are at work.
    AccountRefusal,
}

/// The disk; what happens, and at which write.
#[derive(Debug)]
pub struct FaultyDisk {
    happens: Happens,
    number: u64,
    writes: Arc<AtomicU64>,
    /// How often `run.toml` was begun.
    accounts: AtomicU64,
}

struct FaultyFile {
    file: File,
    happens: Happens,
    number: u64,
    writes: Arc<AtomicU64>,
}

impl FaultyDisk {
    /// A disk on which this happens at the write of this number, from 0.
    pub fn new(happens: Happens, number: u64) -> FaultyDisk {
        FaultyDisk { happens, number, writes: Arc::default(), accounts: AtomicU64::new(0) }
    }

    /// How many writes there were.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    fn output(&self, file: File) -> Box<dyn DiskFile> {
        Box::new(FaultyFile { file, happens: self.happens, number: self.number, writes: Arc::clone(&self.writes) })
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let is_account = path.file_name().is_some_and(|name| name == "run.toml.part");
        if is_account && self.accounts.fetch_add(1, Ordering::SeqCst) == 1 && self.happens == Happens::AccountRefusal {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(self.output(File::create(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.output(OpenOptions::new().write(true).create_new(true).open(path)?))
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        match self.happens {
            Happens::RunRefusal if number >= self.number => Err(io::ErrorKind::StorageFull.into()),
            Happens::OneRefusal if number == self.number => Err(io::ErrorKind::StorageFull.into()),
            Happens::OnePanic if number == self.number => panic!("as the test has it: write {number}"),
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
