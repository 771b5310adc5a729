//! A data connection. Its calls are counted, and end early when the transfer is stopped or stalls.

use loadgo_core::stop::StopRequest;
use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::bounds::STOP_POLL_PERIOD;
use crate::measuring::row::MovedBytes;

/// Why an end broke off after the other end closed the connection or died.
pub(crate) const PEER_GONE_REASON: &str = "the other end is gone";

/// Why an end gave up a call that could still have moved data.
#[derive(Debug, Clone, Copy)]
enum GivenUp {
    /// The transfer was stopped from elsewhere.
    Stopped,
    /// No data moved for this time.
    Stalled(Duration),
}

impl fmt::Display for GivenUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenUp::Stopped => out.write_str("it was stopped"),
            GivenUp::Stalled(time) => write!(out, "nothing moved for {} s", time.as_secs_f64()),
        }
    }
}

impl Error for GivenUp {}

/// A connection that carries only data.
#[derive(Debug)]
pub struct DataSocket {
    fd: OwnedFd,
    stop: StopRequest,
    stalled: Duration,
}

impl DataSocket {
    /// The data connection `fd`. Setting `stop` ends its calls; they also end when no data move for `stalled`.
    ///
    /// # Errors
    /// `fd` is no socket.
    pub fn new(fd: OwnedFd, stop: StopRequest, stalled: Duration) -> io::Result<DataSocket> {
        set_socket_timeout(&fd, Timeout::Recv, Some(STOP_POLL_PERIOD))?;
        set_socket_timeout(&fd, Timeout::Send, Some(STOP_POLL_PERIOD))?;
        Ok(DataSocket { fd, stop, stalled })
    }

    /// The socket's descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Repeats `call` until it moves data, and counts each time in `moved`. Returns the number of bytes, 0 at the end of the data.
    ///
    /// # Errors
    /// The transfer stalled or was stopped, or the kernel's error.
    pub(crate) fn call_until_moved(
        &self,
        moved: &mut MovedBytes,
        mut call: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut waited = Duration::ZERO;
        loop {
            self.check_wait(waited)?;
            moved.calls += 1;
            match call(self.fd.as_fd()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => waited += STOP_POLL_PERIOD,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    /// Checks whether to wait longer, after having `waited` without a movement of data.
    ///
    /// # Errors
    /// The transfer was stopped, or has stalled.
    pub fn check_wait(&self, waited: Duration) -> io::Result<()> {
        if self.stop.is_set() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, GivenUp::Stopped));
        }
        if waited >= self.stalled {
            return Err(io::Error::new(io::ErrorKind::TimedOut, GivenUp::Stalled(self.stalled)));
        }
        Ok(())
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As for [`DataSocket::call_until_moved`].
    pub fn write(&self, moved: &mut MovedBytes, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let written =
                self.call_until_moved(moved, |fd| Ok(rustix::net::send(fd, &bytes[done..], rustix::net::SendFlags::NOSIGNAL)?))?;
            done += written;
            moved.wire += written as u64;
        }
        Ok(())
    }

    /// Reads available bytes into `into`. Returns their number, 0 at the end of the data.
    ///
    /// # Errors
    /// As for [`DataSocket::call_until_moved`].
    pub fn read(&self, moved: &mut MovedBytes, into: &mut [u8]) -> io::Result<usize> {
        let read = self.call_until_moved(moved, |fd| Ok(rustix::io::read(fd, &mut *into)?))?;
        moved.wire += read as u64;
        Ok(read)
    }

    /// Reads until `into` is full or the data end. Returns the number of bytes.
    ///
    /// # Errors
    /// As for [`DataSocket::call_until_moved`].
    pub(crate) fn read_full(&self, moved: &mut MovedBytes, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.read(moved, &mut into[done..])? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    }
}

/// Whether the transfer was stopped from elsewhere.
pub(crate) fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref()).is_some_and(|given_up| matches!(given_up, GivenUp::Stopped))
}

/// Whether the other end has closed the connection, or died.
pub fn is_peer_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PIPE | Errno::CONNRESET))
}

/// The error in words, which say so if the other end is gone or the file became shorter.
pub fn error_words(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::PIPE | Errno::CONNRESET) => PEER_GONE_REASON.into(),
        Some(Errno::FAULT) => "the file became shorter while it was sent".into(),
        _ => error.to_string(),
    }
}
