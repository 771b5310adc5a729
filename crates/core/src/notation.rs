//! How values stand in the files that people write: times, laws, TOML tables, and mistakes with their place.
//!
//! Scripts (`crate::script`) and machine files (the crate `loadgo-machine`) are read with it.

pub mod laws;
pub mod mistakes;
pub mod spans;
pub mod table;
