//! What is sent: a file, or a pattern in memory that is read like one.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

/// The pattern is so long, and begins again.
const PATTERN_BYTES: u64 = 4 << 20;

/// What is sent. A file is sent from its beginning, once; the pattern is as long as anybody asks.
#[derive(Debug)]
pub struct Source {
    file: File,
    /// So many bytes, and then from the beginning again.
    period: u64,
    size: u64,
}

impl Source {
    /// A pattern of `size` bytes, in memory.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn pattern(size: u64) -> io::Result<Source> {
        let period = size.clamp(1, PATTERN_BYTES);
        let text: Vec<u8> = (0..period).map(|at| if at % 80 == 79 { b'\n' } else { b'a' + (at % 23) as u8 }).collect();
        Source::repeated(&text, size)
    }

    /// `text`, which is not empty, over and over until there are `size` bytes of it; in memory.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn repeated(text: &[u8], size: u64) -> io::Result<Source> {
        let mut file = File::from(memfd_create("loadgo-pattern", MemfdFlags::CLOEXEC)?);
        file.write_all(text)?;
        Ok(Source { file, period: text.len().max(1) as u64, size })
    }

    /// The file `path`, or its first `size` bytes.
    ///
    /// # Errors
    /// When it cannot be read, or has fewer bytes.
    pub fn file(path: &Path, size: Option<u64>) -> io::Result<Source> {
        let plain = |kept: Metadata| {
            if kept.is_file() { Ok(kept) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")) }
        };
        plain(path.metadata()?)?; // to open a pipe is to wait for who writes into it
        let file = File::open(path)?;
        let kept = plain(file.metadata()?)?;
        let size = size.unwrap_or(kept.len());
        if size > kept.len() {
            let told = format!("it has {} bytes, not {size}", kept.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, told));
        }
        Ok(Source { file, period: size.max(1), size })
    }

    /// How many bytes are to be sent.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// So many bytes can be mapped.
    pub fn period(&self) -> u64 {
        self.period
    }

    /// The file itself.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where in the file the byte `at` is, and how many of `wanted` lie there in one piece.
    pub fn piece(&self, at: u64, wanted: u64) -> (u64, usize) {
        let place = at % self.period;
        (place, wanted.min(self.period - place).min(self.size - at) as usize)
    }

    /// Reads bytes from `at` on into `into`, all of them; a call for each piece, and their number is told.
    ///
    /// # Errors
    /// When the file cannot be read, or has become shorter.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<u64> {
        let (mut done, mut calls) = (0, 0);
        while done < into.len() {
            let (place, length) = self.piece(at + done as u64, (into.len() - done) as u64);
            let read = self.file.read_at(&mut into[done..done + length], place)?;
            calls += 1;
            if read == 0 {
                return Err(shrunk(at + done as u64));
            }
            done += read;
        }
        Ok(calls)
    }
}

/// The error of a file that has become shorter while it is sent.
pub(crate) fn shrunk(at: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file became shorter while it was sent: it ends at byte {at}"))
}
