//! Inputs that come in pieces: the first two bytes of an input say how the rest is cut.

/// Largest number of pieces of an input, since a reader of a growing file begins an incomplete message again with each.
const MOST_PIECES: usize = 64;

/// Takes one byte from the front of an input; 0 if there is none.
pub(crate) fn split_byte(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(&first, rest)| (first, rest))
}

/// Takes the length of pieces from the front of an input, and returns the rest in pieces and as a whole.
pub(crate) fn in_pieces(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (low, rest) = split_byte(bytes);
    let (high, rest) = split_byte(rest);
    let length = usize::from(u16::from_le_bytes([low, high])).max(rest.len().div_ceil(MOST_PIECES)).max(1);
    (rest.chunks(length).collect(), rest)
}
