//! The data that an end sends: a file, or a pattern in memory that is read like one.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

/// Length of the pattern, which is repeated.
const PATTERN_BYTES: u64 = 4 << 20;

/// Data to send: the beginning of a file, or a repeated pattern of any length.
#[derive(Debug)]
pub struct DataSource {
    file: File,
    /// Number of bytes after which the data repeat.
    period: u64,
    size: u64,
}

impl DataSource {
    /// A pattern of `size` bytes, in memory.
    ///
    /// # Errors
    /// There is no memory for the pattern.
    pub fn pattern(size: u64) -> io::Result<DataSource> {
        let period = size.clamp(1, PATTERN_BYTES);
        let text: Vec<u8> = (0..period).map(|at| if at % 80 == 79 { b'\n' } else { b'a' + (at % 23) as u8 }).collect();
        DataSource::repeated(&text, size)
    }

    /// `text`, which must not be empty, repeated in memory up to `size` bytes.
    ///
    /// # Errors
    /// There is no memory for the text.
    pub fn repeated(text: &[u8], size: u64) -> io::Result<DataSource> {
        let mut file = File::from(memfd_create("loadgo-pattern", MemfdFlags::CLOEXEC)?);
        file.write_all(text)?;
        Ok(DataSource { file, period: text.len().max(1) as u64, size })
    }

    /// The file `path`, or its first `size` bytes.
    ///
    /// # Errors
    /// The file cannot be read, or has fewer bytes.
    pub fn file(path: &Path, size: Option<u64>) -> io::Result<DataSource> {
        let check_plain = |metadata: Metadata| {
            if metadata.is_file() {
                Ok(metadata)
            } else {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
            }
        };
        check_plain(path.metadata()?)?; // opening a pipe would wait for its writer
        let file = File::open(path)?;
        let metadata = check_plain(file.metadata()?)?;
        let size = size.unwrap_or(metadata.len());
        if size > metadata.len() {
            let reason = format!("it has {} bytes, not {size}", metadata.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        Ok(DataSource { file, period: size.max(1), size })
    }

    /// Number of bytes to send.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of bytes that can be mapped, after which the data repeat.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// The file's descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The file's offset of the data's byte `position`, and how many of `wanted` bytes lie there in one piece.
    pub fn piece(&self, position: u64, wanted: u64) -> (u64, usize) {
        let offset = position % self.period;
        (offset, wanted.min(self.period - offset).min(self.size - position) as usize)
    }

    /// Fills `into` with the data from `position` on, with a call for each piece. Returns the number of calls.
    ///
    /// # Errors
    /// The file cannot be read, or has become shorter.
    pub fn read(&self, position: u64, into: &mut [u8]) -> io::Result<u64> {
        let (mut done, mut calls) = (0, 0);
        while done < into.len() {
            let (offset, length) = self.piece(position + done as u64, (into.len() - done) as u64);
            let read = self.file.read_at(&mut into[done..done + length], offset)?;
            calls += 1;
            if read == 0 {
                return Err(shrunk_file_error(position + done as u64));
            }
            done += read;
        }
        Ok(calls)
    }
}

/// The error that a file has become shorter while it is sent.
pub(crate) fn shrunk_file_error(position: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file became shorter while it was sent: it ends at byte {position}"))
}
