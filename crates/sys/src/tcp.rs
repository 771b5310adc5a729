//! The counters of a TCP socket, and sending without a copy (MSG_ZEROCOPY).

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Flag of `send`: the network uses the sender's pages instead of a copy.
pub const SEND_ZEROCOPY_FLAG: i32 = libc::MSG_ZEROCOPY;
/// Flag of `send`: if the far end has closed the connection, `send` returns an error, and the kernel sends no SIGPIPE.
pub const SEND_NO_SIGNAL_FLAG: i32 = libc::MSG_NOSIGNAL;

// Values of `struct sock_extended_err` (linux/errqueue.h): the message's origin, and that the bytes were copied after all.
const ZEROCOPY_ORIGIN: u8 = 5;
const COPIED_CODE: u8 = 1;

// Offsets of counters in `struct tcp_info` (linux/tcp.h), in bytes.
const UNACKNOWLEDGED_OFFSET_BYTES: usize = 24;
const RECEIVED_OFFSET_BYTES: usize = 128;
const SENT_OFFSET_BYTES: usize = 200;
const RETRANSMITTED_OFFSET_BYTES: usize = 208;
/// States (net/tcp_states.h) in which the far end has ended: time-wait, close-wait, last-ack, closing. The socket counts that end
/// as one more byte received.
const FAR_END_CLOSED_STATES: [u8; 4] = [6, 8, 9, 11];

/// Bytes that a TCP socket sent (each counted once) and received. None if it is no TCP socket, or if the kernel does not count.
pub fn byte_counts(socket: BorrowedFd<'_>) -> Option<(u64, u64)> {
    let info = tcp_info(socket)?;
    let counter = |offset: usize| info.get(offset..offset + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes);
    let far_end_byte = u64::from(FAR_END_CLOSED_STATES.contains(info.first()?));
    Some((counter(SENT_OFFSET_BYTES)? - counter(RETRANSMITTED_OFFSET_BYTES)?, counter(RECEIVED_OFFSET_BYTES)? - far_end_byte))
}

/// Number of segments that a TCP socket has sent and its far end has not acknowledged. None if it is no TCP socket.
pub fn unacknowledged_segments(socket: BorrowedFd<'_>) -> Option<u32> {
    let info = tcp_info(socket)?;
    Some(u32::from_ne_bytes(info.get(UNACKNOWLEDGED_OFFSET_BYTES..UNACKNOWLEDGED_OFFSET_BYTES + 4)?.try_into().ok()?))
}

/// The bytes of `struct tcp_info`, as many as the kernel fills in.
fn tcp_info(socket: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, and their number into `length`.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    (result == 0).then(|| info[..(length as usize).min(info.len())].to_vec())
}

/// Lets `send` accept [`SEND_ZEROCOPY_FLAG`] on this socket.
///
/// # Errors
/// The socket or the kernel does not support it.
pub fn enable_zerocopy(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads one number.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ZEROCOPY,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Calls of `send` without a copy that the network has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendCompletions {
    /// Number of sends.
    pub sends: u64,
    /// True if their bytes were copied after all.
    pub copied: bool,
}

/// The sends with [`SEND_ZEROCOPY_FLAG`] that the network has completed since the last call. None if there are none.
///
/// # Errors
/// The socket's own error.
pub fn zerocopy_completions(socket: BorrowedFd<'_>) -> io::Result<Option<SendCompletions>> {
    let mut control = [0u64; 16];
    // SAFETY: a message of zeros is one without anything in it.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the kernel writes at most `msg_controllen` bytes into `control`.
    let result = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
    }
    // SAFETY: the header is in `control`, as the kernel has just filled it; its data are such an error.
    let error: libc::sock_extended_err = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Ok(None);
        }
        libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned()
    };
    if error.ee_origin != ZEROCOPY_ORIGIN {
        return Err(io::Error::from_raw_os_error(error.ee_errno as i32));
    }
    let sends = u64::from(error.ee_data.wrapping_sub(error.ee_info)) + 1;
    Ok(Some(SendCompletions { sends, copied: error.ee_code == COPIED_CODE }))
}
