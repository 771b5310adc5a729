//! Blocked records, as the remote job service had them: lines become records with headers, records become blocks with headers.
//!
//! A block is `0xFF`, a length of 2 bytes (big-endian, of all bytes behind this header), and the records. A record is a length of 2
//! bytes and that number of bytes.

use std::io;

/// Largest number of bytes in a record: a line of a printer.
pub const MOST_RECORD_BYTES: usize = 132;
/// Size of a block's header.
pub const BLOCK_HEADER_BYTES: usize = 3;
/// Size of a record's header.
pub(crate) const RECORD_HEADER_BYTES: usize = 2;
/// First byte of a block.
const BLOCK_BYTE: u8 = 0xFF;

/// Number of a file's bytes that fit into a block of `block` bytes; at least 1.
pub fn payload_bytes(block: usize) -> usize {
    let inside = block.clamp(BLOCK_HEADER_BYTES + RECORD_HEADER_BYTES + 1, BLOCK_HEADER_BYTES + usize::from(u16::MAX))
        - BLOCK_HEADER_BYTES;
    let full_records = inside / (MOST_RECORD_BYTES + RECORD_HEADER_BYTES);
    let last_record = (inside % (MOST_RECORD_BYTES + RECORD_HEADER_BYTES)).saturating_sub(RECORD_HEADER_BYTES);
    full_records * MOST_RECORD_BYTES + last_record
}

/// Packs `payload` into one block, which replaces the bytes in `block`.
pub fn pack(payload: &[u8], block: &mut Vec<u8>) {
    block.clear();
    block.extend_from_slice(&[BLOCK_BYTE, 0, 0]);
    for record in payload.chunks(MOST_RECORD_BYTES) {
        block.extend_from_slice(&(record.len() as u16).to_be_bytes());
        block.extend_from_slice(record);
    }
    let inside = (block.len() - BLOCK_HEADER_BYTES) as u16;
    block[1..BLOCK_HEADER_BYTES].copy_from_slice(&inside.to_be_bytes());
}

/// Number of bytes that follow this header of a block.
///
/// # Errors
/// The bytes are no header of a block.
pub fn block_length(header: [u8; BLOCK_HEADER_BYTES]) -> io::Result<usize> {
    if header[0] != BLOCK_BYTE {
        return Err(bad_block("the first byte of a block is wrong"));
    }
    Ok(usize::from(u16::from_be_bytes([header[1], header[2]])))
}

/// Unpacks the records inside of a block, which replace the bytes in `payload`.
///
/// # Errors
/// A record is longer than its block.
pub fn unpack(mut inside: &[u8], payload: &mut Vec<u8>) -> io::Result<()> {
    payload.clear();
    while !inside.is_empty() {
        let (header, rest) =
            inside.split_first_chunk::<RECORD_HEADER_BYTES>().ok_or_else(|| bad_block("a record has no header"))?;
        let length = usize::from(u16::from_be_bytes(*header));
        let record = rest.get(..length).ok_or_else(|| bad_block("a record is longer than its block"))?;
        payload.extend_from_slice(record);
        inside = &rest[length..];
    }
    Ok(())
}

fn bad_block(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the other end does not send blocks of records: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_a_packed_block_gives_its_payload() {
        for block in [6, 100, 137, 4096, 70_000] {
            let payload: Vec<u8> = (0..payload_bytes(block)).map(|at| at as u8).collect();
            let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
            pack(&payload, &mut packed);
            assert!(packed.len() <= block.min(BLOCK_HEADER_BYTES + usize::from(u16::MAX)), "{block}");
            let header = *packed.first_chunk().expect("a header");
            assert_eq!(block_length(header).expect("a block"), packed.len() - BLOCK_HEADER_BYTES);
            unpack(&packed[BLOCK_HEADER_BYTES..], &mut unpacked).expect("records");
            assert_eq!(unpacked, payload);
        }
    }

    #[test]
    fn garbage_is_refused() {
        assert!(block_length([0, 0, 1]).is_err());
        assert!(unpack(&[0, 9, 1], &mut Vec::new()).is_err());
        assert!(unpack(&[0], &mut Vec::new()).is_err());
    }
}
