//! What an end used: by its thread, by its host, and the interrupts that worked for it.

pub mod host_load;
pub mod interrupts;
pub mod row;
pub mod used;
