//! A control connection: lines of JSON of bounded length, each awaited for a bounded time.

use loadgo_core::stop::StopRequest;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds::{CONTROL_TIMEOUT, STOP_POLL_PERIOD};
use crate::protocol::wire::MOST_CONTROL_LINE_BYTES;

/// One end of a control connection.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<TcpStream>,
}

impl Control {
    /// The control connection on `stream`.
    ///
    /// # Errors
    /// The stream's options cannot be set.
    pub fn new(stream: TcpStream) -> io::Result<Control> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(CONTROL_TIMEOUT))?; // give up a peer that never reads
        Ok(Control { stream: BufReader::new(stream) })
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)
    }

    /// Receives one whole message within `time`; setting `stop` ends the wait.
    ///
    /// # Errors
    /// No message came in time, the other end hung up, or it sent something else.
    pub fn receive<T: DeserializeOwned>(&mut self, time: Duration, stop: &StopRequest) -> io::Result<T> {
        let line = self.read_line(time, stop)?;
        serde_json::from_slice(&line).map_err(|_| other_protocol_error())
    }

    fn read_line(&mut self, time: Duration, stop: &StopRequest) -> io::Result<Vec<u8>> {
        let until = Instant::now() + time;
        self.stream.get_ref().set_read_timeout(Some(STOP_POLL_PERIOD))?;
        let mut line = Vec::new();
        loop {
            // One read at a time, so that a peer with a byte now and then cannot extend the time.
            match self.stream.fill_buf().map(|bytes| append_line(bytes, &mut line)) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
                Ok(used) => {
                    self.stream.consume(used);
                    if line.ends_with(b"\n") || line.len() as u64 == MOST_CONTROL_LINE_BYTES {
                        return Ok(line);
                    }
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
            if stop.is_set() {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was stopped"));
            }
            if Instant::now() > until {
                let reason = format!("it sent no message in {} s", time.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
        }
    }

    /// Whether the other end has hung up, or sent something unexpected.
    pub fn is_over(&self) -> bool {
        let stream = self.stream.get_ref();
        let mut byte = [0];
        let peeked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut byte));
        let _ = stream.set_nonblocking(false);
        !matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until the other end hangs up, for at most `time`.
    pub(crate) fn wait_for_hang_up(&mut self, time: Duration) {
        let _ = read_within(self.stream.get_mut(), &mut [0], time); // no further message is expected
    }
}

/// The error that the other end sends something else than messages of this protocol.
pub(crate) fn other_protocol_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it does not speak the protocol of loadgo transfer")
}

/// Appends the line's part of `bytes` to `line`, and returns its length.
fn append_line(bytes: &[u8], line: &mut Vec<u8>) -> usize {
    let room = MOST_CONTROL_LINE_BYTES as usize - line.len();
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |index| index + 1).min(room);
    line.extend_from_slice(&bytes[..end]);
    end
}

/// Fills `into` within `time`.
///
/// # Errors
/// The bytes did not come in time, or the other end hung up.
pub(crate) fn read_within(stream: &mut (impl Read + AsFd), into: &mut [u8], time: Duration) -> io::Result<()> {
    let until = Instant::now() + time;
    let mut filled = 0;
    while filled < into.len() {
        let remaining = until.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        set_socket_timeout(&*stream, Timeout::Recv, Some(remaining.max(Duration::from_millis(1))))?;
        match stream.read(&mut into[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
