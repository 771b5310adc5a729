//! Frames: a kind, a length and bytes, one after the other, behind a greeting.
//!
//! The agent's stream begins with [`GREETING_BYTES`]; a log-in shell there may print text before it, which is skipped. Then each frame
//! is one byte (the kind), four bytes (the length of the body, big-endian), and the body. The controller's stream is frames alone.
//! The decoder keeps at most one frame, or the text before the greeting, whatever the other side sends.

use std::fmt;

/// The first bytes of an agent's stream. The number is the version of the frames.
pub const GREETING_BYTES: &[u8] = b"\0loadgo-agent 1\n";
/// Largest number of bytes of a frame's body. Messages of tables are cut into pieces of [`PIECE_BYTES`].
pub const MOST_BODY_BYTES: usize = 1 << 20;
/// Number of bytes of a table that one frame carries.
pub const PIECE_BYTES: usize = 1 << 16;
/// Largest number of bytes that may come before the greeting.
pub const MOST_TEXT_BYTES: usize = 1 << 16;

const HEAD_BYTES: usize = 5;
/// Number of bytes of a wrong stream that a message shows.
const SHOWN_BYTES: usize = 60;

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From the agent, once: who it is.
    Hello,
    /// From the controller: what the agent is to do.
    Request,
    /// From both sides, once a second: the sender is alive.
    Beat,
    /// From the controller: the work is to end before its time, in order.
    Stop,
    /// From the controller: 8 bytes of its choice. From the agent, at once: these bytes, and its monotonic clock in nanoseconds when they
    /// came and when the answer left, 8 bytes each, big-endian.
    Clock,
    /// From the agent, before the first `run.toml` of its records: the beginning of the records on its monotonic clock, in nanoseconds, as
    /// 8 bytes, big-endian.
    Origin,
    /// From the controller: an order to the driver at work here.
    Order,
    /// From a driver's agent, and to the agent of its users' host: users and the lines that they type next. The form is that of
    /// `loadgo_host::terminals::next_lines`.
    NextLines,
    /// From the agent: how far the driver at work here has come.
    Progress,
    /// From the agent, before a metering's first `run.toml`: the directory in which sessions announce themselves.
    Sessions,
    /// From the agent: the number of a command's stream, 1 for its output and 2 for its errors, and the next bytes of it.
    Printed,
    /// From the agent: the text of `run.toml`, at the beginning and at the end of its records.
    RunToml,
    /// From the agent: the number of a table, and the next bytes of its stream.
    Table,
    /// From the agent: the answer, which is the last frame about a request.
    Answer,
    /// From the agent, in place of an answer: the reason why there is none.
    Refusal,
}

impl Kind {
    const ALL: [(Kind, u8); 15] = [
        (Kind::Hello, b'H'),
        (Kind::Request, b'Q'),
        (Kind::Beat, b'B'),
        (Kind::Stop, b'S'),
        (Kind::Clock, b'C'),
        (Kind::Origin, b'O'),
        (Kind::Order, b'D'),
        (Kind::NextLines, b'L'),
        (Kind::Progress, b'P'),
        (Kind::Sessions, b'U'),
        (Kind::Printed, b'W'),
        (Kind::RunToml, b'T'),
        (Kind::Table, b'M'),
        (Kind::Answer, b'A'),
        (Kind::Refusal, b'R'),
    ];

    /// The kind's byte in the head of a frame.
    pub fn byte(self) -> u8 {
        Kind::ALL.into_iter().find(|(kind, _)| *kind == self).expect("every kind has a byte").1
    }

    fn of_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|(_, of)| *of == byte).map(|(kind, _)| kind)
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The kind.
    pub kind: Kind,
    /// The bytes.
    pub body: Vec<u8>,
}

impl Frame {
    /// The frame as it stands in a stream.
    ///
    /// # Panics
    /// The body is larger than [`MOST_BODY_BYTES`], which is our own mistake.
    pub fn encoded(kind: Kind, body: &[u8]) -> Vec<u8> {
        assert!(body.len() <= MOST_BODY_BYTES, "a frame has at most {MOST_BODY_BYTES} bytes");
        let length = (body.len() as u32).to_be_bytes();
        [&[kind.byte()], length.as_slice(), body].concat()
    }
}

