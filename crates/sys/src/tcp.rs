//! What a TCP socket counts, and sending without a copy (MSG_ZEROCOPY).

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// `send`'s flag: the network takes the pages themselves.
pub const WITHOUT_COPY: i32 = libc::MSG_ZEROCOPY;
/// `send`'s flag: a far end that is gone is an error and no signal.
pub const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;

/// Of `struct sock_extended_err` (linux/errqueue.h): whose word it is, and that it was a copy after all.
const ORIGIN_WITHOUT_COPY: u8 = 5;
const COPIED_AFTER_ALL: u8 = 1;

/// Where `struct tcp_info` (linux/tcp.h) has what it counts, in bytes from its beginning.
const UNACKNOWLEDGED_AT: usize = 24;
const RECEIVED_AT: usize = 128;
/// States (net/tcp_states.h) of a socket whose far end has ended, which it counts as one byte more: time-wait, close-wait,
/// last-ack, closing.
const AFTER_THEIR_END: [u8; 4] = [6, 8, 9, 11];
const SENT_AT: usize = 200;
const SENT_AGAIN_AT: usize = 208;

/// Bytes that a TCP socket sent (each once) and received; None when it is no TCP socket, or the kernel does not count.
pub fn counted(socket: BorrowedFd<'_>) -> Option<(u64, u64)> {
    let info = tcp_info(socket)?;
    let number = |at: usize| info.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes);
    let their_end = u64::from(AFTER_THEIR_END.contains(info.first()?));
    Some((number(SENT_AT)? - number(SENT_AGAIN_AT)?, number(RECEIVED_AT)? - their_end))
}

/// Segments that a TCP socket has sent and its far end has not acknowledged; None when it is no TCP socket.
pub fn unacknowledged(socket: BorrowedFd<'_>) -> Option<u32> {
    let info = tcp_info(socket)?;
    Some(u32::from_ne_bytes(info.get(UNACKNOWLEDGED_AT..UNACKNOWLEDGED_AT + 4)?.try_into().ok()?))
}

/// As much of `struct tcp_info` as the kernel tells.
fn tcp_info(socket: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, and into `length` how many.
    let said = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    (said == 0).then(|| info[..(length as usize).min(info.len())].to_vec())
}

/// Lets `send` take [`WITHOUT_COPY`].
///
/// # Errors
/// When the socket or the kernel cannot.
pub fn allow_without_copy(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads one number.
    let said = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ZEROCOPY,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if said == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends that the network is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// How many.
    pub sends: u64,
    /// True when their bytes were copied after all.
    pub copied: bool,
}

/// What the network is done with since the last time, of what was sent with [`WITHOUT_COPY`]; None when there is nothing to tell.
///
/// # Errors
/// The socket's own.
pub fn done_without_copy(socket: BorrowedFd<'_>) -> io::Result<Option<Done>> {
    let mut control = [0u64; 16];
    // SAFETY: a message of zeros is one without anything in it.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the kernel writes at most so many bytes into `control`.
    let said = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
    if said < 0 {
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
    if error.ee_origin != ORIGIN_WITHOUT_COPY {
        return Err(io::Error::from_raw_os_error(error.ee_errno as i32));
    }
    let sends = u64::from(error.ee_data.wrapping_sub(error.ee_info)) + 1;
    Ok(Some(Done { sends, copied: error.ee_code == COPIED_AFTER_ALL }))
}
