//! Generic netlink, as far as taskstats needs it: a socket, a request, and the attributes of an answer.

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The type of a message that acknowledges or refuses a request.
pub const ERROR_MESSAGE_ID: u16 = libc::NLMSG_ERROR as u16;
// Sizes and numbers of linux/netlink.h, linux/genetlink.h and asm-generic/socket.h.
const HEADER_BYTES: usize = 16;
const GENERIC_HEADER_BYTES: usize = 4;
const CONTROL_FAMILY_ID: u16 = 0x10;
const GET_FAMILY_ID: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME_ID: u16 = 2;
const SO_MEMINFO_ID: i32 = 55;
const MEMINFO_DROPS: usize = 8;

/// A generic netlink socket.
#[derive(Debug)]
pub struct NetlinkSocket {
    fd: OwnedFd,
}

/// A request, built without allocation.
#[derive(Clone, Copy, Debug)]
pub struct NetlinkRequest {
    bytes: [u8; 128],
    length: usize,
}

impl NetlinkSocket {
    /// Opens a socket, which is closed on exec.
    pub fn open() -> io::Result<NetlinkSocket> {
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::GENERIC))?;
        bind(&fd, &SocketAddrNetlink::new(0, 0))?; // 0: the kernel chooses our port id
        Ok(NetlinkSocket { fd })
    }

    /// Lets the kernel keep up to `bytes` of unread messages; with root, beyond the system's limit.
    pub fn set_buffer_size(&self, bytes: usize) {
        // A refusal leaves the buffer's size as it was.
        let _ = set_socket_recv_buffer_size(&self.fd, bytes);
        let _ = set_socket_recv_buffer_size_force(&self.fd, bytes);
    }

    /// Sends a request to the kernel.
    pub fn send(&self, request: &NetlinkRequest) -> io::Result<()> {
        send(&self.fd, &request.bytes[..request.length], SendFlags::empty())?;
        Ok(())
    }

    /// Receives one message, waiting for it.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&self.fd, into, RecvFlags::empty())?.0)
    }

    /// Receives one message without waiting; fails with `WouldBlock` if there is none.
    pub fn receive_now(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&self.fd, into, RecvFlags::DONTWAIT)?.0)
    }

    /// Number of messages that the kernel has dropped because the buffer was full.
    pub fn drops(&self) -> io::Result<u64> {
        let mut memory = [0u32; 16];
        let mut length = size_of::<[u32; 16]>() as libc::socklen_t;
        let (fd, into) = (self.fd.as_raw_fd(), memory.as_mut_ptr().cast());
        // SAFETY: the array is ours and as long as we say.
        if unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, SO_MEMINFO_ID, into, &mut length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(u64::from(memory[MEMINFO_DROPS]))
    }

    /// The number of the family `name`.
    pub fn family(&self, name: &str) -> io::Result<u16> {
        let mut zero_ended = name.as_bytes().to_vec();
        zero_ended.push(0);
        self.send(&NetlinkRequest::new(CONTROL_FAMILY_ID, GET_FAMILY_ID, FAMILY_NAME_ID, &zero_ended))?;
        let mut answer = [0u8; 4096];
        let length = self.receive(&mut answer)?;
        let id = payload(&answer[..length])?.find(|(kind, _)| *kind == FAMILY_ID).and_then(|(_, value)| u16_at(value, 0));
        id.ok_or_else(|| io::Error::other("an answer without a family"))
    }
}

impl NetlinkRequest {
    /// A request with one attribute, of at most 100 bytes.
    pub fn new(family: u16, command: u8, attribute: u16, payload: &[u8]) -> NetlinkRequest {
        let mut request = NetlinkRequest { bytes: [0; 128], length: HEADER_BYTES + GENERIC_HEADER_BYTES };
        assert!(payload.len() <= 100, "a value too long for a request");
        let start = request.length;
        request.length = start + aligned(4 + payload.len());
        let length = request.length as u32;
        let bytes = &mut request.bytes;
        bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&family.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
        bytes[HEADER_BYTES] = command;
        bytes[HEADER_BYTES + 1] = 1;
        bytes[start..start + 2].copy_from_slice(&(4 + payload.len() as u16).to_ne_bytes());
        bytes[start + 2..start + 4].copy_from_slice(&attribute.to_ne_bytes());
        bytes[start + 4..start + 4 + payload.len()].copy_from_slice(payload);
        request
    }

    /// The same request, which the kernel acknowledges even if it has no answer.
    pub fn acknowledged(mut self) -> NetlinkRequest {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self
    }
}

/// The attributes of a message.
///
/// # Errors
/// The error that the message carries, or an error of our own for a message without a header.
pub fn payload(message: &[u8]) -> io::Result<NetlinkAttributes<'_>> {
    let kind = u16_at(message, 4).ok_or_else(|| io::Error::other("a message without a header"))?;
    if kind == ERROR_MESSAGE_ID {
        let error = u32_at(message, HEADER_BYTES).unwrap_or(0) as i32;
        return match error {
            0 => Ok(NetlinkAttributes(&[])),
            error => Err(io::Error::from_raw_os_error(-error)),
        };
    }
    Ok(NetlinkAttributes(message.get(HEADER_BYTES + GENERIC_HEADER_BYTES..).unwrap_or(&[])))
}

/// The attributes in a message or in another attribute, each a number and a value.
#[derive(Clone, Copy, Debug)]
pub struct NetlinkAttributes<'a>(pub &'a [u8]);

impl<'a> Iterator for NetlinkAttributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)?;
        let value = self.0.get(4..length)?;
        self.0 = self.0.get(aligned(length)..).unwrap_or(&[]);
        Some((kind, value))
    }
}

/// The number at `offset`; `None` if the bytes end before it is complete.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..offset + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]))
}

/// As [`u16_at`], with 32 bits.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..offset + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// As [`u16_at`], with 64 bits.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..offset + 8).map(|b| u64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

fn aligned(length: usize) -> usize {
    (length + 3) & !3
}
