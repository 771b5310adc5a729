//! A data connection, whose calls are counted, and end early when the transfer is stopped or stalls.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::bounds::TO_LOOK_UP;
use crate::measuring::row::Moved;

/// What an end says that was stopped from elsewhere.
pub(crate) const STOPPED: &str = "it was stopped";
/// What an end says whose other end has closed the connection, or died.
pub(crate) const GONE: &str = "the other end is gone";

/// A connection on which nothing but data move.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    stop: Arc<AtomicBool>,
    stalled: Duration,
}

impl Socket {
    /// Over `fd`; `stop` ends it from elsewhere; when nothing moves for `stalled` it breaks off.
    ///
    /// # Errors
    /// When `fd` is no socket.
    pub fn new(fd: OwnedFd, stop: Arc<AtomicBool>, stalled: Duration) -> io::Result<Socket> {
        set_socket_timeout(&fd, Timeout::Recv, Some(TO_LOOK_UP))?;
        set_socket_timeout(&fd, Timeout::Send, Some(TO_LOOK_UP))?;
        Ok(Socket { fd, stop, stalled })
    }

    /// The socket itself.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Makes `call` until it moves something; each time is a call in `moved`. 0 is the far end's end.
    ///
    /// # Errors
    /// In words: it stalled, was stopped, or what the kernel says.
    pub(crate) fn patiently(
        &self,
        moved: &mut Moved,
        mut call: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut waited = Duration::ZERO;
        loop {
            self.goes_on(waited)?;
            moved.calls += 1;
            match call(self.fd.as_fd()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => waited += TO_LOOK_UP,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                told => return told,
            }
        }
    }

    /// Whether to wait on, after having `waited` so long for anything to move.
    ///
    /// # Errors
    /// In words: it was stopped, or has waited too long.
    pub fn goes_on(&self, waited: Duration) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, STOPPED));
        }
        if waited >= self.stalled {
            let told = format!("nothing moved for {} s", self.stalled.as_secs_f64());
            return Err(io::Error::new(io::ErrorKind::TimedOut, told));
        }
        Ok(())
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As with [`Socket::patiently`].
    pub fn write(&self, moved: &mut Moved, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let written =
                self.patiently(moved, |fd| Ok(rustix::net::send(fd, &bytes[done..], rustix::net::SendFlags::NOSIGNAL)?))?;
            done += written;
            moved.wire += written as u64;
        }
        Ok(())
    }

    /// Reads what there is, at most as long as `into`; 0 at the far end's end.
    ///
    /// # Errors
    /// As with [`Socket::patiently`].
    pub fn read(&self, moved: &mut Moved, into: &mut [u8]) -> io::Result<usize> {
        let read = self.patiently(moved, |fd| Ok(rustix::io::read(fd, &mut *into)?))?;
        moved.wire += read as u64;
        Ok(read)
    }

    /// Reads until `into` is full, or the far end ends: how much it is.
    ///
    /// # Errors
    /// As with [`Socket::patiently`].
    pub(crate) fn read_full(&self, moved: &mut Moved, into: &mut [u8]) -> io::Result<usize> {
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

/// Whether nothing that was sent goes any further: the far end has closed the connection, or died.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PIPE | Errno::CONNRESET))
}

/// What the far end did, where a call says no more than that it is gone.
pub fn in_words(error: io::Error) -> String {
    match Errno::from_io_error(&error) {
        Some(Errno::PIPE | Errno::CONNRESET) => GONE.into(),
        Some(Errno::FAULT) => "the file became shorter while it was sent".into(),
        _ => error.to_string(),
    }
}
