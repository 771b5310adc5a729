//! A desk calculator: integers, the four operations, and partial results kept by name.
//!
//! The calculator is the trivial command that interactions were measured with in 1968. It reads and computes each line, and answers
//! some with a line. The work is the same on every host, needs a few kilobytes of memory, and never allocates.

mod calculate;
mod names;

pub use calculate::{Answer, Trouble, answer};
pub use names::Names;
