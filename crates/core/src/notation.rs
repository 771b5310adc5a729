//! The notation of files that people write: times, laws, TOML tables, and mistakes with line and column.
//!
//! Scripts (`crate::script`) and machine files (the crate `loadgo-machine`) share it.

pub mod laws;
pub mod mistakes;
pub mod spans;
pub mod table;
