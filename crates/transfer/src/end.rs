//! One end of a transfer: moves the data in the calling thread and measures it.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use loadgo_sys::tcp::{byte_counts, unacknowledged_segments};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{Shutdown, shutdown};

use crate::bounds::TO_LOOK_UP;
use crate::measuring::interrupts::Account;
use crate::measuring::row::{End, Moved};
use crate::measuring::used::{self, Used};
use crate::moving::method::{Method, Way};
use crate::moving::place::Place;
use crate::moving::socket::{STOPPED, Socket, in_words, is_gone};
use crate::moving::source::Source;
use crate::moving::{receive, send, wait_for_bytes};

/// Sends the whole of `source`: from the first byte that is brought in until the last is handed to the network; its interrupts, exactly
/// told, until all is acknowledged.
pub(crate) fn sender(mut way: Way, account: Account, source: &Source, socket: &Socket) -> End {
    let before = byte_counts(socket.fd());
    let (begun, mut moved) = (used::begin(account), Moved::default());
    let sent = send(&mut way, source, socket, &mut moved);
    let used = begun.end();
    let _ = shutdown(socket.fd(), Shutdown::Write);
    let awaited = if sent.as_ref().is_err_and(is_gone) { 0 } else { moved.wire };
    let sum = before.and_then(|(before, _)| gone_out(socket, before, awaited));
    if used.is_exact() && awaited > 0 {
        all_acknowledged(socket);
    }
    of(way.method, used, moved, sent, sum)
}

/// Waits until the far end's kernel has acknowledged all that was sent.
fn all_acknowledged(socket: &Socket) {
    let until = Instant::now() + TO_GO_OUT;
    while unacknowledged_segments(socket.fd()).is_some_and(|left| left > 0) && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
}

/// What the socket has sent since it had sent `before`, once it has sent `wire` bytes or no more go.
fn gone_out(socket: &Socket, before: u64, wire: u64) -> Option<u64> {
    let until = Instant::now() + TO_GO_OUT;
    loop {
        let (now, _) = byte_counts(socket.fd())?;
        if now - before >= wire || Instant::now() >= until {
            return Some(now - before);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// So long what was handed to a socket is given to go onto the network, before it is said how much did.
const TO_GO_OUT: Duration = Duration::from_secs(2);

/// Receives `size` bytes into `place`: from when the first can be read until the file is closed and has its name. `before` bytes had come on
/// the connection that are not of the file: [`TICKET_BYTES`] on one that was made to a server.
pub(crate) fn receiver(mut way: Way, account: Account, size: u64, socket: &Socket, mut place: Place, before: u64) -> End {
    let mut moved = Moved::default();
    let came = match &way.ring {
        Some(ring) => wait_for_bytes(ring, socket, &mut Moved::default()),
        // With TLS both ends speak first, and what they say is part of the transfer.
        None if way.method.is_enciphered() => Ok(()),
        None => wait_for_first(socket),
    };
    let begun = used::begin(account);
    let received = came.and_then(|()| receive(&mut way, size, socket, place.file(), &mut moved));
    let received = received.and_then(|()| place.whole());
    of(way.method, begun.end(), moved, received, byte_counts(socket.fd()).map(|(_, now)| now - before))
}

/// So many bytes come first on a data connection.
pub(crate) const TICKET_BYTES: u64 = 1 + 2 * crate::tickets::SECRET_BYTES as u64;

fn of(method: Method, used: Used, mut moved: Moved, outcome: io::Result<()>, counted: Option<u64>) -> End {
    if method == Method::Ktls {
        moved.wire = counted.unwrap_or(moved.wire); // the kernel alone knows where it began a record
    }
    End { moved, counted, broke_off: outcome.err().map(in_words), ..used.settled(!method.is_of_one_host()) }
}

/// An end that was stopped says why: `over`, where somebody knows it.
pub fn stopped(end: End, over: Option<&str>) -> End {
    let broke_off = end.broke_off.map(|why| over.filter(|_| why == STOPPED).map_or(why, str::to_owned));
    End { broke_off, ..end }
}

/// Why an end is stopped whose time is over.
pub(crate) const LATE: &str = "the time that is allowed for it was over";

/// Waits until something can be read, as patiently as any other call.
fn wait_for_first(socket: &Socket) -> io::Result<()> {
    let time = rustix::event::Timespec { tv_sec: 0, tv_nsec: TO_LOOK_UP.subsec_nanos().into() };
    socket.patiently(&mut Moved::default(), |fd| match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&time))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(1),
    })?;
    Ok(())
}

/// How long an end whose far end is done may still take to tell its row.
pub(crate) const TO_TELL: Duration = Duration::from_secs(30);
