//! The controller's side of a metering: the run folder here, which is written from the agent's frames.
//!
//! What comes from another host is not trusted. Streams of other columns than ours, and any other damage, are refused with words.

use loadgo_store::{Error, Folder, Follower, Table};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The largest number of bytes that a metering may send, so that a hostile host cannot fill the disk here.
const MOST_RECORD_BYTES: u64 = 64 << 30;

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
    files: Vec<File>,
    bytes: u64,
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
            let file = OpenOptions::new().append(true).create_new(true).open(&path);
            file.map_err(|error| NotKept::Folder(Error::Refused("write", path, error)))
        };
        let files = Table::ALL.into_iter().map(create).collect::<Result<_, _>>()?;
        Ok(ReceivedRecords { folder, files, bytes: 0 })
    }

    /// Appends the body of a frame: the number of a table, and the next bytes of its stream.
    ///
    /// # Errors
    /// There is no such table; the disk here refuses; too many bytes came.
    pub fn append(&mut self, body: &[u8]) -> Result<(), NotKept> {
        let Some((&number, bytes)) = body.split_first() else { return Err(damaged("a frame of no table")) };
        let Some(file) = self.files.get_mut(usize::from(number)) else { return Err(damaged("a frame of an unknown table")) };
        self.bytes += bytes.len() as u64;
        if self.bytes > MOST_RECORD_BYTES {
            return Err(damaged("they are larger than any metering's"));
        }
        let path = || self.folder.stream(Table::ALL[usize::from(number)]);
        file.write_all(bytes).map_err(|error| NotKept::Folder(Error::Refused("write", path(), error)))
    }

    /// Completes the folder with the agent's last `run_toml`: all tables become Parquet.
    ///
    /// # Errors
    /// The records are damaged, or the disk here refuses. The streams then stay.
    pub fn finish(self, run_toml: &[u8]) -> Result<(), NotKept> {
        let run_toml = run_toml_text(run_toml)?;
        self.check_columns()?;
        let finish = || loadgo_store::finish(&self.folder, run_toml, &[]).map_err(NotKept::from);
        caught(finish)
    }

    /// Completes the folder of a metering whose agent was lost, as that of a run that was killed, with a note about the loss.
    ///
    /// # Errors
    /// As those of [`ReceivedRecords::finish`].
    pub fn break_off(self, note: String) -> Result<(), NotKept> {
        self.check_columns()?;
        let path = self.folder.dir().to_owned();
        drop(self); // its lock says that the run is being written
        let folder = Folder::open(path)?;
        folder.add_notes(&[note])?;
        caught(|| loadgo_store::complete(&folder).map_err(NotKept::from))
    }

    /// Checks that each stream has the columns of its table. A stream of which nothing came is removed.
    fn check_columns(&self) -> Result<(), NotKept> {
        for table in Table::ALL {
            let path = self.folder.stream(table);
            let length = path.metadata().map_or(0, |file| file.len());
            if length == 0 {
                let _ = std::fs::remove_file(&path);
                continue;
            }
            caught(|| check_stream(&path, table))?;
        }
        Ok(())
    }
}

fn check_stream(path: &Path, table: Table) -> Result<(), NotKept> {
    let mut follower = Follower::open(path)?;
    let name = table.name();
    while let Some(batch) = follower.next_batch().map_err(|error| damaged(&format!("{name}: {error}")))? {
        if batch.schema().fields() != table.schema().fields() {
            return Err(damaged(&format!("{name} has other columns than this loadgo's")));
        }
    }
    Ok(())
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
