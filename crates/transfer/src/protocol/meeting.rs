//! How the two ends find each other for the data: tickets drawn at random, and sockets by name on one host.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::bounds::TO_LOOK_UP;
use crate::protocol::control::read_within;
use crate::tickets::{SECRET_BYTES, same};

/// The first byte of a control connection.
pub const CONTROL: u8 = b'C';
/// The first byte of a data connection; the ticket follows.
pub(crate) const DATA: u8 = b'D';

/// How the abstract names of Unix sockets begin.
pub(crate) const DOORS: &str = "loadgo-";

/// A connection over the network, for data: with [`present`] it becomes one.
///
/// # Errors
/// When the server is gone.
pub(crate) fn over_network(peer: SocketAddr, within: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&peer, within)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Shows the ticket: data may come from now on.
///
/// # Errors
/// When the server is gone.
pub fn present(mut stream: TcpStream, ticket: &str) -> io::Result<OwnedFd> {
    stream.write_all(&[&[DATA], ticket.as_bytes()].concat())?;
    Ok(stream.into())
}

/// A data connection on this host, to the abstract name `name`, which must be a server's.
///
/// # Errors
/// When nobody listens there: the server is on another host, or in another network namespace.
pub(crate) fn on_this_host(name: &str, ticket: &str) -> io::Result<OwnedFd> {
    if !name.starts_with(DOORS) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its name is none of a server's"));
    }
    let mut stream = UnixStream::connect_addr(&UnixAddr::from_abstract_name(name)?)?;
    stream.write_all(ticket.as_bytes())?;
    Ok(stream.into())
}

/// Listens at the abstract name `name`.
///
/// # Errors
/// When the name is taken.
pub(crate) fn door(name: &str) -> io::Result<UnixListener> {
    let door = UnixListener::bind_addr(&UnixAddr::from_abstract_name(name)?)?;
    door.set_nonblocking(true)?;
    Ok(door)
}

/// Who comes to `door` with the `ticket` within `time`, while it is not `over`; others are left.
///
/// # Errors
/// When nobody comes.
pub(crate) fn who_comes(door: &UnixListener, ticket: &str, time: Duration, over: impl Fn() -> bool) -> io::Result<OwnedFd> {
    let until = Instant::now() + time;
    loop {
        match door.accept() {
            Ok((mut stream, _)) => {
                stream.set_nonblocking(false)?;
                let mut said = [0; SECRET_BYTES * 2];
                let heard = read_within(&mut stream, &mut said, TO_LOOK_UP);
                if heard.is_ok() && same(&String::from_utf8_lossy(&said), ticket) {
                    return Ok(stream.into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until && !over() => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no data connection came"));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Hands the file `what` to the process at the other end of a Unix socket.
///
/// # Errors
/// The socket's.
pub fn hand(socket: BorrowedFd<'_>, what: BorrowedFd<'_>) -> io::Result<()> {
    let what = [what];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&what));
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// What the other end [`hand`]s over, within `time`.
///
/// # Errors
/// The socket's, and that nothing came.
pub fn handed(socket: impl AsFd, time: Duration) -> io::Result<OwnedFd> {
    set_socket_timeout(&socket, Timeout::Recv, Some(time))?;
    let (mut space, mut byte) = ([MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))], [0]);
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let came = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    came.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the other end handed no memory over"))
}
