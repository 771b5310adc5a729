//! Sends and receives through memory that both ends share: one copy from the file into it, and one from it to the destination.
//!
//! The Unix socket that carried the memory's descriptor stays open. It shows when the other end is gone.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use loadgo_sys::shared_ring::{RING_BYTES, SharedRing};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::bounds::STOP_POLL_PERIOD;
use crate::measuring::row::MovedBytes;
use crate::moving::amount::{early_end_error, excess_data_error};
use crate::moving::socket::DataSocket;
use crate::moving::source::{DataSource, shrunk_file_error};

/// Sends the whole of `source` in messages of at most `message` bytes.
///
/// # Errors
/// As for `send::send`.
pub fn send(
    source: &DataSource,
    message: usize,
    ring: &SharedRing,
    socket: &DataSocket,
    moved: &mut MovedBytes,
) -> io::Result<()> {
    let message = message.min(RING_BYTES as usize / 2) as u64;
    while moved.payload < source.size() {
        let (offset, length) = source.piece(moved.payload, message);
        wait_until(socket, moved, PeerGone::IsAnError, || {
            let room = (RING_BYTES - ring.held()?) as usize;
            if room < length { ring.wait_for_room(length as u32, STOP_POLL_PERIOD).map(|()| false) } else { Ok(true) }
        })?;
        moved.calls += 1;
        let filled = ring.fill(source.fd(), offset, length)? as u64;
        if filled == 0 {
            return Err(shrunk_file_error(moved.payload));
        }
        moved.messages += 1;
        moved.payload += filled;
        moved.wire += filled;
    }
    Ok(())
}

/// Receives `size` bytes into `file`, in messages of at most `message` bytes.
///
/// # Errors
/// As for `receive::receive`.
pub fn receive(
    size: u64,
    message: usize,
    ring: &SharedRing,
    socket: &DataSocket,
    file: &mut File,
    moved: &mut MovedBytes,
) -> io::Result<()> {
    while moved.payload < size {
        wait_for_bytes(ring, socket, moved)?;
        moved.calls += 1;
        let received = ring.empty(file.as_fd(), message.min((size - moved.payload) as usize))? as u64;
        if received == 0 {
            return Err(early_end_error(moved.payload, size));
        }
        moved.messages += 1;
        moved.payload += received;
        moved.wire += received;
    }
    // The other end shuts its socket after its last byte.
    wait_until(socket, moved, PeerGone::IsTheEnd, || Ok(is_peer_gone(socket, STOP_POLL_PERIOD)))?;
    if ring.held()? == 0 { Ok(()) } else { Err(excess_data_error()) }
}

/// Waits until the ring has bytes, or the other end has ended.
///
/// # Errors
/// As for `receive::receive`.
pub fn wait_for_bytes(ring: &SharedRing, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    wait_until(socket, moved, PeerGone::IsTheEnd, || {
        if ring.held()? > 0 { Ok(true) } else { ring.wait_for_bytes(STOP_POLL_PERIOD).map(|()| false) }
    })
}

/// How a wait ends if the other end is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PeerGone {
    IsAnError,
    IsTheEnd,
}

/// Calls `is_done` until it returns true. Each call but the last counts as a system call. Checks for a stop as often as a socket does.
fn wait_until(
    socket: &DataSocket,
    moved: &mut MovedBytes,
    when_gone: PeerGone,
    mut is_done: impl FnMut() -> io::Result<bool>,
) -> io::Result<()> {
    let begun = Instant::now();
    while !is_done()? {
        moved.calls += 1;
        if begun.elapsed() < STOP_POLL_PERIOD {
            continue;
        }
        socket.check_wait(begun.elapsed())?;
        if is_peer_gone(socket, Duration::ZERO) {
            return if when_gone == PeerGone::IsTheEnd { Ok(()) } else { Err(Errno::PIPE.into()) };
        }
    }
    Ok(())
}

/// Whether the other end has shut its socket, or does so within `time`.
fn is_peer_gone(socket: &DataSocket, time: Duration) -> bool {
    let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    poll(&mut [PollFd::from_borrowed_fd(socket.fd(), PollFlags::RDHUP)], Some(&time)).is_ok_and(|ready| ready > 0)
}
