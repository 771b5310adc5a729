//! The controller's side of a metering: the run folder here, which is written from the agent's frames.
//!
//! What comes from another host is not trusted. Streams of other columns than ours, and any other damage, are refused with words
//! before they are written. Memory holds at most one message, and the disk gets no more than a metering can make in its time.

use loadgo_store::{ArrivingStream, Error, Folder, MOST_MESSAGE_BYTES, Table};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// The number of bytes that a metering may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// At once: the first spans, and what a network kept back while it stood still.
    pub first_bytes: u64,
    /// In each second.
    pub bytes_per_s: u64,
    /// In all.
    pub all_bytes: u64,
}

impl Allowance {
    /// The allowance of every metering. The exact meters of two busy processors made 0.3 MB/s with spans of 1 s. With the shortest
    /// spans, of 10 ms, it was 1.9 MB/s. Rows by user make more of them.
    pub const OF_A_METERING: Allowance = Allowance { first_bytes: 256 << 20, bytes_per_s: 32 << 20, all_bytes: 64 << 30 };

    /// Number of bytes that may have come after this time.
    pub fn bytes_after(self, elapsed: Duration) -> u64 {
        self.first_bytes.saturating_add(elapsed.as_secs().saturating_mul(self.bytes_per_s)).min(self.all_bytes)
    }
}

/// Why records from elsewhere cannot be kept.
#[derive(Debug)]
pub enum NotKept {
    /// The folder here refuses them.
    Folder(Error),
    /// The records are none of loadgo's, for this reason.
    Damaged(String),
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotKept::Folder(error) => write!(f, "{error}"),
            NotKept::Damaged(reason) => write!(f, "the records from the other host are damaged: {reason}"),
        }
    }
}

impl From<Error> for NotKept {
    fn from(error: Error) -> NotKept {
        NotKept::Folder(error)
    }
}

/// A run folder that grows by frames.
#[derive(Debug)]
pub struct ReceivedRecords {
    folder: Folder,
    tables: Vec<ReceivedTable>,
    bytes: u64,
    begun: Instant,
    /// The number of bytes that may come.
    pub allowance: Allowance,
}

/// A table that grows by frames.
#[derive(Debug)]
struct ReceivedTable {
    stream: ArrivingStream,
    file: File,
}

impl ReceivedRecords {
    /// Makes the folder with the agent's `run_toml`, and begins a stream for each table.
    ///
    /// # Errors
    /// The folder holds a run already, or cannot be written; `run_toml` is none.
    pub fn begin(folder: &Path, run_toml: &[u8]) -> Result<ReceivedRecords, NotKept> {
        let folder = Folder::create(folder, run_toml_text(run_toml)?)?;
        let create = |table: Table| {
            let path = folder.stream(table);
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path);
            let file = file.map_err(|error| NotKept::Folder(Error::Refused("write", path, error)))?;
            Ok::<_, NotKept>(ReceivedTable { stream: ArrivingStream::begin(table), file })
        };
        let tables = Table::ALL.into_iter().map(create).collect::<Result<_, _>>()?;
        Ok(ReceivedRecords { folder, tables, bytes: 0, begun: Instant::now(), allowance: Allowance::OF_A_METERING })
    }

    /// Appends the body of a frame: the number of a table, and the next bytes of its stream.
    ///
    /// # Errors
    /// There is no such table; the bytes are not its stream; the disk here refuses; too many bytes came.
    pub fn append(&mut self, body: &[u8]) -> Result<(), NotKept> {
        let Some((&number, bytes)) = body.split_first() else { return Err(damaged("a frame of no table")) };
        let Some(table) = self.tables.get_mut(usize::from(number)) else { return Err(damaged("a frame of an unknown table")) };
        self.bytes += bytes.len() as u64;
        if self.bytes > self.allowance.bytes_after(self.begun.elapsed()) {
            return Err(damaged("more bytes have come than a metering of this length makes"));
        }
        let whole = table.stream.take(bytes).map_err(|damage| damaged(&damage.to_string()))?;
        write(&self.folder, number, &mut table.file, &whole)?;
        if self.tables.iter().map(|table| table.stream.incomplete().len()).sum::<usize>() > MOST_MESSAGE_BYTES {
            return Err(damaged("several messages have begun, and none is complete"));
        }
        Ok(())
    }

    /// Completes the folder with the agent's last `run_toml`: all tables become Parquet.
    ///
    /// # Errors
    /// The records are damaged, or the disk here refuses. The streams then stay.
    pub fn finish(mut self, run_toml: &[u8]) -> Result<(), NotKept> {
        let run_toml = run_toml_text(run_toml)?;
        self.end_streams()?;
        let run_toml = loadgo_store::without_manifest(&self.folder, run_toml)?;
        let finish = || loadgo_store::finish(&self.folder, &run_toml, &[]).map_err(NotKept::from);
        caught(finish)
    }

    /// Completes the folder of a metering whose agent was lost, as that of a run that was killed, with a note about the loss.
    ///
    /// # Errors
    /// As those of [`ReceivedRecords::finish`].
    pub fn break_off(mut self, note: String) -> Result<(), NotKept> {
        self.end_streams()?;
        let path = self.folder.dir().to_owned();
        drop(self); // its lock says that the run is being written
        let folder = Folder::open(path)?;
        folder.add_notes(&[note])?;
        caught(|| loadgo_store::complete(&folder).map_err(NotKept::from))
    }

    /// Writes what has come of incomplete messages, which are counted as lost. A stream of which nothing came is removed.
    fn end_streams(&mut self) -> Result<(), NotKept> {
        for (table, number) in self.tables.iter_mut().zip(0..) {
            write(&self.folder, number, &mut table.file, table.stream.incomplete())?;
            let path = self.folder.stream(Table::ALL[usize::from(number)]);
            if path.metadata().map_or(0, |file| file.len()) == 0 {
                let _ = std::fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

fn write(folder: &Folder, number: u8, file: &mut File, bytes: &[u8]) -> Result<(), NotKept> {
    let path = || folder.stream(Table::ALL[usize::from(number)]);
    file.write_all(bytes).map_err(|error| NotKept::Folder(Error::Refused("write", path(), error)))
}

/// The text of a `run.toml` that is one.
fn run_toml_text(bytes: &[u8]) -> Result<&str, NotKept> {
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("run.toml is not UTF-8"))?;
    text.parse::<toml::Table>().map_err(|error| damaged(&format!("run.toml: {}", error.message())))?;
    Ok(text)
}

/// Calls `work` on bytes from elsewhere. A panic of a library that reads them is their damage, and not our end.
fn caught<T>(work: impl FnOnce() -> Result<T, NotKept>) -> Result<T, NotKept> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(damaged("they cannot be read")))
}

fn damaged(reason: &str) -> NotKept {
    NotKept::Damaged(reason.to_owned())
}
