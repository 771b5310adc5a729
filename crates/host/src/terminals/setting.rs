//! The settings of a run's terminals.

use crate::terminals::destinations::Destinations;
use crate::terminals::orders::{ControllerTerms, DriverOrders};
use loadgo_core::script::Script;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Settings from which a host system is made.
#[derive(Debug)]
pub struct Setting {
    /// The script, for its log-in, files and patterns.
    pub script: Arc<Script>,
    /// Where the users log in.
    pub destinations: Destinations,
    /// Orders while the run goes on.
    pub orders: DriverOrders,
    /// The terms of the controller whose orders open the barriers; `None`: all barriers are open.
    pub controller: Option<ControllerTerms>,
    /// The directories that programs are looked up in.
    pub search_path: String,
    /// The run's id; each session's environment carries it.
    pub run_id: String,
    /// The directory under which each user gets a home.
    pub homes: PathBuf,
    /// When the run began, on the monotonic clock.
    pub origin_ns: u64,
    /// Counts the sessions that were begun with `ssh` and the like.
    pub by_place: Arc<SessionsByPlace>,
    /// Whether each session elsewhere works in a directory of its own, also without files: else those of one account share its home.
    pub own_directories: bool,
    /// Whether the log-in command has the home of this account, its agents of keys and its tickets: it logs in by them.
    pub of_account: bool,
}

/// Number of sessions that were begun with `ssh` and the like, by the place of their programs.
#[derive(Debug, Default)]
pub struct SessionsByPlace {
    /// On this host: these are metered.
    pub here: AtomicU32,
    /// On other hosts.
    pub elsewhere: AtomicU32,
}
