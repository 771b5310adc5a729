//! Sends and receives by rings of calls: a chain of messages for one system call.
//!
//! Data are sent from the file's mapped pages. Received data go into one piece of memory, and are written in one call.
//! So no work is left to threads of the kernel, which no meter measures.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use loadgo_sys::mapped_file::MappedFile;
use loadgo_sys::tcp::byte_counts;
use loadgo_sys::uring::{CallRing, MOST_CHAINED_CALLS};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use crate::bounds::STOP_POLL_PERIOD;
use crate::measuring::row::MovedBytes;
use crate::moving::amount::early_end_error;
use crate::moving::socket::DataSocket;
use crate::moving::source::{DataSource, shrunk_file_error};

/// Largest number of bytes in a chain of receipts, unless a single message is longer.
const CHAIN_BYTES: usize = 1 << 20;

/// Sends the whole of `source` in messages of `message` bytes.
///
/// # Errors
/// As for `send::send`, and why there is no io_uring.
pub fn send(source: &DataSource, message: usize, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    if source.size() == 0 {
        return Ok(());
    }
    let mut ring = CallRing::new(MappedFile::map(source.fd(), source.period() as usize)?)?;
    while moved.payload < source.size() {
        let pieces = next_pieces(source, moved.payload, message);
        ring.send(socket.fd(), &pieces);
        wait_for_chain(&mut ring, socket, moved)?;
        let before = moved.payload;
        for ((_, length), result) in pieces.iter().zip(ring.results()) {
            let Some(sent) = call_bytes(*result, moved.payload > before)? else { break };
            if sent == 0 {
                return Err(shrunk_file_error(moved.payload));
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

/// Receives `size` bytes into `file`.
///
/// # Errors
/// As for `receive::receive`, and why there is no io_uring.
pub fn receive(size: u64, message: usize, socket: &DataSocket, file: &mut File, moved: &mut MovedBytes) -> io::Result<()> {
    let mut ring = CallRing::new(vec![0; CHAIN_BYTES.max(message)])?;
    while moved.payload < size {
        let lengths = next_lengths(size - moved.payload, message);
        ring.receive(socket.fd(), &lengths);
        wait_for_chain(&mut ring, socket, moved)?;
        let mut received = 0;
        for (length, result) in lengths.iter().zip(ring.results()) {
            let Some(bytes) = call_bytes(*result, received > 0)? else { break };
            received += bytes;
            moved.messages += u64::from(bytes > 0);
            if bytes < *length {
                break;
            }
        }
        moved.wire += received as u64;
        let memory = ring.memory().ok_or_else(|| io::Error::other("a receipt is still under way"))?;
        moved.calls += 1;
        file.write_all(&memory[..received])?;
        moved.payload += received as u64;
        if received < lengths.iter().sum() {
            return Err(early_end_error(moved.payload, size));
        }
    }
    Ok(())
}

/// Offsets and lengths of the next messages of the file, as many as a chain holds.
fn next_pieces(source: &DataSource, from: u64, message: usize) -> Vec<(usize, usize)> {
    let (mut pieces, mut position) = (Vec::with_capacity(MOST_CHAINED_CALLS), from);
    while position < source.size() && pieces.len() < MOST_CHAINED_CALLS {
        let (offset, length) = source.piece(position, message as u64);
        pieces.push((offset as usize, length));
        position += length as u64;
    }
    pieces
}

/// Lengths of the next messages to receive, as many as a chain and its memory hold.
fn next_lengths(remaining: u64, message: usize) -> Vec<usize> {
    let messages = (CHAIN_BYTES / message).clamp(1, MOST_CHAINED_CALLS);
    let mut remaining = remaining.min((messages * message) as u64) as usize;
    let mut lengths = Vec::with_capacity(messages);
    while remaining > 0 {
        lengths.push(remaining.min(message));
        remaining -= remaining.min(message);
    }
    lengths
}

/// Number of bytes that a call moved; None if it was cancelled because an earlier call of the chain was short.
fn call_bytes(result: i32, has_earlier_bytes: bool) -> io::Result<Option<usize>> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(_) if has_earlier_bytes && result == -Errno::CANCELED.raw_os_error() => Ok(None),
        Err(_) => Err(io::Error::from_raw_os_error(-result)),
    }
}

/// Waits until a chain is done. If the transfer must end, the socket is shut and the calls are cancelled.
fn wait_for_chain<M>(ring: &mut CallRing<M>, socket: &DataSocket, moved: &mut MovedBytes) -> io::Result<()> {
    let (mut waited, mut before) = (Duration::ZERO, None);
    loop {
        moved.calls += 1;
        if ring.wait(STOP_POLL_PERIOD)? {
            return Ok(());
        }
        // A slow message completes no call, but the socket counts its bytes.
        let now = byte_counts(socket.fd());
        waited = if now.is_some() && now != before { Duration::ZERO } else { waited + STOP_POLL_PERIOD };
        before = now;
        if let Err(error) = socket.check_wait(waited) {
            let _ = shutdown(socket.fd(), Shutdown::Both); // fails with ENOTCONN if the other end is gone; the calls end too
            ring.cancel();
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};
    use std::net::UdpSocket;

    use loadgo_core::stop::StopRequest;
    use loadgo_sys::uring::unavailable_reason;

    #[test]
    fn a_stalled_socket_that_cannot_be_shut_down_reports_the_stall() {
        if let Some(reason) = unavailable_reason() {
            writeln!(io::stderr(), "not tried: {reason}").expect("printed");
            return;
        }
        // A socket without a far end: shutdown fails with ENOTCONN, as it does when a far end goes at that moment.
        let silent = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let socket = DataSocket::new(silent.into(), StopRequest::default(), STOP_POLL_PERIOD).expect("a socket");
        let (mut file, mut moved) = (tempfile::tempfile().expect("a file"), MovedBytes::default());
        let error = receive(8, 8, &socket, &mut file, &mut moved).expect_err("nothing comes");
        assert_eq!(error.to_string(), "nothing moved for 0.1 s");
        file.rewind().expect("at its beginning");
        assert_eq!((moved.payload, file.read(&mut [0]).expect("read")), (0, 0));
    }
}
