//! Reads a stream, while it grows or afterwards, by complete batches.
//!
//! A message of a stream is `FFFFFFFF`, the length of its description, the description (a flatbuffer, which names the length of
//! the body), the body. A description of length 0 ends the stream. Arrow columnar format 1.5, "Encapsulated message format".

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::root_as_message;

use crate::checksum::{Checksum, MESSAGE_HEAD_BYTES, check};
use crate::{Error, Folder, Result, Table};

/// Largest number of bytes of a stream that one read takes into memory.
const READ_CHUNK_BYTES: u64 = 4 << 20;

/// A reader that can go on at the end of a stream when the stream has grown. It keeps its file open, so it reads the whole
/// stream even if the run ends and removes the file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: File,
    decoder: StreamDecoder,
    /// Offset in the file at which the last complete message ends.
    position: u64,
    pending: Vec<u8>,
    taken: usize,
    ended: bool,
    /// Whether messages of this stream have checksums; `None` before the first one.
    has_checksums: Option<bool>,
    /// Whether the last message was a batch without rows, as stands before the end mark.
    is_before_end: bool,
}

impl Follower {
    /// Begins to read the stream at `path`.
    pub fn open(path: &Path) -> Result<Follower> {
        let file = File::open(path).map_err(Error::refused("read", path))?;
        Ok(Follower {
            path: path.into(),
            file,
            decoder: StreamDecoder::new(),
            position: 0,
            pending: Vec::new(),
            taken: 0,
            ended: false,
            has_checksums: None,
            is_before_end: false,
        })
    }

    /// Whether the stream's end mark has been read, after which nothing comes.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// A description of an incomplete batch at the end of the file, if there is one.
    fn describe_incomplete_batch(&self) -> Option<String> {
        let bytes = self.file.metadata().map_or(0, |file| file.len().saturating_sub(self.position));
        (bytes > 0 && !self.ended).then(|| format!("its first {bytes} bytes are there"))
    }

    /// The next complete batch; `None` if there is none yet.
    ///
    /// Errors: [`Error::Damaged`] if the next bytes belong to no stream. Earlier calls have returned all batches before them.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(message) = self.next_message()? {
            let decoded = decode(&mut self.decoder, message);
            let batch = decoded.map_err(|reason| self.damaged(reason))?;
            if batch.as_ref().is_some_and(|batch| batch.num_rows() > 0) {
                return Ok(batch);
            }
        }
        Ok(None)
    }

    /// The bytes of the next complete message; `None` if there is none yet.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            match first_message(&self.pending[self.taken..]) {
                Message::Whole(length) => {
                    let message = self.pending[self.taken..][..length].to_vec();
                    self.check(&message)?;
                    self.taken += length;
                    self.position += length as u64;
                    return Ok(Some(message));
                }
                Message::End if self.has_checksums == Some(true) && !self.is_before_end => {
                    return Err(self.damaged("it has no end where an end mark stands".into()));
                }
                Message::End => {
                    self.ended = true;
                    return Ok(None);
                }
                Message::Damaged(reason) => return Err(self.damaged(reason)),
                Message::Part(_) if self.read_more()? => {}
                Message::Part(_) => return self.forget_part().map(|()| None),
            }
        }
    }

    /// Checks a message by its checksum. A stream has one in each message, or in none.
    fn check(&mut self, message: &[u8]) -> Result<()> {
        let checksum = check(message);
        let is_same = |known: bool| known == (checksum == Checksum::Right);
        if checksum == Checksum::Wrong || !self.has_checksums.is_none_or(is_same) {
            return Err(self.damaged("a batch has changed since it was written".into()));
        }
        self.has_checksums = Some(checksum == Checksum::Right);
        self.is_before_end = is_empty_batch(message);
        Ok(())
    }

    /// Goes back to the end of the last complete message. On a full disk the writer cuts off a part of a message, and later
    /// writes other bytes in its place.
    fn forget_part(&mut self) -> Result<()> {
        self.pending.clear();
        self.taken = 0;
        let sought = self.file.seek(SeekFrom::Start(self.position));
        sought.map(|_| ()).map_err(Error::refused("read", &self.path))
    }

    /// Reads bytes that the file has gained. Returns whether there were any.
    fn read_more(&mut self) -> Result<bool> {
        self.pending.drain(..self.taken);
        self.taken = 0;
        let read = (&self.file).take(READ_CHUNK_BYTES).read_to_end(&mut self.pending);
        read.map(|count| count > 0).map_err(Error::refused("read", &self.path))
    }

    fn damaged(&self, reason: String) -> Error {
        Error::Damaged(self.path.clone(), reason)
    }
}

