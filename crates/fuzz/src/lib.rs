//! Fuzz targets: each feeds any bytes to a reader of loadgo, and panics where the reader breaks a law.
//!
//! `tests/replay.rs` feeds the corpora, and changed inputs of them, in each `cargo test`. `scripts/fuzz` looks for new inputs
//! for hours, led by the code that an input reaches (libFuzzer).

mod mutation;
mod seeds;
mod targets;

pub use mutation::Mutator;
pub use seeds::seeds;
pub use targets::{ALL_TARGETS, Target};
