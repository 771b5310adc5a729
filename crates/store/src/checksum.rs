//! Checksums of what a run folder holds: of each message of a stream, and of each table's file.
//!
//! A message's checksum stands at the end of its description, where Arrow has padding that readers skip. So any reader of Arrow
//! streams reads the message. The checksum covers the description and the body.

use std::io::{self, Read as _, Write};
use std::path::Path;

use arrow_ipc::root_as_message;
use crc32fast::Hasher;

/// Length of a message's head: the continuation mark, and the length of the description.
pub(crate) const MESSAGE_HEAD_BYTES: usize = 8;
/// The first bytes of a checksum in a description.
const MARK: [u8; 4] = *b"lgc1";
/// Length of the mark and the checksum.
const CHECKSUM_BYTES: usize = 8;
/// A mark in which so many bits have changed is still a mark. The zeros of an earlier loadgo differ in 16 bits.
const MOST_FLIPPED_BITS: u32 = 2;
/// Number of bytes of a file that are read at once.
const READ_BYTES: usize = 1 << 18;

/// How the checksum of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// There is none: the message is of an earlier loadgo.
    Absent,
    /// The message is as it was written.
    Right,
    /// The message has changed since it was written.
    Wrong,
}

/// The beginning of the last line of `run.toml`, which is a comment for every other reader.
const CHECKSUM_LINE: &str = "# crc32 of the lines above: ";

/// The text of `run.toml` with a last line that has the checksum of the bytes before it. Such a line from before is left out.
pub(crate) fn with_checksum_line(text: &str) -> String {
    let text = without_checksum_line(text);
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let above = format!("{text}{newline}");
    let sum = crc32fast::hash(above.as_bytes());
    format!("{above}{CHECKSUM_LINE}{sum}\n")
}

/// The text of `run.toml` without its last line, if that is a checksum.
pub(crate) fn without_checksum_line(text: &str) -> &str {
    let last = text.trim_end().rfind('\n').map_or(0, |newline| newline + 1);
    if text[last..].starts_with(CHECKSUM_LINE) { &text[..last] } else { text }
}

/// The messages in `encoded`, each with a checksum; the end mark as it is.
pub(crate) fn with_checksums(encoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(encoded.len() + 4 * CHECKSUM_BYTES);
    let mut unread = encoded;
    while let Some((head, after_head)) = unread.split_at_checked(MESSAGE_HEAD_BYTES) {
        let (description, after) = after_head.split_at(described_bytes(head));
        let body_bytes = root_as_message(description).map_or(0, |message| message.bodyLength());
        let (body, after) = after.split_at(usize::try_from(body_bytes).unwrap_or(0));
        match description.is_empty() {
            true => out.extend_from_slice(head),
            false => put(&mut out, head, description, body),
        }
        unread = after;
    }
    out
}

fn put(out: &mut Vec<u8>, head: &[u8], description: &[u8], body: &[u8]) {
    out.extend_from_slice(&head[..4]);
    out.extend_from_slice(&((description.len() + CHECKSUM_BYTES) as u32).to_le_bytes());
    out.extend_from_slice(description);
    out.extend_from_slice(&MARK);
    out.extend_from_slice(&checksum_of(description, body).to_le_bytes());
    out.extend_from_slice(body);
}

/// Checks a whole message.
pub(crate) fn check(message: &[u8]) -> Checksum {
    let (head, rest) = message.split_at(MESSAGE_HEAD_BYTES);
    let (described, body) = rest.split_at(described_bytes(head));
    let Some((description, checksum)) = described.split_last_chunk::<CHECKSUM_BYTES>() else { return Checksum::Absent };
    match bits_apart(&checksum[..4], &MARK) {
        0 => {}
        1..=MOST_FLIPPED_BITS => return Checksum::Wrong,
        _ => return Checksum::Absent,
    }
    let is_right = checksum_of(description, body).to_le_bytes() == checksum[4..];
    if is_right { Checksum::Right } else { Checksum::Wrong }
}

/// Number of bits in which the two differ.
fn bits_apart(bytes: &[u8], others: &[u8]) -> u32 {
    bytes.iter().zip(others).map(|(byte, other)| (byte ^ other).count_ones()).sum()
}

fn described_bytes(head: &[u8]) -> usize {
    u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize
}

fn checksum_of(description: &[u8], body: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(description);
    hasher.update(body);
    hasher.finalize()
}

/// The size and the checksum of the file at `path`.
///
/// # Errors
/// The system's refusal to read it.
pub fn file_checksum(path: &Path) -> io::Result<(u64, u32)> {
    let mut file = std::fs::File::open(path)?;
    let (mut hasher, mut buffer) = (Summing::new(io::sink()), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((hasher.bytes, hasher.checksum())),
            Ok(count) => hasher.write_all(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The size and the checksum of a file with this text.
pub fn text_checksum(text: &str) -> (u64, u32) {
    (text.len() as u64, crc32fast::hash(text.as_bytes()))
}

/// A writer that sums up what passes through it.
pub(crate) struct Summing<W> {
    /// Where the bytes go.
    pub(crate) inner: W,
    /// Number of bytes so far.
    pub(crate) bytes: u64,
    hasher: Hasher,
}

impl<W> Summing<W> {
    pub(crate) fn new(inner: W) -> Summing<W> {
        Summing { inner, bytes: 0, hasher: Hasher::new() }
    }

    /// The checksum of the bytes so far.
    pub(crate) fn checksum(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

impl<W: Write> Write for Summing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_checksum_of_the_lines_above_and_is_written_once() {
        let once = with_checksum_line("format = 1\n");
        assert_eq!(once, format!("format = 1\n# crc32 of the lines above: {}\n", crc32fast::hash(b"format = 1\n")));
        assert_eq!(with_checksum_line(&once), once);
        assert_eq!(with_checksum_line("format = 1"), once);
        assert_eq!(without_checksum_line(&once), "format = 1\n");
        assert_eq!(without_checksum_line("format = 1\n"), "format = 1\n");
    }

    #[test]
    fn a_bit_that_changes_in_the_mark_is_seen() {
        let mut message = vec![255, 255, 255, 255, 16, 0, 0, 0];
        let description = [1; 8];
        message.extend_from_slice(&description);
        message.extend_from_slice(&MARK);
        message.extend_from_slice(&checksum_of(&description, &[]).to_le_bytes());
        assert_eq!(check(&message), Checksum::Right);
        for bit in 0..32 {
            let mut changed = message.clone();
            changed[16 + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&changed), Checksum::Wrong, "bit {bit}");
        }
        message[16..20].fill(0);
        assert_eq!(check(&message), Checksum::Absent, "an earlier loadgo has zeros there");
    }
}