/// Length of the complete messages at the beginning of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholePart {
    /// Number of bytes, which any reader of Arrow streams can read.
    pub bytes: u64,
    /// Rows in these bytes.
    pub rows: u64,
    /// Description of the bytes behind them, which are no whole message; `None` if there are none.
    pub rest: Option<String>,
}

/// Measures the complete messages of the stream at `path`, which a kill or a full disk may have cut within a message.
pub fn whole_part(path: &Path) -> Result<WholePart> {
    let mut follower = Follower::open(path)?;
    let mut whole = WholePart::default();
    loop {
        match follower.next_message() {
            Ok(Some(message)) => {
                whole.bytes += message.len() as u64;
                whole.rows += rows_of(&message);
            }
            Ok(None) => return Ok(WholePart { rest: follower.describe_incomplete_batch(), ..whole }),
            Err(Error::Damaged(_, reason)) => return Ok(WholePart { rest: Some(reason), ..whole }),
            Err(error) => return Err(error),
        }
    }
}

/// Whether `folder` has rows that a report is made of: interactions, or processor time.
pub fn has_rows(folder: &Folder) -> bool {
    let has = |table| {
        let has_streamed = || whole_part(&folder.stream(table)).is_ok_and(|whole| whole.rows > 0);
        folder.parquet(table).exists() || has_streamed()
    };
    [Table::Interactions, Table::Time].into_iter().any(has)
}

/// Calls `take` with each complete batch of the stream at `path`. Returns a description of the bytes after the last, if there are
/// any.
pub(crate) fn each_batch(path: &Path, mut take: impl FnMut(RecordBatch) -> io::Result<()>) -> Result<Option<String>> {
    let mut follower = Follower::open(path)?;
    loop {
        match follower.next_batch() {
            Ok(Some(batch)) => take(batch).map_err(Error::refused("convert", path))?,
            Ok(None) => return Ok(follower.describe_incomplete_batch()),
            Err(Error::Damaged(_, reason)) => return Ok(Some(reason)),
            Err(error) => return Err(error),
        }
    }
}

/// Decodes a complete message; the error is its damage. The library panics over bytes that no writer makes, such as an offset
/// beyond the message.
fn decode(decoder: &mut StreamDecoder, message: Vec<u8>) -> std::result::Result<Option<RecordBatch>, String> {
    let mut message = Buffer::from(message);
    match catch_unwind(AssertUnwindSafe(|| decoder.decode(&mut message))) {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("it cannot be read".into()),
    }
}

const CONTINUATION: [u8; 4] = [0xFF; 4];

/// The state of the first message in some bytes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A complete message of this number of bytes.
    Whole(usize),
    /// The mark that ends the stream.
    End,
    /// An incomplete message. It has at least this number of bytes.
    Part(usize),
    /// No message: the bytes belong to no stream.
    Damaged(String),
}

/// Looks at the first message of `bytes`.
pub(crate) fn first_message(bytes: &[u8]) -> Message {
    let Some((head, rest)) = bytes.split_at_checked(MESSAGE_HEAD_BYTES) else { return Message::Part(MESSAGE_HEAD_BYTES) };
    if head[..4] != CONTINUATION {
        return Message::Damaged("a message does not begin where it should".into());
    }
    let described = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if described == 0 {
        return Message::End;
    }
    let described_bytes = MESSAGE_HEAD_BYTES + described;
    let Some(description) = rest.get(..described) else { return Message::Part(described_bytes) };
    match root_as_message(description).map(|message| usize::try_from(message.bodyLength())) {
        Ok(Ok(body)) if rest.len() - described >= body => Message::Whole(described_bytes + body),
        Ok(Ok(body)) => Message::Part(described_bytes.saturating_add(body)),
        Ok(Err(_)) => Message::Damaged("a message of negative length".into()),
        Err(error) => Message::Damaged(error.to_string()),
    }
}

fn is_empty_batch(message: &[u8]) -> bool {
    let message = root_as_message(&message[MESSAGE_HEAD_BYTES..]).ok();
    message.and_then(|message| message.header_as_record_batch()).is_some_and(|batch| batch.length() == 0)
}

/// Number of rows in a complete message; 0 if it is no record batch.
fn rows_of(message: &[u8]) -> u64 {
    let rows = root_as_message(&message[MESSAGE_HEAD_BYTES..]).ok().and_then(|message| message.header_as_record_batch());
    rows.map_or(0, |batch| batch.length().unsigned_abs())
}
