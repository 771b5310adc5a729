//! The disk under a run folder: the operating system's, or in tests one that refuses a write.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Creates the files of a run folder; every byte of a folder is written through it.
pub trait Disk: Debug + Send + Sync {
    /// Creates the file `path`, or empties it.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens the file `path` as it is, to be written over from its beginning; creates it if there is none.
    fn open_or_create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
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
        Ok(Box::new(as_its_folder(path).create(true).truncate(true).open(path)?))
    }

    fn open_or_create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(as_its_folder(path).create(true).truncate(false).open(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(as_its_folder(path).create_new(true).open(path)?))
    }
}

/// Options to write a new file whom those may read who may enter its folder, however it is copied later.
fn as_its_folder(path: &Path) -> OpenOptions {
    let folder = path.parent().and_then(|folder| folder.metadata().ok());
    let mut options = OpenOptions::new();
    options.write(true).mode(folder.map_or(0o600, |folder| folder.mode() & 0o666));
    options
}

impl DiskFile for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// A disk that can be full: then a file takes a part of what is written, and cannot be cut. What a file held when it was opened
/// can be written over.
#[cfg(test)]
pub(crate) mod full {
    use super::{Disk, DiskFile};
    use std::fs::File;
    use std::io::{self, Seek, SeekFrom, Write};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The disk.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct FullDisk {
        /// Whether it is full now.
        pub(crate) is_full: Arc<AtomicBool>,
    }

    struct FullFile {
        file: File,
        is_full: Arc<AtomicBool>,
        has_part: bool,
        reserved_bytes: u64,
    }

    impl FullFile {
        fn on(file: File, disk: &FullDisk) -> io::Result<Box<dyn DiskFile>> {
            let reserved_bytes = file.metadata()?.len();
            Ok(Box::new(FullFile { file, is_full: Arc::clone(&disk.is_full), has_part: false, reserved_bytes }))
        }
    }

    impl Disk for FullDisk {
        fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
            FullFile::on(File::create(path)?, self)
        }

        fn open_or_create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
            FullFile::on(File::options().write(true).create(true).truncate(false).open(path)?, self)
        }

        fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
            self.create(path)
        }
    }

    impl FullFile {
        fn refuse(&self) -> io::Result<()> {
            if self.is_full.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Write for FullFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let end = self.file.stream_position()? + bytes.len() as u64;
            if self.refuse().is_ok() || end <= self.reserved_bytes {
                return self.file.write(bytes);
            }
            if std::mem::replace(&mut self.has_part, true) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.file.write(&bytes[..bytes.len() / 2])
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    impl Seek for FullFile {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    impl DiskFile for FullFile {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            if length > self.reserved_bytes {
                self.refuse()?;
            }
            self.file.set_len(length)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.file.sync_all()
        }
    }
}
