//! How the two ends open the data connection: with random tickets, over the network or by a Unix socket's name.

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

use crate::bounds::STOP_POLL_PERIOD;
use crate::protocol::control::read_within;
use crate::tickets::{SECRET_BYTES, equal_in_constant_time};

/// First byte of a control connection.
pub const CONTROL_BYTE: u8 = b'C';
/// First byte of a data connection; the ticket follows.
pub(crate) const DATA_BYTE: u8 = b'D';

/// Beginning of the abstract names of servers' Unix sockets.
pub(crate) const SOCKET_NAME_PREFIX: &str = "loadgo-";

/// Opens a connection over the network. [`show_ticket`] makes it a data connection.
///
/// # Errors
/// The server is gone.
pub(crate) fn connect_by_network(peer: SocketAddr, within: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&peer, within)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends the ticket. The server may send data from then on.
///
/// # Errors
/// The server is gone.
pub fn show_ticket(mut stream: TcpStream, ticket: &str) -> io::Result<OwnedFd> {
    stream.write_all(&[&[DATA_BYTE], ticket.as_bytes()].concat())?;
    Ok(stream.into())
}

/// Opens a data connection on this host to the abstract name `name`, which must be a server's.
///
/// # Errors
/// No server listens there: it is on another host, or in another network namespace.
pub(crate) fn connect_locally(name: &str, ticket: &str) -> io::Result<OwnedFd> {
    if !name.starts_with(SOCKET_NAME_PREFIX) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no server has a socket of that name"));
    }
    let mut stream = UnixStream::connect_addr(&UnixAddr::from_abstract_name(name)?)?;
    stream.write_all(ticket.as_bytes())?;
    Ok(stream.into())
}

/// Listens at the abstract name `name`.
///
/// # Errors
/// The name is taken.
pub(crate) fn listen_locally(name: &str) -> io::Result<UnixListener> {
    let listener = UnixListener::bind_addr(&UnixAddr::from_abstract_name(name)?)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Accepts the connection that shows `ticket`, within `time` and until `is_over`. Other connections are dropped.
///
/// # Errors
/// No such connection comes.
pub(crate) fn accept_with_ticket(
    listener: &UnixListener,
    ticket: &str,
    time: Duration,
    is_over: impl Fn() -> bool,
) -> io::Result<OwnedFd> {
    let until = Instant::now() + time;
    loop {
        match listener.accept() {
            Ok((mut stream, _)) => {
                stream.set_nonblocking(false)?;
                let mut shown = [0; SECRET_BYTES * 2];
                let received = read_within(&mut stream, &mut shown, STOP_POLL_PERIOD);
                if received.is_ok() && equal_in_constant_time(&String::from_utf8_lossy(&shown), ticket) {
                    return Ok(stream.into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until && !is_over() => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no data connection came"));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sends a file's descriptor to the process at the other end of a Unix socket.
///
/// # Errors
/// The socket's error.
pub fn send_descriptor(socket: BorrowedFd<'_>, file: BorrowedFd<'_>) -> io::Result<()> {
    let files = [file];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives the descriptor that the other end sends with [`send_descriptor`], within `time`.
///
/// # Errors
/// The socket's error, or no descriptor came.
pub fn receive_descriptor(socket: impl AsFd, time: Duration) -> io::Result<OwnedFd> {
    set_socket_timeout(&socket, Timeout::Recv, Some(time))?;
    let (mut space, mut byte) = ([MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))], [0]);
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the other end sent no descriptor of the shared memory"))
}
