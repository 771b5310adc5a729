//! The next connection to a listener, also while the system has no descriptor or memory for one.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::bounds::TO_LOOK_UP;

/// What comes of waiting for somebody.
#[derive(Debug)]
pub enum Next {
    /// Nobody has come, and it is time to look up.
    Nobody,
    /// Somebody has.
    Guest(TcpStream, SocketAddr),
    /// Somebody cannot be let in for now, and why.
    Full(io::Error),
}

/// Who connects next to `listener`, which does not block.
///
/// # Errors
/// When it is none, or no longer listens.
pub fn next(listener: &TcpListener) -> io::Result<Next> {
    let time = Timespec { tv_sec: 0, tv_nsec: TO_LOOK_UP.subsec_nanos().into() };
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&time)) {
        Ok(0) | Err(Errno::INTR) => return Ok(Next::Nobody),
        Err(Errno::NOMEM) => return Ok(Next::Full(Errno::NOMEM.into())),
        told => told?,
    };
    let accepted = listener.accept().and_then(|(stream, peer)| stream.set_nonblocking(false).map(|()| (stream, peer)));
    accepted.map(|(stream, peer)| Next::Guest(stream, peer)).or_else(not_accepted)
}

/// What an error of `accept` means: it has no memory, no descriptor, no network, and that passes, unless it is no listener at all.
fn not_accepted(error: io::Error) -> io::Result<Next> {
    match Errno::from_io_error(&error) {
        Some(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(Next::Nobody),
        None | Some(Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::FAULT) => Err(error),
        Some(_) => Ok(Next::Full(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listener_that_is_none_ends_a_server() {
        for passes in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::NETDOWN, Errno::PERM] {
            assert!(matches!(not_accepted(passes.into()), Ok(Next::Full(_))), "{passes:?}");
        }
        for nobody in [Errno::CONNABORTED, Errno::AGAIN, Errno::INTR] {
            assert!(matches!(not_accepted(nobody.into()), Ok(Next::Nobody)), "{nobody:?}");
        }
        assert!(not_accepted(Errno::NOTSOCK.into()).is_err());
    }
}
