//! The desk calculator of 1968.
fn main() {}
