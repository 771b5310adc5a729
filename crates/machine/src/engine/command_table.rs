//! The commands of a machine, prepared for the engine: costs on its processors, routes, programs and ranks.

use std::sync::Arc;

use super::costs::Costs;
use super::joint_demand::{CommandDemand, JointDemand};
use super::load_meter::demand_share;
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
    /// For each command, its processor time under a full load over that without load; empty where none depends on the load.
    when_busy: Vec<f64>,
    /// For each command, the laws that it draws together; empty where each is drawn by itself.
    joint: Vec<Option<JointDemand>>,
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
            when_busy: demands_when_busy(machine),
            joint: joint_demands(machine),
            ranks: machine.commands.iter().map(|command| (command.priority, command.nice)).collect(),
        }
    }

    /// The command as in the machine's file.
    #[inline]
    pub fn get(&self, command: u32) -> &Command {
        &self.machine.commands[command as usize]
    }

    /// The laws of the command's work.
    #[inline]
    pub fn demand(&self, command: u32) -> CommandDemand<'_> {
        CommandDemand { command: self.get(command), joint: self.joint.get(command as usize).and_then(Option::as_ref) }
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

    /// Whether the demand of a command depends on the load.
    #[inline]
    pub fn depends_on_load(&self) -> bool {
        !self.when_busy.is_empty()
    }

    /// The part of the command's demand that it has under this `load` of the processors; `None` where none depends on it.
    #[inline]
    pub fn demand_share(&self, command: u32, load: f64) -> Option<f64> {
        self.when_busy.get(command as usize).map(|when_busy| demand_share(*when_busy, load))
    }

    /// The command's priority and its nice value.
    #[inline]
    pub fn rank(&self, command: u32) -> (u32, i32) {
        self.ranks[command as usize]
    }
}

/// For each command, its processor time under a full load over that without load; empty where the file says nothing of it.
fn demands_when_busy(machine: &Machine) -> Vec<f64> {
    let of_all = machine.processors.cpu_when_busy;
    let own = |command: &Command| command.cpu_when_busy.or(of_all);
    if machine.commands.iter().all(|command| own(command).is_none()) {
        return Vec::new();
    }
    machine.commands.iter().map(|command| own(command).unwrap_or(1.0)).collect()
}

/// For each command, the laws that it draws together; empty where all are drawn by themselves.
fn joint_demands(machine: &Machine) -> Vec<Option<JointDemand>> {
    let joint: Vec<_> = machine.commands.iter().map(JointDemand::of).collect();
    if joint.iter().all(Option::is_none) { Vec::new() } else { joint }
}
