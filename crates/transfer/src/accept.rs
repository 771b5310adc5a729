//! Accepts the next connection of a listener, also while the system lacks a descriptor or memory for it.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::bounds::STOP_POLL_TIMEOUT;

/// The result of one wait for a connection.
#[derive(Debug)]
pub enum Accepted {
    /// No connection came in time.
    Nobody,
    /// A connection came.
    Guest(TcpStream, SocketAddr),
    /// A connection cannot be accepted now; with the reason.
    Full(io::Error),
}

/// Accepts the next connection of `listener`, which does not block.
///
/// # Errors
/// The socket is no listener, or no longer listens.
pub fn accept_next(listener: &TcpListener) -> io::Result<Accepted> {
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&STOP_POLL_TIMEOUT)) {
        Ok(0) | Err(Errno::INTR) => return Ok(Accepted::Nobody),
        Err(Errno::NOMEM) => return Ok(Accepted::Full(Errno::NOMEM.into())),
        ready => ready?,
    };
    let accepted = listener.accept().and_then(|(stream, peer)| stream.set_nonblocking(false).map(|()| (stream, peer)));
    accepted.map(|(stream, peer)| Accepted::Guest(stream, peer)).or_else(accept_failure)
}

/// Classifies an error of `accept`. Lack of memory, descriptors or network passes; an error of the listener itself does not.
fn accept_failure(error: io::Error) -> io::Result<Accepted> {
    match Errno::from_io_error(&error) {
        Some(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(Accepted::Nobody),
        None | Some(Errno::BADF | Errno::INVAL | Errno::NOTSOCK | Errno::FAULT) => Err(error),
        Some(_) => Ok(Accepted::Full(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_of_the_listener_ends_a_server() {
        for passes in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS, Errno::NETDOWN, Errno::PERM] {
            assert!(matches!(accept_failure(passes.into()), Ok(Accepted::Full(_))), "{passes:?}");
        }
        for nobody in [Errno::CONNABORTED, Errno::AGAIN, Errno::INTR] {
            assert!(matches!(accept_failure(nobody.into()), Ok(Accepted::Nobody)), "{nobody:?}");
        }
        assert!(accept_failure(Errno::NOTSOCK.into()).is_err());
    }
}
