//! Where one message of an Arrow IPC stream ends and the next begins.
//!
//! A message is `FFFFFFFF`, the length of its description, the description (a flatbuffer, which names the length of the
//! body), the body. A description of length 0 ends the stream. Arrow columnar format 1.5, "Encapsulated message format".

use arrow_ipc::root_as_message;

const CONTINUATION: [u8; 4] = [0xFF; 4];
const HEAD: usize = 8;

/// What stands at the beginning of some bytes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Message {
    /// A message of so many bytes, all of them there.
    Whole(usize),
    /// The mark that ends the stream.
    End,
    /// Less than a message; more bytes must come.
    Part,
    /// No message: these bytes are not of a stream.
    Damaged(String),
}

/// Looks at the first message of `bytes`.
pub fn first(bytes: &[u8]) -> Message {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Message::Part };
    if head[..4] != CONTINUATION {
        return Message::Damaged("a message does not begin where it should".into());
    }
    let described = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    if described == 0 {
        return Message::End;
    }
    let Some(description) = rest.get(..described) else { return Message::Part };
    match root_as_message(description).map(|message| usize::try_from(message.bodyLength())) {
        Ok(Ok(body)) if rest.len() - described >= body => Message::Whole(HEAD + described + body),
        Ok(Ok(_)) => Message::Part,
        Ok(Err(_)) => Message::Damaged("a message of negative length".into()),
        Err(error) => Message::Damaged(error.to_string()),
    }
}

/// The rows of a whole message; 0 when it is not one of rows.
pub fn rows(message: &[u8]) -> u64 {
    let rows = root_as_message(&message[HEAD..]).ok().and_then(|message| message.header_as_record_batch());
    rows.map_or(0, |batch| batch.length().unsigned_abs())
}
