//! A desk calculator: integers, the four operations, and partial results kept by name.
//!
//! It is the trivial command of 1968 that was the yardstick of an interaction: read a line, scan it, compute, now and
//! then write a line in reply. It does the same work everywhere, in a few kilobytes, and never allocates.

mod calculate;
mod names;

pub use calculate::{Answer, Trouble, answer};
pub use names::Names;
