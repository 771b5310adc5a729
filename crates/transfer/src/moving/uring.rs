//! Sending and receiving by rings of calls: a chain of messages for one system call.
//!
//! What is sent goes from the file's mapped pages; what is received comes into one piece of memory, and is written to its
//! place in one call, so that no work is left to threads of the kernel that nobody meters.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use loadgo_sys::mapped_file::MappedFile;
use loadgo_sys::tcp::byte_counts;
use loadgo_sys::uring::{CallRing, MOST_CHAINED_CALLS};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use crate::bounds::TO_LOOK_UP;
use crate::measuring::row::Moved;
use crate::moving::amount::too_early;
use crate::moving::socket::Socket;
use crate::moving::source::{Source, shrunk};

/// No chain of receipts is longer, in bytes, but for one of a single message.
const CHAIN_BYTES: usize = 1 << 20;

/// Sends the whole of `source` in messages of `message` bytes.
///
/// # Errors
/// As with `send::send`, and why there is no io_uring.
pub fn send(source: &Source, message: usize, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    let mut ring = CallRing::new(MappedFile::map(source.fd(), source.period() as usize)?)?;
    while moved.payload < source.size() {
        let pieces = pieces(source, moved.payload, message);
        ring.send(socket.fd(), &pieces);
        wait(&mut ring, socket, moved)?;
        let before = moved.payload;
        for ((_, length), result) in pieces.iter().zip(ring.results()) {
            let Some(sent) = done(*result, moved.payload > before)? else { break };
            if sent == 0 {
                return Err(shrunk(moved.payload));
            }
            moved.messages += 1;
            moved.payload += sent as u64;
            moved.wire += sent as u64;
            if sent < *length {
                break;
            }
        }
    }
    Ok(())
}

/// Receives `size` bytes into `place`.
///
/// # Errors
/// As with `receive::receive`, and why there is no io_uring.
pub fn receive(size: u64, message: usize, socket: &Socket, place: &mut File, moved: &mut Moved) -> io::Result<()> {
    let mut ring = CallRing::new(vec![0; CHAIN_BYTES.max(message)])?;
    while moved.payload < size {
        let lengths = lengths(size - moved.payload, message);
        ring.receive(socket.fd(), &lengths);
        wait(&mut ring, socket, moved)?;
        let mut came = 0;
        for (length, result) in lengths.iter().zip(ring.results()) {
            let Some(part) = done(*result, came > 0)? else { break };
            came += part;
            moved.messages += u64::from(part > 0);
            if part < *length {
                break;
            }
        }
        moved.wire += came as u64;
        let memory = ring.memory().ok_or_else(|| io::Error::other("a receipt is still under way"))?;
        moved.calls += 1;
        place.write_all(&memory[..came])?;
        moved.payload += came as u64;
        if came < lengths.iter().sum() {
            return Err(too_early(moved.payload, size));
        }
    }
    Ok(())
}

/// The next messages of the file, as many as a chain holds.
fn pieces(source: &Source, from: u64, message: usize) -> Vec<(usize, usize)> {
    let (mut pieces, mut at) = (Vec::with_capacity(MOST_CHAINED_CALLS), from);
    while at < source.size() && pieces.len() < MOST_CHAINED_CALLS {
        let (place, length) = source.piece(at, message as u64);
        pieces.push((place as usize, length));
        at += length as u64;
    }
    pieces
}

/// The next messages that come, as many as a chain and its memory hold.
fn lengths(left: u64, message: usize) -> Vec<usize> {
    let messages = (CHAIN_BYTES / message).clamp(1, MOST_CHAINED_CALLS);
    let mut left = left.min((messages * message) as u64) as usize;
    let mut lengths = Vec::with_capacity(messages);
    while left > 0 {
        lengths.push(left.min(message));
        left -= left.min(message);
    }
    lengths
}

/// The bytes that a call moved; None when it was cancelled, because one before it was short.
fn done(result: i32, after_another: bool) -> io::Result<Option<usize>> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(_) if after_another && result == -Errno::CANCELED.raw_os_error() => Ok(None),
        Err(_) => Err(io::Error::from_raw_os_error(-result)),
    }
}

/// Waits until a chain is done; where it must not go on, the socket is shut, and its calls are ended.
fn wait<M>(ring: &mut CallRing<M>, socket: &Socket, moved: &mut Moved) -> io::Result<()> {
    let (mut waited, mut before) = (Duration::ZERO, None);
    loop {
        moved.calls += 1;
        if ring.wait(TO_LOOK_UP)? {
            return Ok(());
        }
        // A message that comes slowly is no call that is done, but the socket counts its bytes.
        let now = byte_counts(socket.fd());
        waited = if now.is_some() && now != before { Duration::ZERO } else { waited + TO_LOOK_UP };
        before = now;
        if let Err(why) = socket.goes_on(waited) {
            let _ = shutdown(socket.fd(), Shutdown::Both); // a far end that has gone first says ENOTCONN, and its calls end too
            ring.cancel();
            return Err(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};
    use std::net::UdpSocket;
    use std::sync::Arc;

    use loadgo_sys::uring::unavailable_reason;

    #[test]
    fn a_socket_that_cannot_be_shut_still_tells_why_nothing_goes_on() {
        if let Some(why) = unavailable_reason() {
            writeln!(io::stderr(), "not tried: {why}").expect("said");
            return;
        }
        // One without a far end: to shut it says ENOTCONN, as to shut one whose far end has gone in that moment.
        let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let socket = Socket::new(silent.into(), Arc::default(), TO_LOOK_UP).expect("a socket");
        let (mut place, mut moved) = (tempfile::tempfile().expect("a file"), Moved::default());
        let told = receive(8, 8, &socket, &mut place, &mut moved).expect_err("nothing comes");
        assert_eq!(told.to_string(), "nothing moved for 0.1 s");
        place.rewind().expect("at its beginning");
        assert_eq!((moved.payload, place.read(&mut [0]).expect("read")), (0, 0));
    }
}
