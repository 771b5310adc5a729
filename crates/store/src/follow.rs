//! Reading a stream as it grows, whole batch by whole batch; reading it afterwards is the same.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;

use crate::message::{self, Message};
use crate::{Error, Result};

const CHUNK: u64 = 4 << 20;

/// A reader that waits at the end of a stream for more of it. It keeps its file open, so that it reads all of a stream
/// even when the run ends and the stream's name goes.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: File,
    decoder: StreamDecoder,
    pending: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl Follower {
    /// Begins to read the stream at `path`.
    pub fn open(path: &Path) -> Result<Follower> {
        let file = File::open(path).map_err(Error::refused("read", path))?;
        Ok(Follower { path: path.into(), file, decoder: StreamDecoder::new(), pending: Vec::new(), taken: 0, ended: false })
    }

    /// True when the stream's end mark has been read: nothing more will come.
    pub fn ended(&self) -> bool {
        self.ended
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
            match message::first(&self.pending[self.taken..]) {
                Message::Whole(length) => {
                    let message = self.pending[self.taken..][..length].to_vec();
                    self.taken += length;
                    return Ok(Some(message));
                }
                Message::End => {
                    self.ended = true;
                    return Ok(None);
                }
                Message::Damaged(reason) => return Err(self.damaged(reason)),
                Message::Part if self.read_more()? => {}
                Message::Part => return Ok(None),
            }
        }
    }

    /// Reads what the file has got; false when that is nothing.
    fn read_more(&mut self) -> Result<bool> {
        self.pending.drain(..self.taken);
        self.taken = 0;
        let read = (&self.file).take(CHUNK).read_to_end(&mut self.pending);
        read.map(|count| count > 0).map_err(Error::refused("read", &self.path))
    }

    fn damaged(&self, reason: String) -> Error {
        Error::Damaged(self.path.clone(), reason)
    }
}

/// The length of the whole batches at the beginning of the stream at `path`, in bytes: up to there any reader of Arrow
/// streams reads it, whatever a kill or a full disk left behind it.
pub fn whole_length(path: &Path) -> Result<u64> {
    let mut follower = Follower::open(path)?;
    let mut length = 0;
    loop {
        match follower.next_message() {
            Ok(Some(message)) => length += message.len() as u64,
            Ok(None) | Err(Error::Damaged(..)) => return Ok(length),
            Err(error) => return Err(error),
        }
    }
}

/// Calls `take` with each whole batch of the stream at `path`; a damaged or cut end ends it.
pub(crate) fn each_batch(path: &Path, mut take: impl FnMut(RecordBatch) -> io::Result<()>) -> Result<()> {
    let mut follower = Follower::open(path)?;
    loop {
        match follower.next_batch() {
            Ok(Some(batch)) => take(batch).map_err(Error::refused("convert", path))?,
            Ok(None) | Err(Error::Damaged(..)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
