//! Bytes from the other end of a transfer: lines of JSON, and blocks of records.

use super::cuts::split_byte;
use loadgo_transfer::moving::records::{BLOCK_HEADER_BYTES, MOST_RECORD_BYTES, block_length, pack, payload_bytes, unpack};
use loadgo_transfer::protocol::wire::{FinalReply, Greeting, ServerReply, TransferRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Lines of the control connection if the first byte is even; else blocks of the data connection.
pub(crate) fn feed_transfer(bytes: &[u8]) {
    match split_byte(bytes) {
        (kind, rest) if kind % 2 == 0 => rest.split(|byte| *byte == b'\n').for_each(feed_line),
        (block, rest) => {
            feed_blocks(rest);
            assert_packs_back(rest, usize::from(block) * 300);
        }
    }
}

fn feed_line(line: &[u8]) {
    if let Ok(greeting) = serde_json::from_slice::<Greeting>(line) {
        assert_printable(&greeting.name);
    }
    if let Ok(ServerReply::Refused(reason) | ServerReply::Cannot(reason)) = serde_json::from_slice(line) {
        assert_printable(&reason);
    }
    if let Ok(reply) = serde_json::from_slice::<FinalReply>(line) {
        reply.job.iter().for_each(|job| assert_printable(job));
    }
    assert_writes_back::<ServerReply>(line);
    assert_writes_back::<TransferRequest>(line);
    assert_writes_back::<FinalReply>(line);
}

fn assert_printable(text: &str) {
    assert!(!text.chars().any(char::is_control), "{text:?}");
}

/// Asserts that a message that was read is written as one that reads.
fn assert_writes_back<T: DeserializeOwned + Serialize>(line: &[u8]) {
    if let Ok(message) = serde_json::from_slice::<T>(line) {
        let written = serde_json::to_vec(&message).expect("a message is JSON");
        assert!(serde_json::from_slice::<T>(&written).is_ok(), "{}", String::from_utf8_lossy(&written));
    }
}

/// Reads blocks as the receiver does.
fn feed_blocks(mut bytes: &[u8]) {
    let mut payload = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<BLOCK_HEADER_BYTES>() {
        let Ok(length) = block_length(*header) else { return };
        let Some((inside, rest)) = rest.split_at_checked(length) else { return };
        let unpacked = unpack(inside, &mut payload);
        assert!(unpacked.is_err() || payload.len() <= inside.len());
        bytes = rest;
    }
}

/// Asserts that a file's bytes come out of blocks as they went in.
fn assert_packs_back(file: &[u8], block_bytes: usize) {
    let (mut block, mut payload) = (Vec::new(), Vec::new());
    for part in file.chunks(payload_bytes(block_bytes)) {
        pack(part, &mut block);
        let (header, inside) = block.split_first_chunk::<BLOCK_HEADER_BYTES>().expect("a header");
        assert_eq!(block_length(*header).expect("a block"), inside.len());
        assert!(inside.len() <= part.len() + 2 * part.len().div_ceil(MOST_RECORD_BYTES));
        unpack(inside, &mut payload).expect("records");
        assert_eq!(payload, part);
    }
}
