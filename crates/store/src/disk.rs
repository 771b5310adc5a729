//! The disk under a run folder: the operating system's, or in tests one that refuses a write.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;

/// Creates the files of a run folder; every byte of a folder is written through it.
pub trait Disk: Debug + Send + Sync {
    /// Creates the file `path`, or empties it.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Creates the file `path`, which must not exist yet.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
}

/// A file that a [`Disk`] has created.
pub trait DiskFile: Write + Seek + Send {
    /// Cuts the file to `length` bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Returns when all that was written has reached the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disks of the operating system.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().write(true).create_new(true).open(path)?))
    }
}

impl DiskFile for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}
