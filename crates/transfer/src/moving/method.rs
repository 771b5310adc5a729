//! The methods by which data can be sent and received.

use std::io;

use loadgo_sys::shared_ring::SharedRing;
use loadgo_sys::why::Why;
use loadgo_sys::{kernel_tls, uring};
use rustls::Connection;
use serde::{Deserialize, Serialize};

/// How the sending end brings data onto the network; the receiving end does what answers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One byte a call, as BIN and BOUT of TENEX.
    Bytes,
    /// A message a call, each as long as asked for; read and written by `read` and `write`.
    Messages,
    /// Blocks of 64 KiB, or as long as asked for.
    Blocks,
    /// Records of a line each in blocks with headers, as the remote job service RJS had them.
    Records,
    /// The file is mapped and written from the mapping.
    Mmap,
    /// `sendfile`: the kernel takes it from the file's pages.
    Sendfile,
    /// `splice` through a pipe, on both ends.
    Splice,
    /// `MSG_ZEROCOPY`: the network takes the pages themselves, and says when it is done with them.
    Zerocopy,
    /// TLS 1.3, enciphered by this program, in blocks.
    Tls,
    /// TLS 1.3, enciphered by the kernel with keys that this program agreed on; the file goes by `sendfile`.
    Ktls,
    /// A ring of calls to the kernel, a chain of sends for one of them.
    IoUring,
    /// A Unix socket: interprocess communication on one host.
    Unix,
    /// Memory that both ends share, on one host.
    Shm,
}

impl Method {
    /// All of them, from the dearest to what should be the cheapest.
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

    /// Its name, as one asks for it.
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

    /// How many bytes a call moves at most where nobody says.
    pub fn usual_message(self) -> u32 {
        match self {
            Method::Bytes => 1,
            Method::Messages => 512,
            Method::Records => 4096,
            Method::Sendfile | Method::Splice | Method::Zerocopy | Method::Ktls => 1 << 20,
            Method::Blocks | Method::Mmap | Method::Tls | Method::IoUring | Method::Unix | Method::Shm => 1 << 16,
        }
    }

    /// Why this host cannot do it; None when it can.
    pub fn why_not(self) -> Option<Why> {
        match self {
            Method::Ktls => kernel_tls::unavailable_reason(),
            Method::IoUring => uring::unavailable_reason(),
            _ => None,
        }
    }

    /// Whether it works within one host alone.
    pub fn is_of_one_host(self) -> bool {
        matches!(self, Method::Unix | Method::Shm)
    }

    /// Whether what goes over the connection is enciphered.
    pub(crate) fn is_enciphered(self) -> bool {
        matches!(self, Method::Tls | Method::Ktls)
    }
}

/// How one end moves data.
#[derive(Debug)]
pub struct Way {
    /// By what method.
    pub method: Method,
    /// The most bytes a call.
    pub message: u32,
    /// This end's side, where what goes over the connection is enciphered.
    pub tls: Option<Connection>,
    /// The memory that both ends share.
    pub ring: Option<SharedRing>,
}

impl Way {
    /// This end's side of TLS.
    ///
    /// # Errors
    /// When there is none.
    pub fn tls(&mut self) -> io::Result<&mut Connection> {
        self.tls.as_mut().ok_or_else(|| io::Error::other("there are no keys for TLS"))
    }

    /// The memory that both ends share.
    ///
    /// # Errors
    /// When there is none.
    pub fn ring(&self) -> io::Result<&SharedRing> {
        self.ring.as_ref().ok_or_else(|| io::Error::other("there is no memory that both ends share"))
    }
}
