//! Generic netlink, as far as taskstats needs it: a socket, a request, the attributes of an answer.

use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kind of a message that acknowledges a request, or refuses it.
pub const ERROR: u16 = libc::NLMSG_ERROR as u16;
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
const CONTROL_FAMILY: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const SO_MEMINFO: i32 = 55;
const MEMINFO_DROPS: usize = 8;

/// A generic netlink socket of our own.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
}

/// A request, built without allocation.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    bytes: [u8; 128],
    length: usize,
}

impl Socket {
    /// Opens a socket that is closed when a program is run.
    pub fn open() -> io::Result<Socket> {
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::GENERIC))?;
        bind(&fd, &SocketAddrNetlink::new(0, 0))?; // the kernel chooses our number
        Ok(Socket { fd })
    }

    /// Lets the kernel keep up to `bytes` of unread messages; root may pass the system's limit.
    pub fn buffer(&self, bytes: usize) {
        // What is refused leaves the room as it was.
        let _ = set_socket_recv_buffer_size(&self.fd, bytes);
        let _ = set_socket_recv_buffer_size_force(&self.fd, bytes);
    }

    /// Sends a request to the kernel.
    pub fn send(&self, request: &Request) -> io::Result<()> {
        send(&self.fd, &request.bytes[..request.length], SendFlags::empty())?;
        Ok(())
    }

    /// Receives one message, waiting for it.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&self.fd, into, RecvFlags::empty())?.0)
    }

    /// Receives one message if there is one; `WouldBlock` otherwise.
    pub fn receive_now(&self, into: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&self.fd, into, RecvFlags::DONTWAIT)?.0)
    }

    /// How many messages the kernel has thrown away because the buffer was full.
    pub fn drops(&self) -> io::Result<u64> {
        let mut memory = [0u32; 16];
        let mut length = size_of::<[u32; 16]>() as libc::socklen_t;
        let (fd, into) = (self.fd.as_raw_fd(), memory.as_mut_ptr().cast());
        // SAFETY: the array is ours and as long as we say.
        if unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, SO_MEMINFO, into, &mut length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(u64::from(memory[MEMINFO_DROPS]))
    }

    /// The number of the family `name`.
    pub fn family(&self, name: &str) -> io::Result<u16> {
        let mut zero_ended = name.as_bytes().to_vec();
        zero_ended.push(0);
        self.send(&Request::new(CONTROL_FAMILY, GET_FAMILY, FAMILY_NAME, &zero_ended))?;
        let mut answer = [0u8; 4096];
        let length = self.receive(&mut answer)?;
        let id = payload(&answer[..length])?.find(|(kind, _)| *kind == FAMILY_ID).and_then(|(_, value)| u16_at(value, 0));
        id.ok_or_else(|| io::Error::other("an answer without a family"))
    }
}

impl Request {
    /// A request with one attribute, to be answered.
    pub fn new(family: u16, command: u8, attribute: u16, value: &[u8]) -> Request {
        let mut request = Request { bytes: [0; 128], length: HEADER + GENERIC_HEADER };
        assert!(value.len() <= 100, "a value too long for a request");
        let start = request.length;
        request.length = start + aligned(4 + value.len());
        let length = request.length as u32;
        let bytes = &mut request.bytes;
        bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&family.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(libc::NLM_F_REQUEST as u16).to_ne_bytes());
        bytes[HEADER] = command;
        bytes[HEADER + 1] = 1;
        bytes[start..start + 2].copy_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        bytes[start + 2..start + 4].copy_from_slice(&attribute.to_ne_bytes());
        bytes[start + 4..start + 4 + value.len()].copy_from_slice(value);
        request
    }

    /// The same request, acknowledged by the kernel even when it has nothing to say.
    pub fn acknowledged(mut self) -> Request {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self
    }
}

/// The attributes of a message; the error when it carries one.
pub fn payload(message: &[u8]) -> io::Result<Attributes<'_>> {
    let kind = u16_at(message, 4).ok_or_else(|| io::Error::other("a message without a header"))?;
    if kind == ERROR {
        let error = u32_at(message, HEADER).unwrap_or(0) as i32;
        return match error {
            0 => Ok(Attributes(&[])),
            error => Err(io::Error::from_raw_os_error(-error)),
        };
    }
    Ok(Attributes(message.get(HEADER + GENERIC_HEADER..).unwrap_or(&[])))
}

/// The attributes in a message or in another attribute: number and value.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)?;
        let value = self.0.get(4..length)?;
        self.0 = self.0.get(aligned(length)..).unwrap_or(&[]);
        Some((kind, value))
    }
}

/// The number at `at` in the bytes, if they are that long.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]))
}

/// The number at `at` in the bytes, if they are that long.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// The number at `at` in the bytes, if they are that long.
pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).map(|b| u64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
}

fn aligned(length: usize) -> usize {
    (length + 3) & !3
}
