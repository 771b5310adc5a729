//! A live Linux host as the system under test.
pub mod account;
pub mod cgroup;
pub mod exits;
pub mod hierarchy;
pub mod leftovers;
pub mod netlink;
pub mod proc;
pub mod sources;
pub mod split;
pub mod taskstats;
pub mod undo;
pub mod usage;
pub mod why;
