//! A stream that another host sends in pieces: nothing of it is kept before its message is complete and has our columns.
//!
//! The sender is not trusted. A message of more than [`MOST_MESSAGE_BYTES`] is refused at its head, so that a stream holds at most
//! one such message in memory, whatever comes.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::ArrowError;

use crate::Table;
use crate::checksum::{Checksum, MESSAGE_HEAD_BYTES, check};
use crate::follow::{Message, first_message};

/// Largest number of bytes of a message from elsewhere. A message of our writer has at most 4096 rows, so this leaves 8 KiB for
/// each; the largest one measured had 1 MiB.
pub const MOST_MESSAGE_BYTES: usize = 32 << 20;

/// A stream from elsewhere whose bytes are not those of its table.
#[derive(Debug)]
pub struct StreamDamage {
    table: Table,
    kind: DamageKind,
}

#[derive(Debug)]
enum DamageKind {
    /// Bytes come after the end of the stream.
    AfterEnd,
    /// The head of a message is none, for this reason.
    Head(String),
    /// A message would have this number of bytes.
    LongMessage(usize),
    /// The library's reader refuses a message.
    Message(ArrowError),
    /// The library's reader has panicked.
    Panic,
    /// The rows have other columns than the table.
    OtherColumns,
}

impl fmt::Display for StreamDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.table.name())?;
        match &self.kind {
            DamageKind::AfterEnd => f.write_str("bytes come after its end"),
            DamageKind::Head(reason) => f.write_str(reason),
            DamageKind::LongMessage(bytes) => {
                write!(f, "a message of {bytes} bytes, of which {MOST_MESSAGE_BYTES} are allowed")
            }
            DamageKind::Message(error) => error.fmt(f),
            DamageKind::Panic => f.write_str("it cannot be read"),
            DamageKind::OtherColumns => f.write_str("it has other columns than this loadgo's"),
        }
    }
}

impl std::error::Error for StreamDamage {}

/// The part of a table's stream that has arrived.
#[derive(Debug)]
pub struct ArrivingStream {
    table: Table,
    decoder: StreamDecoder,
    pending: Vec<u8>,
    /// Number of pending bytes before which another look at the first message shows nothing new.
    needed_bytes: usize,
    has_ended: bool,
}

impl ArrivingStream {
    /// Begins the stream of `table`.
    pub fn begin(table: Table) -> ArrivingStream {
        ArrivingStream { table, decoder: StreamDecoder::new(), pending: Vec::new(), needed_bytes: 0, has_ended: false }
    }

    /// Takes the next bytes. Returns the messages that they complete, as they came.
    ///
    /// # Errors
    /// The bytes are no stream of this table. They are forgotten.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<u8>, StreamDamage> {
        self.pending.extend_from_slice(bytes);
        self.take_whole().inspect_err(|_| self.pending = Vec::new())
    }

    fn take_whole(&mut self) -> Result<Vec<u8>, StreamDamage> {
        let mut whole_bytes = 0;
        while let Some(length) = self.first_message_bytes(whole_bytes)? {
            whole_bytes += length;
        }
        if whole_bytes == 0 {
            return Ok(Vec::new());
        }
        let rest = self.pending.split_off(whole_bytes);
        Ok(std::mem::replace(&mut self.pending, rest))
    }

    /// The bytes of the message that has begun and is not complete.
    pub fn incomplete(&self) -> &[u8] {
        &self.pending
    }

    /// Checks the message at `offset` in the pending bytes. Returns its length; `None` if it is not complete.
    fn first_message_bytes(&mut self, offset: usize) -> Result<Option<usize>, StreamDamage> {
        let bytes = &self.pending[offset..];
        if bytes.is_empty() || bytes.len() < self.needed_bytes {
            return Ok(None);
        }
        let (length, is_whole) = match first_message(bytes) {
            _ if self.has_ended => return Err(self.damage(DamageKind::AfterEnd)),
            Message::Damaged(reason) => return Err(self.damage(DamageKind::Head(reason))),
            Message::End => {
                self.has_ended = true;
                return Ok(Some(MESSAGE_HEAD_BYTES));
            }
            Message::Whole(length) => (length, true),
            Message::Part(length) => (length, false),
        };
        if length > MOST_MESSAGE_BYTES {
            return Err(self.damage(DamageKind::LongMessage(length)));
        }
        self.needed_bytes = if is_whole { 0 } else { length };
        is_whole.then(|| self.decode(offset, length).map(|()| length)).transpose()
    }

    /// Decodes a complete message, which shows whether it is one of this table. A panic of the library is its damage.
    fn decode(&mut self, offset: usize, length: usize) -> Result<(), StreamDamage> {
        if check(&self.pending[offset..][..length]) == Checksum::Wrong {
            return Err(self.damage(DamageKind::Head("a message has changed on its way".into())));
        }
        let mut message = Buffer::from(&self.pending[offset..][..length]);
        let decoder = &mut self.decoder;
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            while !message.is_empty() {
                decoder.decode(&mut message)?;
            }
            Ok::<_, ArrowError>(())
        }));
        match decoded {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.damage(DamageKind::Message(error))),
            Err(_) => return Err(self.damage(DamageKind::Panic)),
        }
        match self.decoder.schema() {
            Some(schema) if schema.fields() != self.table.schema().fields() => Err(self.damage(DamageKind::OtherColumns)),
            _ => Ok(()),
        }
    }

    fn damage(&self, kind: DamageKind) -> StreamDamage {
        StreamDamage { table: self.table, kind }
    }
}
