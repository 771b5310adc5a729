//! Sends data by each method.

use std::io;
use std::os::fd::BorrowedFd;

use loadgo_sys::mapped_file::MappedFile;
use loadgo_sys::tcp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::SpliceFlags;
use rustls::Connection;

use crate::bounds::TO_LOOK_UP;
use crate::measuring::row::Moved;
use crate::moving::block::Block;
use crate::moving::method::{Method, Way};
use crate::moving::records;
use crate::moving::socket::Socket;
use crate::moving::source::{Source, shrunk};
use crate::moving::tls::{self, Counted};
use crate::moving::{shared, uring};

/// Files are read so much at a time where a call is shorter.
const READ_AHEAD: usize = 64 << 10;
/// So many sends may be with the network without a copy.
const WITHOUT_COPY_AT_ONCE: usize = 64;
/// What a pipe between file and socket holds, where the kernel allows it.
const PIPE_BYTES: usize = 1 << 20;

/// Sends the whole of `source`; `moved` says how far it came, with an error too.
///
/// # Errors
/// In words: the far end is gone, nothing moved for too long, the file became shorter.
pub fn send(way: &mut Way, source: &Source, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let message = way.message as usize;
    match way.method {
        Method::Bytes => in_messages(source, 1, socket, moved),
        Method::Messages | Method::Blocks | Method::Unix => in_messages(source, message, socket, moved),
        Method::Records => in_records(source, message, socket, moved),
        Method::Mmap => mapped(source, message, socket, moved),
        Method::Sendfile => by_sendfile(source, message, socket, moved),
        Method::Splice => by_splice(source, message, socket, moved),
        Method::Zerocopy => without_copy(source, message, socket, moved),
        Method::Tls => enciphered(source, message, way.tls()?, socket, moved),
        Method::Ktls => {
            tls::hand_to_kernel(way, &mut Counted::new(socket, moved, true))?;
            by_sendfile(source, message, socket, moved)
        }
        Method::IoUring => uring::send(source, message, socket, moved),
        Method::Shm => shared::send(source, message, way.ring()?, socket, moved),
    }
}

/// Reads the file as far ahead as is worth it, and sends what was read in messages.
fn in_messages(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let mut ahead = Block::of((READ_AHEAD / message).max(1) * message);
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

fn in_records(source: &Source, block: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let (mut payload, mut packed) = (vec![0; records::payload_of(block)], Vec::new());
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

fn enciphered(source: &Source, message: usize, tls: &mut Connection, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let mut block = Block::of(message);
    tls::agree(tls, &mut Counted::new(socket, moved, true))?;
    while moved.payload < source.size() {
        let length = (source.size() - moved.payload).min(message as u64) as usize;
        moved.calls += source.read(moved.payload, &mut block[..length])?;
        tls::write(tls, &mut Counted::new(socket, moved, true), &block[..length])?;
        moved.messages += 1;
        moved.payload += length as u64;
    }
    tls::close(tls, &mut Counted::new(socket, moved, true))
}

fn mapped(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    let file = MappedFile::map(source.fd(), source.period() as usize)?;
    in_pieces(source, message, socket, moved, |socket, moved, place, length| {
        socket.patiently(moved, |fd| file.send(fd, place as usize, length, tcp::SEND_NO_SIGNAL_FLAG))
    })
}

fn by_sendfile(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    in_pieces(source, message, socket, moved, |socket, moved, mut place, length| {
        socket.patiently(moved, |fd| Ok(rustix::fs::sendfile(fd, source.fd(), Some(&mut place), length)?))
    })
}

/// A piece of the file after another, by a `call` that may move less than it was asked to.
fn in_pieces(
    source: &Source,
    message: usize,
    socket: &Socket,
    moved: &mut Moved,
    mut call: impl FnMut(&Socket, &mut Moved, u64, usize) -> io::Result<usize>,
) -> io::Result<()> {
    while moved.payload < source.size() {
        let (place, length) = source.piece(moved.payload, message as u64);
        let written = call(socket, moved, place, length)?;
        if written == 0 {
            return Err(shrunk(moved.payload));
        }
        moved.messages += 1;
        moved.payload += written as u64;
        moved.wire += written as u64;
    }
    Ok(())
}

fn by_splice(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let (out, into) = rustix::pipe::pipe()?;
    let held = rustix::pipe::fcntl_setpipe_size(&into, PIPE_BYTES).unwrap_or(READ_AHEAD);
    in_pieces(source, message.min(held), socket, moved, |socket, moved, mut place, length| {
        let filled = rustix::pipe::splice(source.fd(), Some(&mut place), &into, None, length, SpliceFlags::MOVE)?;
        moved.calls += 1;
        let mut left = filled;
        while left > 0 {
            left -= socket.patiently(moved, |fd| Ok(rustix::pipe::splice(&out, None, fd, None, left, SpliceFlags::MOVE)?))?;
        }
        Ok(filled)
    })
}

/// The pages must stay as they are until the network is done with them: it is waited for at the end, and where too many are out.
fn without_copy(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    tcp::enable_zerocopy(socket.fd())?;
    let file = MappedFile::map(source.fd(), source.period() as usize)?;
    let mut out = 0;
    in_pieces(source, message, socket, moved, |socket, moved, place, length| {
        if out >= WITHOUT_COPY_AT_ONCE {
            settle(socket, moved, &mut out, WITHOUT_COPY_AT_ONCE / 2)?;
        }
        let written = socket
            .patiently(moved, |fd| file.send(fd, place as usize, length, tcp::SEND_ZEROCOPY_FLAG | tcp::SEND_NO_SIGNAL_FLAG))?;
        out += 1;
        Ok(written)
    })?;
    settle(socket, moved, &mut out, 0)
}

/// Waits until the network is done with all but `left` of the sends that are `out`.
fn settle(socket: &Socket, moved: &mut Moved, out: &mut usize, left: usize) -> io::Result<()> {
    while *out > left {
        let sends = socket.patiently(moved, |fd| match tcp::zerocopy_completions(fd)? {
            Some(done) => Ok(done.sends as usize),
            None => wait_for_word(fd),
        })?;
        *out = out.saturating_sub(sends);
    }
    Ok(())
}

/// Waits until the socket has something to tell, or it is time to look up.
fn wait_for_word(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let time = Timespec { tv_sec: 0, tv_nsec: TO_LOOK_UP.subsec_nanos().into() };
    let told = poll(&mut [PollFd::new(&fd, PollFlags::ERR)], Some(&time))?;
    Err(if told > 0 { io::ErrorKind::Interrupted } else { io::ErrorKind::WouldBlock }.into())
}