/// A stream that is none of an agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongStream {
    /// Too much text came before the greeting; its beginning.
    NoGreeting(String),
    /// A frame of no known kind.
    UnknownKind(u8),
    /// A frame whose body is said to have this number of bytes.
    TooLong(usize),
}

impl fmt::Display for WrongStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongStream::NoGreeting(text) => {
                write!(f, "{MOST_TEXT_BYTES} bytes came and the agent's greeting is not among them; they begin with {text:?}")
            }
            WrongStream::UnknownKind(byte) => write!(f, "a frame of the unknown kind {byte:#04x}"),
            WrongStream::TooLong(bytes) => write!(f, "a frame of {bytes} bytes, of which {MOST_BODY_BYTES} are allowed"),
        }
    }
}

/// Takes frames out of the bytes of a stream, in whatever pieces they come.
#[derive(Debug)]
pub struct Decoder {
    pending: Vec<u8>,
    is_greeted: bool,
    failure: Option<WrongStream>,
}

impl Decoder {
    /// A decoder of an agent's stream, which begins with the greeting.
    pub fn of_agent() -> Decoder {
        Decoder { pending: Vec::new(), is_greeted: false, failure: None }
    }

    /// A decoder of a controller's stream.
    pub fn of_controller() -> Decoder {
        Decoder { is_greeted: true, ..Decoder::of_agent() }
    }

    /// Takes the next bytes, and returns the frames that they complete.
    ///
    /// # Errors
    /// The stream is wrong; it stays so.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Frame>, WrongStream> {
        let mut frames = Vec::new();
        while self.failure.is_none() && !bytes.is_empty() {
            // Never more than the largest frame is kept, even if the caller feeds a gigabyte.
            let (piece, rest) = bytes.split_at(bytes.len().min(PIECE_BYTES));
            self.pending.extend_from_slice(piece);
            bytes = rest;
            self.failure = self.take_frames(&mut frames).err();
        }
        match &self.failure {
            Some(failure) if frames.is_empty() => Err(failure.clone()),
            _ => Ok(frames), // the frames before the fault count; the next call returns it
        }
    }

    /// Whether the stream may end here: after the greeting, and between two frames.
    pub fn is_between_frames(&self) -> bool {
        self.is_greeted && self.pending.is_empty() && self.failure.is_none()
    }

    /// The text that came in place of the greeting, for people; empty after the greeting.
    pub fn text_before_greeting(&self) -> String {
        if self.is_greeted { String::new() } else { String::from_utf8_lossy(&self.pending).trim().to_owned() }
    }

    fn take_frames(&mut self, frames: &mut Vec<Frame>) -> Result<(), WrongStream> {
        if !self.is_greeted && !self.find_greeting()? {
            return Ok(());
        }
        let mut taken_bytes = 0;
        let cut = loop {
            match first_frame(&self.pending[taken_bytes..]) {
                Ok(Some((frame, length))) => {
                    frames.push(frame);
                    taken_bytes += length;
                }
                Ok(None) => break Ok(()),
                Err(failure) => break Err(failure),
            }
        };
        self.pending.drain(..taken_bytes);
        cut
    }

    /// Drops the text before the greeting and the greeting itself, if it is there.
    fn find_greeting(&mut self) -> Result<bool, WrongStream> {
        if let Some(at) = self.pending.windows(GREETING_BYTES.len()).position(|bytes| bytes == GREETING_BYTES) {
            self.pending.drain(..at + GREETING_BYTES.len());
            self.is_greeted = true;
        } else if self.pending.len() > MOST_TEXT_BYTES + GREETING_BYTES.len() {
            let shown = String::from_utf8_lossy(&self.pending[..SHOWN_BYTES]).into_owned();
            self.pending = Vec::new();
            return Err(WrongStream::NoGreeting(shown));
        }
        Ok(self.is_greeted)
    }
}

/// The frame at the beginning of `bytes` and its length with the head; `None` if it is not complete.
fn first_frame(bytes: &[u8]) -> Result<Option<(Frame, usize)>, WrongStream> {
    let Some((&[kind, a, b, c, d], rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let kind = Kind::of_byte(kind).ok_or(WrongStream::UnknownKind(kind))?;
    if length > MOST_BODY_BYTES {
        return Err(WrongStream::TooLong(length));
    }
    Ok(rest.get(..length).map(|body| (Frame { kind, body: body.to_vec() }, HEAD_BYTES + length)))
}
