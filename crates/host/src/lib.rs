//! A live Linux host as the system under test.
//!
//! `terminals` logs users in and types; `usage` reads what each interaction used; `groups` and `limits` are the users' control
//! groups and what they may have; `leftovers` undoes what a run made; `commands` runs single programs; `doctor` answers what
//! this host can measure, and `conditions` what it is.

pub mod commands;
pub mod conditions;
pub mod doctor;
pub mod groups;
pub mod leftovers;
pub mod limits;
pub mod refusal;
pub mod scheduling;
mod small_files;
pub mod terminals;
pub mod usage;
