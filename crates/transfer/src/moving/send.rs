//! Sends data by each method.

use std::io;
use std::os::fd::BorrowedFd;

use loadgo_sys::mapped_file::MappedFile;
use loadgo_sys::tcp;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::SpliceFlags;
use rustls::Connection;

use crate::bounds::STOP_POLL_TIMEOUT;
use crate::measuring::row::MovedBytes;
use crate::moving::block::AlignedBuffer;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::records;
use crate::moving::socket::DataSocket;
use crate::moving::source::{DataSource, shrunk_file_error};
use crate::moving::tls::{self, CountedSocket};
use crate::moving::{shared, uring};

/// Bytes of a file that are read at a time for shorter messages.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// Largest number of sends without a copy that the network has not completed.
const MOST_ZEROCOPY_SENDS: usize = 64;
/// Size of the pipe between file and socket, if the kernel allows it.
const PIPE_BYTES: usize = 1 << 20;

/// Sends the whole of `source`. `moved` counts the data, also before an error.
///
/// # Errors
/// The other end is gone, no data moved for too long, or the file became shorter.
pub fn send(way: &mut MethodInUse, source: &DataSource, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    let message = way.message as usize;
    match way.method {
        Method::Bytes => send_messages(source, 1, socket, moved),
        Method::Messages | Method::Blocks | Method::Unix => send_messages(source, message, socket, moved),
        Method::Records => send_records(source, message, socket, moved),
        Method::Mmap => send_mapped(source, message, socket, moved),
        Method::Sendfile => send_by_sendfile(source, message, socket, moved),
        Method::Splice => send_by_splice(source, message, socket, moved),
        Method::Zerocopy => send_without_copy(source, message, socket, moved),
        Method::Tls => send_by_tls(source, message, way.tls()?, socket, moved),
        Method::Ktls => {
            tls::start_kernel_tls(way, &mut CountedSocket::new(socket, moved, true))?;
            send_by_sendfile(source, message, socket, moved)
        }
        Method::IoUring => uring::send(source, message, socket, moved),
        Method::Shm => shared::send(source, message, way.ring()?, socket, moved),
    }
}

/// Reads the file ahead, and sends the data in messages.
fn send_messages(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    let mut ahead = AlignedBuffer::new((READ_AHEAD_BYTES / message).max(1) * message);
    while moved.payload < source.size() {
        let length = (source.size() - moved.payload).min(ahead.len() as u64) as usize;
        moved.calls += source.read(moved.payload, &mut ahead[..length])?;
        for piece in ahead[..length].chunks(message) {
            socket.write(moved, piece)?;
            moved.messages += 1;
            moved.payload += piece.len() as u64;
        }
    }
    Ok(())
}

fn send_records(source: &DataSource, block: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    let (mut payload, mut packed) = (vec![0; records::payload_bytes(block)], Vec::new());
    while moved.payload < source.size() {
        let length = (source.size() - moved.payload).min(payload.len() as u64) as usize;
        moved.calls += source.read(moved.payload, &mut payload[..length])?;
        records::pack(&payload[..length], &mut packed);
        socket.write(moved, &packed)?;
        moved.messages += 1;
        moved.payload += length as u64;
    }
    Ok(())
}

fn send_by_tls(
    source: &DataSource,
    message: usize,
    tls: &mut Connection,
    socket: &DataSocket,
    moved: &mut MovedBytes,
) -> io::Result<()> {
    let mut block = AlignedBuffer::new(message);
    tls::handshake(tls, &mut CountedSocket::new(socket, moved, true))?;
    while moved.payload < source.size() {
        let length = (source.size() - moved.payload).min(message as u64) as usize;
        moved.calls += source.read(moved.payload, &mut block[..length])?;
        tls::write(tls, &mut CountedSocket::new(socket, moved, true), &block[..length])?;
        moved.messages += 1;
        moved.payload += length as u64;
    }
    tls::close(tls, &mut CountedSocket::new(socket, moved, true))
}

