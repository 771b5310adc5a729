//! Random tickets, with which a data connection shows the transfer that it belongs to.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Number of random bytes in a ticket.
pub(crate) const SECRET_BYTES: usize = 16;

/// A random ticket in hexadecimal.
///
/// # Errors
/// The kernel has no randomness.
pub fn random_ticket() -> io::Result<String> {
    let mut bytes = [0u8; SECRET_BYTES];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two texts are equal. The time does not depend on where they differ.
pub fn equal_in_constant_time(left: &str, right: &str) -> bool {
    let difference = left.bytes().zip(right.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    left.len() == right.len() && difference == 0
}
