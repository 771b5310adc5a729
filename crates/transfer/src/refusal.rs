//! Why a transfer cannot begin, for the client and for the server.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use loadgo_sys::why::Why;

use crate::bounds::MOST_MESSAGE_BYTES;
use crate::moving::method::Method;
use crate::moving::socket::error_words;
use crate::protocol::wire::{Direction, PROTOCOL_NAME, PROTOCOL_VERSION};

/// Why a client's transfer cannot begin.
#[derive(Debug)]
pub enum TransferRefusal {
    /// The two hosts cannot use this method; another method may work.
    Method(Method, MethodObstacle),
    /// The order has neither a size nor a file.
    NoSize(Direction),
    /// The file cannot be read.
    Source(PathBuf, io::Error),
    /// There is no memory for a pattern.
    Pattern(io::Error),
    /// The file for received data cannot be created; the error names it.
    Destination(io::Error),
    /// The text is no HOST:PORT, or the host's name has no address.
    Address(String, io::Error),
    /// No address of the server answers.
    NoAnswer(Vec<(SocketAddr, io::Error)>),
    /// The connection to the server failed.
    Connection(SocketAddr, io::Error),
    /// The server has another version of the protocol, or another protocol of this name.
    OtherVersion(SocketAddr, u32, String),
    /// The server requires a token, and the order has none.
    NoToken(SocketAddr),
    /// The server refuses the request, for this reason.
    ByServer(SocketAddr, String),
    /// The print file has more bytes than the order allows: its size, and the limit.
    LongPrintFile(SocketAddr, u64, u64),
    /// The print file does not fit on the disk: its size, and the free bytes.
    FullDisk(SocketAddr, u64, u64),
    /// The system has no further thread.
    NoThread(io::Error),
    /// The thread that moved the data has panicked.
    Panicked,
}

/// Why two hosts cannot use a method.
#[derive(Debug)]
pub enum MethodObstacle {
    /// This host cannot.
    Here(Why),
    /// The server's host cannot, for this reason.
    There(SocketAddr, String),
    /// The method works within one host, and the server's Unix socket cannot be reached.
    OtherHost(SocketAddr, io::Error),
}

impl Error for TransferRefusal {}

impl fmt::Display for TransferRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransferRefusal::Method(method, obstacle) => write!(out, "{} {obstacle}", method.name()),
            TransferRefusal::NoSize(Direction::Receive) => out.write_str("how much is to be received? say --size"),
            TransferRefusal::NoSize(Direction::Send) => {
                out.write_str("how much is to be sent? say --size, or a file with --from")
            }
            TransferRefusal::Source(path, error) => write!(out, "{}: {error}", path.display()),
            TransferRefusal::Pattern(error) => write!(out, "there is no memory for a pattern: {error}"),
            TransferRefusal::Destination(error) => error.fmt(out),
            TransferRefusal::Address(text, error) => write!(out, "{text} is no HOST:PORT that can be reached: {error}"),
            TransferRefusal::NoAnswer(failures) => {
                let failures: Vec<String> = failures.iter().map(|(server, error)| failure_words(*server, error)).collect();
                write!(out, "{}: start `loadgo transfer serve` there", failures.join(", and "))
            }
            TransferRefusal::Connection(server, error) => write!(out, "{server}: {}", error_words(error)),
            TransferRefusal::OtherVersion(server, version, name) => write!(
                out,
                "{server} speaks version {version} of {name}, and this is version {PROTOCOL_VERSION}: \
                 have the same loadgo at both ends"
            ),
            TransferRefusal::NoToken(server) => {
                write!(out, "{server} wants a token: give the one that it was started with, with --token-file")
            }
            TransferRefusal::ByServer(server, reason) => write!(out, "{server} refused: {reason}"),
            TransferRefusal::LongPrintFile(server, size, most) => {
                write!(out, "{server}: its print file has {size} bytes, more than the {most} that are allowed here")
            }
            TransferRefusal::FullDisk(server, size, room) => {
                let remedy = "name another with --into";
                write!(out, "{server}: its print file has {size} bytes, and the disk has room for {room}: {remedy}")
            }
            TransferRefusal::NoThread(error) => write!(out, "there is no thread to move the data: {error}"),
            TransferRefusal::Panicked => out.write_str("the transfer failed"),
        }
    }
}

fn failure_words(server: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("nobody listens at {server}"),
        _ => format!("{server}: {}", error_words(error)),
    }
}

impl fmt::Display for MethodObstacle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodObstacle::Here(reason) => write!(out, "is not possible here: {reason}"),
            MethodObstacle::There(server, reason) => write!(out, "is not possible at {server}: {reason}"),
            MethodObstacle::OtherHost(server, error) => {
                write!(out, "works within one host, and the Unix socket of {server} cannot be reached from here ({error})")
            }
        }
    }
}

/// Why a server refuses a request.
#[derive(Debug)]
pub(crate) enum RequestRefusal {
    OtherVersion(u32, String),
    WrongToken,
    /// The number of bytes, and the limit.
    TooLong(u64, u64),
    MessageOutOfRange(u32),
    /// The number of transfers under way.
    TooManyTransfers(usize),
}

impl Error for RequestRefusal {}

impl fmt::Display for RequestRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestRefusal::OtherVersion(version, name) => {
                write!(out, "this is version {PROTOCOL_VERSION} of {PROTOCOL_NAME}, not {version} of {name}")
            }
            RequestRefusal::WrongToken => {
                out.write_str("the token is missing or wrong: give the one that this server was started with")
            }
            RequestRefusal::TooLong(bytes, most) => {
                write!(out, "{bytes} bytes are more than the {most} that are allowed here")
            }
            RequestRefusal::MessageOutOfRange(bytes) => {
                write!(out, "a message of {bytes} bytes is out of range: 1 to {MOST_MESSAGE_BYTES}")
            }
            RequestRefusal::TooManyTransfers(count) => {
                write!(out, "{count} transfers are under way, and no more are allowed at once: try again later")
            }
        }
    }
}
