//! One end of a transfer: moves the data in the calling thread and measures it.

use std::fmt;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use loadgo_sys::tcp::{byte_counts, unacknowledged_segments};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{Shutdown, shutdown};

use crate::bounds::STOP_POLL_TIMEOUT;
use crate::measuring::interrupts::InterruptAccount;
use crate::measuring::row::{EndRow, MovedBytes};
use crate::measuring::used::{self, EndUsage};
use crate::moving::destination::Destination;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::socket::{DataSocket, PEER_GONE_REASON, error_words, is_peer_gone, is_stopped};
use crate::moving::source::DataSource;
use crate::moving::{receive, send, wait_for_bytes};

/// Longest wait until sent data have left the socket, and until the other end has acknowledged them.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// Number of bytes before the data on a connection to a server: the kind of connection, and the ticket.
pub(crate) const TICKET_BYTES: u64 = 1 + 2 * crate::tickets::SECRET_BYTES as u64;
/// Longest wait for the other end's row.
pub(crate) const ROW_TIMEOUT: Duration = Duration::from_secs(30);

/// An end whose data have moved, or that broke off.
#[derive(Debug)]
pub(crate) struct MovedEnd {
    row: EndRow,
    is_stopped: bool,
}

/// Why an end was stopped by its own side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndStopReason {
    /// The time allowed for the transfer was over.
    TimeOver,
    /// The other end closed its control connection.
    PeerGone,
}

impl fmt::Display for EndStopReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            EndStopReason::TimeOver => "the time that is allowed for it was over",
            EndStopReason::PeerGone => PEER_GONE_REASON,
        })
    }
}

impl MovedEnd {
    /// The end's row. If the end was stopped, `reason` replaces the row's own words.
    pub fn row(self, reason: Option<EndStopReason>) -> EndRow {
        match reason.filter(|_| self.is_stopped) {
            Some(reason) => EndRow { broke_off: Some(reason.to_string()), ..self.row },
            None => self.row,
        }
    }
}

/// Sends the whole of `source`. The measurement ends when the last byte is handed to the network. Exact interrupts are measured until
/// the other end has acknowledged all data.
pub(crate) fn send_end(mut way: MethodInUse, account: InterruptAccount, source: &DataSource, socket: &DataSocket) -> MovedEnd {
    let before = byte_counts(socket.fd());
    let (measurement, mut moved) = (used::begin(account), MovedBytes::default());
    let sent = send(&mut way, source, socket, &mut moved);
    let used = measurement.end();
    let _ = shutdown(socket.fd(), Shutdown::Write);
    let awaited = if sent.as_ref().is_err_and(is_peer_gone) { 0 } else { moved.wire };
    let counted = before.and_then(|(before, _)| drained_bytes(socket, before, awaited));
    if used.is_exact() && awaited > 0 {
        wait_for_acknowledgements(socket);
    }
    moved_end(way.method, used, moved, sent, counted)
}

/// Waits until the other end's kernel has acknowledged all sent data, for [`DRAIN_TIME`] at most.
fn wait_for_acknowledgements(socket: &DataSocket) {
    let until = Instant::now() + DRAIN_TIME;
    while unacknowledged_segments(socket.fd()).is_some_and(|count| count > 0) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Bytes that the socket has sent beyond `before`. Waits until they are `wire` bytes, for [`DRAIN_TIME`] at most.
fn drained_bytes(socket: &DataSocket, before: u64, wire: u64) -> Option<u64> {
    let until = Instant::now() + DRAIN_TIME;
    loop {
        let (now, _) = byte_counts(socket.fd())?;
        if now - before >= wire || Instant::now() >= until {
            return Some(now - before);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Receives `size` bytes into `destination`, after `before` other bytes on the connection. The measurement begins when the first byte
/// can be read, and ends when the file is closed and has its name.
pub(crate) fn receive_end(
    mut way: MethodInUse,
    account: InterruptAccount,
    size: u64,
    socket: &DataSocket,
    mut destination: Destination,
    before: u64,
) -> MovedEnd {
    let mut moved = MovedBytes::default();
    let first = match &way.ring {
        Some(ring) => wait_for_bytes(ring, socket, &mut MovedBytes::default()),
        // With TLS both ends begin with a handshake, which is part of the transfer.
        None if way.method.is_encrypted() => Ok(()),
        None => wait_for_first_byte(socket),
    };
    let measurement = used::begin(account);
    let received = first.and_then(|()| receive(&mut way, size, socket, destination.file(), &mut moved));
    let received = received.and_then(|()| destination.commit());
    let counted = byte_counts(socket.fd()).map(|(_, now)| now - before);
    moved_end(way.method, measurement.end(), moved, received, counted)
}

fn moved_end(method: Method, used: EndUsage, mut moved: MovedBytes, outcome: io::Result<()>, counted: Option<u64>) -> MovedEnd {
    if method == Method::Ktls {
        moved.wire = counted.unwrap_or(moved.wire); // the kernel adds headers that only the socket counts
    }
    let is_stopped = outcome.as_ref().is_err_and(is_stopped);
    let broke_off = outcome.as_ref().err().map(error_words);
    MovedEnd { row: EndRow { moved, counted, broke_off, ..used.final_row(!method.is_of_one_host()) }, is_stopped }
}

/// Waits until the first byte can be read.
fn wait_for_first_byte(socket: &DataSocket) -> io::Result<()> {
    socket.call_until_moved(&mut MovedBytes::default(), |fd| {
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&STOP_POLL_TIMEOUT))? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(1),
        }
    })?;
    Ok(())
}
