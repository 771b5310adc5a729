//! A simulated machine in motion: users' processes, processors, memory and stores, moved by one calendar of events.

use std::sync::Arc;

use super::meters::Meters;
use super::simulate::Sink;
use super::spec::Machine;
use crate::system::{Usage, UserId};

/// What a machine tells a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    /// The user has a process that waits for a command.
    Attached {
        /// Whose.
        user: UserId,
        /// When.
        at: u64,
    },
    /// The user's command has been answered.
    Ready {
        /// Whose.
        user: UserId,
        /// When.
        at: u64,
        /// How.
        answer: Answer,
    },
}

/// How a command was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it used.
    pub usage: Usage,
    /// When the first line came out.
    pub first_output: Option<u64>,
    /// Bytes of its lines.
    pub bytes_out: u64,
    /// The command's exit status; 130 when it was abandoned.
    pub exit_status: u8,
}

/// A machine in motion.
pub struct Engine;

impl Engine {
    /// The machine, with nobody on it.
    ///
    /// # Errors
    /// A configuration that cannot work, in words, with what would help.
    pub fn new(_machine: &Arc<Machine>, _seed: u64) -> Result<Engine, String> {
        unimplemented!()
    }

    /// The machine with its own load on it.
    ///
    /// # Errors
    /// As of [`Engine::new`], and when it has no load.
    pub fn with_own_load(_machine: &Arc<Machine>, _seed: u64) -> Result<Engine, String> {
        unimplemented!()
    }

    /// The present moment, in nanoseconds since the machine's beginning.
    pub fn now(&self) -> u64 {
        unimplemented!()
    }

    /// Makes a process for the user; [`Told::Attached`] follows.
    ///
    /// # Errors
    /// The system table is full, in words.
    pub fn attach(&mut self, _user: UserId) -> Result<(), String> {
        unimplemented!()
    }

    /// The user's command comes in, with the words after its name as far as they are numbers; [`Told::Ready`] follows.
    pub fn begin(&mut self, _user: UserId, _command: usize, _arguments: &[f64]) {
        unimplemented!()
    }

    /// The user gives the command up: [`Told::Ready`] with status 130 follows soon.
    pub fn abandon(&mut self, _user: UserId) {
        unimplemented!()
    }

    /// The user is gone; nothing follows.
    pub fn detach(&mut self, _user: UserId) {
        unimplemented!()
    }

    /// Moves time to the next thing told, or to `until`; `None` when `until` has come or, without it, when nothing will ever happen.
    pub fn advance(&mut self, _until: Option<u64>) -> Option<Told> {
        unimplemented!()
    }

    /// The meters at the present moment.
    pub fn meters(&self) -> Meters {
        unimplemented!()
    }

    /// Runs the machine's own load until the sink has enough.
    ///
    /// # Errors
    /// As of [`crate::machine::simulate::run`].
    pub fn run(&mut self, _sink: &mut impl Sink) -> Result<Meters, String> {
        unimplemented!()
    }
}
