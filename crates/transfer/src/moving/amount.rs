//! The errors of an end that sends another amount of data than was agreed.

use std::io;

/// The error that the other end sent too much.
pub(crate) fn excess_data_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the other end sent more than was agreed")
}

/// The error that the other end ended after `received` of `size` bytes.
pub(crate) fn early_end_error(received: u64, size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the other end ended after {received} of {size} bytes"))
}
