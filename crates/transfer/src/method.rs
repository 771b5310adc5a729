//! The ways in which data can be moved onto a socket and off it.

use std::io;

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
    /// A Unix socket: interprocess communication on one host.
    Unix,
}

impl Method {
    /// All of them, from the dearest to what should be the cheapest.
    pub const ALL: [Method; 10] = [
        Method::Bytes,
        Method::Messages,
        Method::Blocks,
        Method::Records,
        Method::Mmap,
        Method::Sendfile,
        Method::Splice,
        Method::Zerocopy,
        Method::Tls,
        Method::Unix,
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
            Method::Unix => "unix",
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
            Method::Sendfile | Method::Splice | Method::Zerocopy => 1 << 20,
            Method::Blocks | Method::Mmap | Method::Tls | Method::Unix => 1 << 16,
        }
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
}

impl Way {
    /// This end's side of TLS.
    ///
    /// # Errors
    /// When there is none.
    pub fn tls(&mut self) -> io::Result<&mut Connection> {
        self.tls.as_mut().ok_or_else(|| io::Error::other("there are no keys for TLS"))
    }
}
