//! The errors of an end that sends another amount of data than was agreed.

use std::io;

/// The error of an other end that sends on.
pub(crate) fn too_much() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the other end sent more than was agreed")
}

/// The error of an other end that ends at byte `at`.
pub(crate) fn too_early(at: u64, size: u64) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the other end ended after {at} of {size} bytes"))
}