fn send_mapped(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    let file = MappedFile::map(source.fd(), source.period() as usize)?;
    send_pieces(source, message, socket, moved, |socket, moved, offset, length| {
        socket.call_until_moved(moved, |fd| file.send(fd, offset as usize, length, tcp::SEND_NO_SIGNAL_FLAG))
    })
}

fn send_by_sendfile(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    send_pieces(source, message, socket, moved, |socket, moved, mut offset, length| {
        socket.call_until_moved(moved, |fd| Ok(rustix::fs::sendfile(fd, source.fd(), Some(&mut offset), length)?))
    })
}

/// Sends the file piece by piece with `call`, which gets the offset and length of a piece, and may move less than that.
fn send_pieces(
    source: &DataSource,
    message: usize,
    socket: &DataSocket,
    moved: &mut MovedBytes,
    mut call: impl FnMut(&DataSocket, &mut MovedBytes, u64, usize) -> io::Result<usize>,
) -> io::Result<()> {
    while moved.payload < source.size() {
        let (offset, length) = source.piece(moved.payload, message as u64);
        let written = call(socket, moved, offset, length)?;
        if written == 0 {
            return Err(shrunk_file_error(moved.payload));
        }
        moved.messages += 1;
        moved.payload += written as u64;
        moved.wire += written as u64;
    }
    Ok(())
}

fn send_by_splice(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    let (out, into) = rustix::pipe::pipe()?;
    let pipe_bytes = rustix::pipe::fcntl_setpipe_size(&into, PIPE_BYTES).unwrap_or(READ_AHEAD_BYTES);
    send_pieces(source, message.min(pipe_bytes), socket, moved, |socket, moved, mut offset, length| {
        let filled = rustix::pipe::splice(source.fd(), Some(&mut offset), &into, None, length, SpliceFlags::MOVE)?;
        moved.calls += 1;
        let mut remaining = filled;
        while remaining > 0 {
            let call = |fd: BorrowedFd<'_>| Ok(rustix::pipe::splice(&out, None, fd, None, remaining, SpliceFlags::MOVE)?);
            remaining -= socket.call_until_moved(moved, call)?;
        }
        Ok(filled)
    })
}

/// Sends without a copy. The pages must not change until the network has completed the sends. So this waits for completions at the
/// end, and whenever too many sends are incomplete.
fn send_without_copy(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    tcp::enable_zerocopy(socket.fd())?;
    let file = MappedFile::map(source.fd(), source.period() as usize)?;
    let mut incomplete = 0;
    send_pieces(source, message, socket, moved, |socket, moved, offset, length| {
        if incomplete >= MOST_ZEROCOPY_SENDS {
            wait_for_completions(socket, moved, &mut incomplete, MOST_ZEROCOPY_SENDS / 2)?;
        }
        let written = socket.call_until_moved(moved, |fd| {
            file.send(fd, offset as usize, length, tcp::SEND_ZEROCOPY_FLAG | tcp::SEND_NO_SIGNAL_FLAG)
        })?;
        incomplete += 1;
        Ok(written)
    })?;
    wait_for_completions(socket, moved, &mut incomplete, 0)
}

/// Waits until at most `allowed` of the `incomplete` sends are not completed.
fn wait_for_completions(socket: &DataSocket, moved: &mut MovedBytes, incomplete: &mut usize, allowed: usize) -> io::Result<()> {
    while *incomplete > allowed {
        let sends = socket.call_until_moved(moved, |fd| match tcp::zerocopy_completions(fd)? {
            Some(completions) => Ok(completions.sends as usize),
            None => wait_for_report(fd),
        })?;
        *incomplete = incomplete.saturating_sub(sends);
    }
    Ok(())
}

/// Waits until the socket reports completions. Fails with `Interrupted` if it does, or `WouldBlock` after [`STOP_POLL_TIMEOUT`].
fn wait_for_report(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let reports = poll(&mut [PollFd::new(&fd, PollFlags::ERR)], Some(&STOP_POLL_TIMEOUT))?;
    Err(if reports > 0 { io::ErrorKind::Interrupted } else { io::ErrorKind::WouldBlock }.into())
}
