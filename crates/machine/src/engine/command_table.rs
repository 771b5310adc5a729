//! The commands of a machine, prepared for the engine: costs on its processors, routes, programs and ranks.

use std::sync::Arc;

use super::costs::Costs;
use super::process::NO_STAGE;
use super::route::{RouteVisit, stations};
use crate::spec::{Command, Machine};

/// The parts of a machine that never change while it runs.
#[derive(Clone, Debug)]
pub(super) struct CommandTable {
    /// The machine's file.
    pub machine: Arc<Machine>,
    /// Processor time of the supervisor's steps.
    pub costs: Costs,
    /// The stations of all routes.
    pub stations: Vec<RouteVisit>,
    /// For each command, its first station.
    first_stations: Vec<u32>,
    /// For each command, its program: the first command that is the same one.
    programs: Vec<u32>,
    /// For each command, its priority and its nice value.
    ranks: Vec<(u32, i32)>,
}

impl CommandTable {
    /// The commands of `machine`.
    pub fn new(machine: &Arc<Machine>) -> CommandTable {
        let (stations, first_stations) = stations(machine);
        CommandTable {
            machine: machine.clone(),
            costs: Costs::of(machine),
            stations,
            first_stations,
            programs: machine.programs(),
            ranks: machine.commands.iter().map(|command| (command.priority, command.nice)).collect(),
        }
    }

    /// The command as in the machine's file.
    #[inline]
    pub fn get(&self, command: u32) -> &Command {
        &self.machine.commands[command as usize]
    }

    /// The first station of the command's route. None if it has no route.
    #[inline]
    pub fn first_station(&self, command: u32) -> Option<u32> {
        Some(self.first_stations[command as usize]).filter(|station| *station != NO_STAGE)
    }

    /// The command's program: the number of the first command that is the same one.
    #[inline]
    pub fn program(&self, command: u32) -> u32 {
        self.programs[command as usize]
    }

    /// The command's priority and its nice value.
    #[inline]
    pub fn rank(&self, command: u32) -> (u32, i32) {
        self.ranks[command as usize]
    }
}
