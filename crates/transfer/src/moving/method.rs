//! The methods by which data can be sent and received.

use std::io;

use loadgo_sys::shared_ring::SharedRing;
use loadgo_sys::why::Why;
use loadgo_sys::{kernel_tls, uring};
use rustls::Connection;
use serde::{Deserialize, Serialize};

/// How the sending end hands data to the network; the receiving end uses the counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One byte for each call, as BIN and BOUT of TENEX.
    Bytes,
    /// One message of the chosen length for each call of `read` and `write`.
    Messages,
    /// Blocks of 64 KiB, or of the chosen length.
    Blocks,
    /// Records of a line each in blocks with headers, as the remote job service RJS had them.
    Records,
    /// The file is mapped and written from the mapping.
    Mmap,
    /// `sendfile`: the kernel takes the data from the file's pages.
    Sendfile,
    /// `splice` through a pipe, on both ends.
    Splice,
    /// `MSG_ZEROCOPY`: the network uses the file's pages without a copy, and reports when it has finished.
    Zerocopy,
    /// TLS 1.3, encrypted by this program, in blocks.
    Tls,
    /// TLS 1.3 with `sendfile`, encrypted by the kernel with keys that this program agreed on.
    Ktls,
    /// A ring of calls to the kernel, a chain of sends for one of them.
    IoUring,
    /// A Unix socket: interprocess communication on one host.
    Unix,
    /// Memory that both ends share, on one host.
    Shm,
}

impl Method {
    /// All methods, from the most expensive to the one that should be cheapest.
    pub const ALL: [Method; 13] = [
        Method::Bytes,
        Method::Messages,
        Method::Blocks,
        Method::Records,
        Method::Mmap,
        Method::Sendfile,
        Method::Splice,
        Method::Zerocopy,
        Method::Tls,
        Method::Ktls,
        Method::IoUring,
        Method::Unix,
        Method::Shm,
    ];

    /// The method's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Bytes => "bytes",
            Method::Messages => "messages",
            Method::Blocks => "blocks",
            Method::Records => "records",
            Method::Mmap => "mmap",
            Method::Sendfile => "sendfile",
            Method::Splice => "splice",
            Method::Zerocopy => "zerocopy",
            Method::Tls => "tls",
            Method::Ktls => "ktls",
            Method::IoUring => "io-uring",
            Method::Unix => "unix",
            Method::Shm => "shm",
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Largest number of bytes that one call moves by default.
    pub fn default_message_bytes(self) -> u32 {
        match self {
            Method::Bytes => 1,
            Method::Messages => 512,
            Method::Records => 4096,
            Method::Sendfile | Method::Splice | Method::Zerocopy | Method::Ktls => 1 << 20,
            Method::Blocks | Method::Mmap | Method::Tls | Method::IoUring | Method::Unix | Method::Shm => 1 << 16,
        }
    }

    /// Why this host cannot use the method; None if it can.
    pub fn unavailable_reason(self) -> Option<Why> {
        match self {
            Method::Ktls => kernel_tls::unavailable_reason(),
            Method::IoUring => uring::unavailable_reason(),
            _ => None,
        }
    }

    /// Whether the method works only within one host.
    pub fn is_of_one_host(self) -> bool {
        matches!(self, Method::Unix | Method::Shm)
    }

    /// Whether the data connection is encrypted.
    pub(crate) fn is_encrypted(self) -> bool {
        matches!(self, Method::Tls | Method::Ktls)
    }
}

/// A method with the state that one end needs for it.
#[derive(Debug)]
pub struct MethodInUse {
    /// The method.
    pub method: Method,
    /// Largest number of bytes that one call moves.
    pub message: u32,
    /// This end's side of TLS, for encrypted methods.
    pub tls: Option<Connection>,
    /// The memory that both ends share, for [`Method::Shm`].
    pub ring: Option<SharedRing>,
}

impl MethodInUse {
    /// This end's side of TLS.
    ///
    /// # Errors
    /// The method has none.
    pub fn tls(&mut self) -> io::Result<&mut Connection> {
        self.tls.as_mut().ok_or_else(|| io::Error::other("there are no keys for TLS"))
    }

    /// The memory that both ends share.
    ///
    /// # Errors
    /// The method has none.
    pub fn ring(&self) -> io::Result<&SharedRing> {
        self.ring.as_ref().ok_or_else(|| io::Error::other("there is no memory that both ends share"))
    }
}
