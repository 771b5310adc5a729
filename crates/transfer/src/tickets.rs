//! Tickets that nobody can guess: they tell a data connection which transfer it belongs to.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// As many random bytes, in hexadecimal, are a ticket or a challenge.
pub(crate) const SECRET_BYTES: usize = 16;

/// A ticket that nobody can guess, in hexadecimal.
///
/// # Errors
/// When the kernel has no randomness.
pub fn ticket() -> io::Result<String> {
    let mut bytes = [0u8; SECRET_BYTES];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares without telling by its time where the two differ.
pub fn same(one: &str, other: &str) -> bool {
    let differ = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differ == 0
}
