//! A live Linux host as the system under test.
//!
//! `terminals` logs users in and types, and `usage` reads the resources that each interaction used. `groups` and `limits` hold
//! the users' control groups and their limits. `leftovers` undoes changes that a run made, and `commands` runs single programs.
//! `followed` measures sessions whose driver is on another host. `own_names` names what a run makes. `doctor` answers which measurements this host permits, and `conditions` describes the host.

mod beginning;
pub mod commands;
pub mod conditions;
pub mod doctor;
pub mod followed;
pub mod groups;
pub mod leftovers;
pub mod limits;
pub mod own_names;
pub mod refusal;
pub mod scheduling;
mod small_files;
pub mod terminals;
pub mod usage;
