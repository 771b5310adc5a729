//! The notation of files that people write: times, laws, TOML tables with their shapes, and mistakes with line and column.
//!
//! Scripts (`crate::script`) and machine files (the crate `loadgo-machine`) share it.

pub mod json_schema;
pub mod laws;
pub mod mistakes;
pub mod rates;
pub mod shape;
pub mod spans;
pub mod table;
