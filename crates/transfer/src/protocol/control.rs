//! A control connection: lines of JSON of bounded length, each awaited for a bounded time.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds::{TO_LOOK_UP, TO_SAY_SOMETHING};
use crate::protocol::wire::LONGEST_LINE;

/// One end of a control connection.
#[derive(Debug)]
pub struct Control {
    stream: BufReader<TcpStream>,
}

impl Control {
    /// Over `stream`.
    ///
    /// # Errors
    /// When its options cannot be set.
    pub fn new(stream: TcpStream) -> io::Result<Control> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(TO_SAY_SOMETHING))?; // who never reads is left
        Ok(Control { stream: BufReader::new(stream) })
    }

    /// Says one thing.
    ///
    /// # Errors
    /// When the far end is gone.
    pub fn say(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)
    }

    /// Hears one thing, the whole of it within `time`; `stop` ends the waiting.
    ///
    /// # Errors
    /// In words: it did not say it in time, ended, or spoke something else.
    pub fn hear<T: DeserializeOwned>(&mut self, time: Duration, stop: &AtomicBool) -> io::Result<T> {
        let line = self.line(time, stop)?;
        serde_json::from_slice(&line)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not speak as loadgo transfer does"))
    }

    fn line(&mut self, time: Duration, stop: &AtomicBool) -> io::Result<Vec<u8>> {
        let until = Instant::now() + time;
        self.stream.get_ref().set_read_timeout(Some(TO_LOOK_UP))?;
        let mut line = Vec::new();
        loop {
            // One look at a time: who sends a byte now and then is not waited for any longer.
            match self.stream.fill_buf().map(|came| taken(came, &mut line)) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
                Ok(used) => {
                    self.stream.consume(used);
                    if line.ends_with(b"\n") || line.len() as u64 == LONGEST_LINE {
                        return Ok(line);
                    }
                }
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
            if stop.load(Ordering::Relaxed) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was stopped"));
            }
            if Instant::now() > until {
                let told = format!("it did not say what was waited for in {} s", time.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, told));
            }
        }
    }

    /// True when the far end has hung up, or said something that nobody asked for.
    pub fn is_over(&self) -> bool {
        let stream = self.stream.get_ref();
        let mut one = [0];
        let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut one));
        let _ = stream.set_nonblocking(false);
        !matches!(looked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until the far end hangs up, for at most `time`.
    pub(crate) fn until_it_hangs_up(&mut self, time: Duration) {
        let _ = read_within(self.stream.get_mut(), &mut [0], time); // it has nothing more to say
    }

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        self.stream.get_ref()
    }
}

/// Takes what belongs to the line out of what came; how many bytes that is.
fn taken(came: &[u8], line: &mut Vec<u8>) -> usize {
    let room = LONGEST_LINE as usize - line.len();
    let end = came.iter().position(|byte| *byte == b'\n').map_or(came.len(), |at| at + 1).min(room);
    line.extend_from_slice(&came[..end]);
    end
}

/// Reads as many bytes as there is room for, all within `time`.
///
/// # Errors
/// They did not come in time, or the far end hung up.
pub(crate) fn read_within(stream: &mut (impl Read + AsFd), into: &mut [u8], time: Duration) -> io::Result<()> {
    let until = Instant::now() + time;
    let mut filled = 0;
    while filled < into.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        set_socket_timeout(&*stream, Timeout::Recv, Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut into[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
