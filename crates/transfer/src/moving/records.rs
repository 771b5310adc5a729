//! Blocked records, as the remote job service had them: lines become records with headers, records become blocks with headers.
//!
//! A block is `0xFF`, the number of its bytes behind the header (2 bytes, the greater first) and the records; a record is the number
//! of its bytes (2 bytes) and these.

use std::io;

/// The longest record: a line of a printer.
pub const RECORD: usize = 132;
/// The header of a block.
pub(crate) const BLOCK_HEADER: usize = 3;
/// The header of a record.
pub(crate) const RECORD_HEADER: usize = 2;
/// The first byte of a block.
const BLOCK: u8 = 0xFF;

/// How many bytes of a file fill a block of at most `block` bytes, at least one.
pub(crate) fn payload_of(block: usize) -> usize {
    let inside = block.clamp(BLOCK_HEADER + RECORD_HEADER + 1, BLOCK_HEADER + usize::from(u16::MAX)) - BLOCK_HEADER;
    let whole = inside / (RECORD + RECORD_HEADER);
    let rest = (inside % (RECORD + RECORD_HEADER)).saturating_sub(RECORD_HEADER);
    whole * RECORD + rest
}

/// Puts `payload` into one block, in place of what `block` held.
pub fn pack(payload: &[u8], block: &mut Vec<u8>) {
    block.clear();
    block.extend_from_slice(&[BLOCK, 0, 0]);
    for record in payload.chunks(RECORD) {
        block.extend_from_slice(&(record.len() as u16).to_be_bytes());
        block.extend_from_slice(record);
    }
    let inside = (block.len() - BLOCK_HEADER) as u16;
    block[1..BLOCK_HEADER].copy_from_slice(&inside.to_be_bytes());
}

/// How many bytes follow this header of a block.
///
/// # Errors
/// When it is none.
pub fn inside(header: [u8; BLOCK_HEADER]) -> io::Result<usize> {
    if header[0] != BLOCK {
        return Err(garbage("a block does not begin as one"));
    }
    Ok(usize::from(u16::from_be_bytes([header[1], header[2]])))
}

/// Takes the records out of a block's inside, in place of what `payload` held.
///
/// # Errors
/// When a record reaches out of its block.
pub(crate) fn unpack(mut inside: &[u8], payload: &mut Vec<u8>) -> io::Result<()> {
    payload.clear();
    while !inside.is_empty() {
        let (header, rest) = inside.split_first_chunk::<RECORD_HEADER>().ok_or_else(|| garbage("a record has no header"))?;
        let length = usize::from(u16::from_be_bytes(*header));
        let record = rest.get(..length).ok_or_else(|| garbage("a record is longer than its block"))?;
        payload.extend_from_slice(record);
        inside = &rest[length..];
    }
    Ok(())
}

fn garbage(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("what comes is not what was agreed: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_fills_its_block() {
        for block in [6, 100, 137, 4096, 70_000] {
            let payload: Vec<u8> = (0..payload_of(block)).map(|at| at as u8).collect();
            let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
            pack(&payload, &mut packed);
            assert!(packed.len() <= block.min(BLOCK_HEADER + usize::from(u16::MAX)), "{block}");
            let header = *packed.first_chunk().expect("a header");
            assert_eq!(inside(header).expect("a block"), packed.len() - BLOCK_HEADER);
            unpack(&packed[BLOCK_HEADER..], &mut unpacked).expect("records");
            assert_eq!(unpacked, payload);
        }
    }

    #[test]
    fn garbage_is_refused() {
        assert!(inside([0, 0, 1]).is_err());
        assert!(unpack(&[0, 9, 1], &mut Vec::new()).is_err());
        assert!(unpack(&[0], &mut Vec::new()).is_err());
    }
}
