//! Reading a stream as it grows, whole batch by whole batch; reading it afterwards is the same.
//!
//! A message of a stream is `FFFFFFFF`, the length of its description, the description (a flatbuffer, which names the length of the
//! body), the body. A description of length 0 ends the stream. Arrow columnar format 1.5, "Encapsulated message format".

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::root_as_message;

use crate::{Error, Result};

/// Most bytes of a stream that one read takes into memory.
const READ_CHUNK_BYTES: u64 = 4 << 20;

/// A reader that waits at the end of a stream for more of it. It keeps its file open, so that it reads all of a stream
/// even when the run ends and the stream's name goes.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: File,
    decoder: StreamDecoder,
    /// Where the last whole message ends in the file.
    position: u64,
    pending: Vec<u8>,
    taken: usize,
    ended: bool,
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
        })
    }

    /// True when the stream's end mark has been read: nothing more will come.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The words for the part of a batch at which this reader waits, if it is one.
    fn part(&self) -> Option<String> {
        let bytes = self.file.metadata().map_or(0, |file| file.len().saturating_sub(self.position));
        (bytes > 0 && !self.ended).then(|| format!("its first {bytes} bytes are there"))
    }

    /// The next whole batch; `None` when there is none yet.
    ///
    /// Errors: [`Error::Damaged`] when what follows is not of a stream. What came before it has been given.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(message) = self.next_message()? {
            let mut buffer = Buffer::from(message);
            let batch = self.decoder.decode(&mut buffer).map_err(|error| self.damaged(error.to_string()))?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }

    /// The bytes of the next whole message; `None` when there is none yet.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            match first_message(&self.pending[self.taken..]) {
                Message::Whole(length) => {
                    let message = self.pending[self.taken..][..length].to_vec();
                    self.taken += length;
                    self.position += length as u64;
                    return Ok(Some(message));
                }
                Message::End => {
                    self.ended = true;
                    return Ok(None);
                }
                Message::Damaged(reason) => return Err(self.damaged(reason)),
                Message::Part if self.read_more()? => {}
                Message::Part => return self.forget_part().map(|()| None),
            }
        }
    }

    /// Goes back to the end of the last whole message. On a full disk the writer removes a part of a message, and later
    /// writes other bytes in its place.
    fn forget_part(&mut self) -> Result<()> {
        self.pending.clear();
        self.taken = 0;
        let sought = self.file.seek(SeekFrom::Start(self.position));
        sought.map(|_| ()).map_err(Error::refused("read", &self.path))
    }

    /// Reads what the file has got; false when that is nothing.
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

/// How much of a stream is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WholePart {
    /// Bytes at the stream's beginning that any reader of Arrow streams can read.
    pub bytes: u64,
    /// Rows in these bytes.
    pub rows: u64,
}

/// How much of the stream at `path` is whole, whatever a kill or a full disk left behind that.
pub fn whole_part(path: &Path) -> Result<WholePart> {
    let mut follower = Follower::open(path)?;
    let mut whole = WholePart::default();
    loop {
        match follower.next_message() {
            Ok(Some(message)) => {
                whole.bytes += message.len() as u64;
                whole.rows += rows_of(&message);
            }
            Ok(None) | Err(Error::Damaged(..)) => return Ok(whole),
            Err(error) => return Err(error),
        }
    }
}

/// Calls `take` with each whole batch of the stream at `path`; the words for what stands behind the last, if anything.
pub(crate) fn each_batch(path: &Path, mut take: impl FnMut(RecordBatch) -> io::Result<()>) -> Result<Option<String>> {
    let mut follower = Follower::open(path)?;
    loop {
        match follower.next_batch() {
            Ok(Some(batch)) => take(batch).map_err(Error::refused("convert", path))?,
            Ok(None) => return Ok(follower.part()),
            Err(Error::Damaged(_, reason)) => return Ok(Some(reason)),
            Err(error) => return Err(error),
        }
    }
}

const CONTINUATION: [u8; 4] = [0xFF; 4];
/// Length of the mark and the length that every message begins with.
const MESSAGE_HEAD_BYTES: usize = 8;

/// The kind of message with which some bytes of a stream begin.
#[derive(Debug, PartialEq, Eq)]
enum Message {
    /// A message of so many bytes, all of them there.
    Whole(usize),
    /// The mark that ends the stream.
    End,
    /// Less than a message; more bytes must come.
    Part,
    /// No message: these bytes are not of a stream.
    Damaged(String),
}

/// Looks at the first message of `bytes`.
fn first_message(bytes: &[u8]) -> Message {
    let Some((head, rest)) = bytes.split_at_checked(MESSAGE_HEAD_BYTES) else { return Message::Part };
    if head[..4] != CONTINUATION {
        return Message::Damaged("a message does not begin where it should".into());
    }
    let described = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if described == 0 {
        return Message::End;
    }
    let Some(description) = rest.get(..described) else { return Message::Part };
    match root_as_message(description).map(|message| usize::try_from(message.bodyLength())) {
        Ok(Ok(body)) if rest.len() - described >= body => Message::Whole(MESSAGE_HEAD_BYTES + described + body),
        Ok(Ok(_)) => Message::Part,
        Ok(Err(_)) => Message::Damaged("a message of negative length".into()),
        Err(error) => Message::Damaged(error.to_string()),
    }
}

/// The rows of a whole message; 0 when it is not one of rows.
fn rows_of(message: &[u8]) -> u64 {
    let rows = root_as_message(&message[MESSAGE_HEAD_BYTES..]).ok().and_then(|message| message.header_as_record_batch());
    rows.map_or(0, |batch| batch.length().unsigned_abs())
}
