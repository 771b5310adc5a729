//! The messages on the control connection, each a line of JSON.
//!
//! The server greets first. The client sends its request, with the token if there is one. The server answers with a ticket for the
//! data connection, or with a refusal. At the end it sends its row.

use serde::{Deserialize, Serialize};

use crate::measuring::row::EndRow;
use crate::moving::method::Method;
use crate::words;

/// Version of the protocol, which must be the same at both ends.
pub const PROTOCOL_VERSION: u32 = 1;
/// Name of the protocol, in each end's first message.
pub const PROTOCOL_NAME: &str = "loadgo transfer";
/// Largest number of bytes in a line.
pub const MOST_CONTROL_LINE_BYTES: u64 = 64 << 10;

/// The server's first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Greeting {
    /// [`PROTOCOL_NAME`].
    #[serde(deserialize_with = "words::deserialize_text")]
    pub name: String,
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
    /// Whether the server requires a token.
    pub token: bool,
}

/// The common beginning of requests of all versions.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Introduction {
    /// [`PROTOCOL_NAME`].
    #[serde(deserialize_with = "words::deserialize_text")]
    pub name: String,
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
}

/// The client's request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TransferRequest {
    /// [`PROTOCOL_NAME`].
    pub name: String,
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
    /// The shared token, if there is one.
    pub token: Option<String>,
    /// Direction of the data.
    pub direction: Direction,
    /// Method of both ends.
    pub method: Method,
    /// Number of bytes.
    pub size: u64,
    /// Largest number of bytes that one call moves.
    pub message: u32,
    /// The batch job that this transfer belongs to, if any.
    #[serde(default)]
    pub job: Option<JobKind>,
    /// Whether a sending client can wait for the server's [`GoSignal`].
    #[serde(default)]
    pub waits: bool,
}

/// The direction of the data, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client to the server: `s` in RFC 392's tables.
    Send,
    /// From the server to the client: `r`.
    Receive,
}

/// The server's answer to a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerReply {
    /// The transfer can begin.
    Ticket(TransferTicket),
    /// The request is refused; with the reason.
    Refused(#[serde(deserialize_with = "words::deserialize_text")] String),
    /// The server's host cannot use the method; with the reason. Another method may work.
    Cannot(#[serde(deserialize_with = "words::deserialize_text")] String),
}

/// The terms on which a transfer can begin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TransferTicket {
    /// The ticket with which the data connection begins: [`crate::tickets::SECRET_BYTES`] in hexadecimal.
    pub ticket: String,
    /// Name of the socket in the abstract namespace, for [`Method::Unix`] and [`Method::Shm`].
    pub unix: Option<String>,
    /// The signer's certificate in DER, for [`Method::Tls`] and [`Method::Ktls`].
    pub authority: Option<Vec<u8>>,
    /// Size of a print file in bytes.
    #[serde(default)]
    pub size: Option<u64>,
    /// Whether the client must wait for the server's [`GoSignal`] before it sends.
    #[serde(default)]
    pub go: bool,
}

/// The server's message that it follows the data connection, so that a sender may begin.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GoSignal {
    /// The sender may begin.
    Go,
}

/// An end's last message, with its row. For a job both ends send one, the server first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinalReply {
    /// The end's row.
    pub end: EndRow,
    /// The name of the job that was submitted.
    #[serde(default, deserialize_with = "words::deserialize_optional_text")]
    pub job: Option<String>,
}

/// The job that a transfer belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// Submit a deck. The answer is the job's name, which cannot be guessed.
    Submit,
    /// Fetch the print file of the job with this name. The job is over when the client acknowledges all of it.
    Print(String),
    /// Store a file for later.
    Store,
}

impl JobKind {
    /// The job's word on the command line.
    pub fn verb(&self) -> &'static str {
        match self {
            JobKind::Submit => "submit",
            JobKind::Print(_) => "print",
            JobKind::Store => "store",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(message: &impl Serialize) -> String {
        serde_json::to_string(message).expect("a message is JSON")
    }

    #[test]
    fn ends_of_different_builds_agree_on_the_bytes_of_a_message() {
        assert_eq!(json(&GoSignal::Go), r#""go""#);
        let ticket = TransferTicket { ticket: "0f".into(), unix: None, authority: Some(vec![48]), size: Some(7), go: true };
        let bytes = r#"{"ticket":{"ticket":"0f","unix":null,"authority":[48],"size":7,"go":true}}"#;
        assert_eq!(json(&ServerReply::Ticket(ticket)), bytes);
        assert_eq!(json(&ServerReply::Refused("full".into())), r#"{"refused":"full"}"#);
        assert_eq!(json(&ServerReply::Cannot("no ring".into())), r#"{"cannot":"no ring"}"#);
        assert_eq!(json(&JobKind::Print("0f".into())), r#"{"print":"0f"}"#);
        assert_eq!(json(&[JobKind::Submit, JobKind::Store]), r#"["submit","store"]"#);
        assert_eq!(json(&[Direction::Send, Direction::Receive]), r#"["send","receive"]"#);
        assert_eq!(json(&[Method::IoUring, Method::Unix, Method::Shm]), r#"["io-uring","unix","shm"]"#);
    }
}
