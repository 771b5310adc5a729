//! What the two ends say to each other on the control connection: a line of JSON each.
//!
//! The server speaks first: who it is and a number drawn at random. The client asks, and proves the token if there is one;
//! the server answers with a ticket for the data connection, or says in words why not; at the end it tells its row.

use serde::{Deserialize, Serialize};

use crate::measuring::row::End;
use crate::moving::method::Method;
use crate::words;

/// The version of what is said; the two must have the same.
pub const VERSION: u32 = 1;
/// The first word of everything, so that a stranger is known for one.
pub const NAME: &str = "loadgo transfer";
/// No line is longer.
pub const LONGEST_LINE: u64 = 64 << 10;

/// The server's first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Greeting {
    /// [`NAME`].
    #[serde(deserialize_with = "words::heard")]
    pub name: String,
    /// [`VERSION`].
    pub version: u32,
    /// True when the server answers only who has its token.
    pub token: bool,
}

/// What every request begins with, of any version.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Introduction {
    /// [`NAME`].
    #[serde(deserialize_with = "words::heard")]
    pub name: String,
    /// [`VERSION`].
    pub version: u32,
}

/// What the client wants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// [`NAME`].
    pub name: String,
    /// [`VERSION`].
    pub version: u32,
    /// The shared token, if there is one.
    pub token: Option<String>,
    /// Which way the data go.
    pub direction: Direction,
    /// How they are moved.
    pub method: Method,
    /// How many bytes.
    pub size: u64,
    /// The most bytes a call.
    pub message: u32,
    /// The batch job that this transfer belongs to, if any.
    #[serde(default)]
    pub job: Option<Job>,
    /// True when the client, if it sends, can wait for the server's [`Go`].
    #[serde(default)]
    pub waits: bool,
}

/// Which way data go, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client to the server: `s` in the seed's tables.
    Send,
    /// From the server to the client: `r`.
    Receive,
}

/// What the server answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The ticket: the data connection begins with it, and then come the data.
    Ticket {
        /// In hexadecimal, [`crate::tickets::SECRET_BYTES`] of them.
        ticket: String,
        /// For [`Method::Unix`] and [`Method::Shm`], the name of the socket in the abstract namespace.
        unix: Option<String>,
        /// For [`Method::Tls`] and [`Method::Ktls`], who signs for the server, in DER.
        authority: Option<Vec<u8>>,
        /// How many bytes a print file has.
        #[serde(default)]
        size: Option<u64>,
        /// True when the server says [`Go`] as soon as it is ready, and the client should not send before.
        #[serde(default)]
        go: bool,
    },
    /// Why not, in words.
    Refused(#[serde(deserialize_with = "words::heard")] String),
    /// Why that host cannot do it by this method, in words; others may do.
    Cannot(#[serde(deserialize_with = "words::heard")] String),
}

/// The server follows the data connection: whoever sends may begin, and no packet is missed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Go {
    /// That is all it says.
    Go,
}

/// The server's last line: its end of the transfer. Of a job the client then tells its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    /// What this end came to.
    pub end: End,
    /// The name of the job that was submitted.
    #[serde(default, deserialize_with = "words::heard_if_any")]
    pub job: Option<String>,
}

/// What a transfer asks of a batch host, beside moving data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// A deck is sent; the answer is the job's name, which nobody can guess.
    Submit,
    /// The print file of the job of this name is fetched; when the client says that it has all of it, the job is over.
    Print(String),
    /// A file is sent for later.
    Store,
}

impl Job {
    /// As one asks for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Job::Submit => "submit",
            Job::Print(_) => "print",
            Job::Store => "store",
        }
    }
}
