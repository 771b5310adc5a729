//! A live Linux host as the system under test.

pub mod commands;
pub mod conditions;
pub mod doctor;
pub mod groups;
pub mod leftovers;
pub mod limits;
pub mod scheduling;
mod small_files;
pub mod terminals;
pub mod usage;
