//! Measures an end: its thread's resources, its host's load, and the interrupts for its socket.

pub mod host_load;
pub mod interrupts;
pub mod row;
pub(crate) mod used;
