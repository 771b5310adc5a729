//! Sending and receiving through memory that both ends share: one copy from the file into it, one from it to its place.
//!
//! The Unix socket over which the memory was handed stays open: it tells when the other end is gone.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use loadgo_sys::shared_ring::{RING_BYTES, SharedRing};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::bounds::TO_LOOK_UP;
use crate::measuring::row::Moved;
use crate::moving::amount::{too_early, too_much};
use crate::moving::socket::Socket;
use crate::moving::source::{Source, shrunk};

/// Sends the whole of `source` in messages of at most `message` bytes.
///
/// # Errors
/// As with `send::send`.
pub fn send(source: &Source, message: usize, ring: &SharedRing, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let message = message.min(RING_BYTES as usize / 2) as u64;
    while moved.payload < source.size() {
        let (place, length) = source.piece(moved.payload, message);
        patiently(socket, moved, Gone::IsAnError, || {
            let room = (RING_BYTES - ring.held()?) as usize;
            if room < length { ring.wait_for_room(length as u32, TO_LOOK_UP).map(|()| false) } else { Ok(true) }
        })?;
        moved.calls += 1;
        let filled = ring.fill(source.fd(), place, length)? as u64;
        if filled == 0 {
            return Err(shrunk(moved.payload));
        }
        moved.messages += 1;
        moved.payload += filled;
        moved.wire += filled;
    }
    Ok(())
}

/// Receives `size` bytes into `place`, in messages of at most `message` bytes.
///
/// # Errors
/// As with `receive::receive`.
pub fn receive(
    size: u64,
    message: usize,
    ring: &SharedRing,
    socket: &Socket,
    place: &mut File,
    moved: &mut Moved,
) -> io::Result<()> {
    while moved.payload < size {
        wait_for_bytes(ring, socket, moved)?;
        moved.calls += 1;
        let went = ring.empty(place.as_fd(), message.min((size - moved.payload) as usize))? as u64;
        if went == 0 {
            return Err(too_early(moved.payload, size));
        }
        moved.messages += 1;
        moved.payload += went;
        moved.wire += went;
    }
    // Its end of the socket is shut behind its last byte.
    patiently(socket, moved, Gone::IsTheEnd, || Ok(gone(socket, TO_LOOK_UP)))?;
    if ring.held()? == 0 { Ok(()) } else { Err(too_much()) }
}

/// Waits until there are bytes, or the other end has ended.
///
/// # Errors
/// As with `receive::receive`.
pub fn wait_for_bytes(ring: &SharedRing, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    patiently(socket, moved, Gone::IsTheEnd, || {
        if ring.held()? > 0 { Ok(true) } else { ring.wait_for_bytes(TO_LOOK_UP).map(|()| false) }
    })
}

/// What it means that the other end is gone while something is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    IsAnError,
    IsTheEnd,
}

/// Tries until it is `done`, each try a call but the last; looks up as often as a socket does.
fn patiently(socket: &Socket, moved: &mut Moved, means: Gone, mut done: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    let begun = Instant::now();
    while !done()? {
        moved.calls += 1;
        if begun.elapsed() < TO_LOOK_UP {
            continue;
        }
        socket.goes_on(begun.elapsed())?;
        if gone(socket, Duration::ZERO) {
            return if means == Gone::IsTheEnd { Ok(()) } else { Err(Errno::PIPE.into()) };
        }
    }
    Ok(())
}

/// Whether the other end has shut its socket, or does within `time`.
fn gone(socket: &Socket, time: Duration) -> bool {
    let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    poll(&mut [PollFd::from_borrowed_fd(socket.fd(), PollFlags::RDHUP)], Some(&time)).is_ok_and(|told| told > 0)
}
