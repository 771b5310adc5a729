//! A desk calculator: integers, the four operations, and partial results kept by name.
//!
//! The calculator is the trivial command of 1968, the yardstick of an interaction. For each line it reads, scans and
//! computes, and at times it writes a line in reply. The work is the same on every host, takes a few kilobytes, and
//! never allocates.

mod calculate;
mod names;

pub use calculate::{Answer, Trouble, answer};
pub use names::Names;
