//! A control connection: lines of JSON, none too long, none waited for too long.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds::TO_LOOK_UP;
use crate::wire::LONGEST_LINE;

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
            let room = LONGEST_LINE - line.len() as u64;
            match self.stream.by_ref().take(room).read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") || line.len() as u64 == LONGEST_LINE => return Ok(line),
                Ok(_) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
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

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        self.stream.get_ref()
    }
}
