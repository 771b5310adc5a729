//! A control connection: lines of JSON, none too long, none waited for too long.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

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

    /// Hears one thing, within `time`.
    ///
    /// # Errors
    /// In words: it said nothing, ended, or spoke something else.
    pub fn hear<T: DeserializeOwned>(&mut self, time: Duration) -> io::Result<T> {
        self.stream.get_ref().set_read_timeout(Some(time))?;
        let mut line = Vec::new();
        let read = self.stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")),
            Ok(_) => serde_json::from_slice(&line)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not speak as loadgo transfer does")),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::Error::new(io::ErrorKind::TimedOut, format!("it said nothing for {} s", time.as_secs())))
            }
            Err(error) => Err(error),
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
