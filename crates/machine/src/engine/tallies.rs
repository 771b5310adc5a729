//! Counts of faults and primitives since the machine's beginning.

use crate::meters::{EventTally, FaultKind};

/// Counts, by kind, by name and by command.
#[derive(Clone, Debug)]
pub struct EventTallies {
    /// Faults, by `FaultKind` as index.
    pub faults: [EventTally; 4],
    /// Primitives, by `Primitive` as index.
    pub primitives: [EventTally; 5],
    /// Major faults by command.
    pub command_faults: Vec<u64>,
}

impl EventTallies {
    /// Empty counts for this number of commands.
    pub fn new(commands: usize) -> EventTallies {
        EventTallies { faults: Default::default(), primitives: Default::default(), command_faults: vec![0; commands] }
    }

    /// Counts a fault that waited for a device, in a command.
    pub(crate) fn major_fault(&mut self, command: usize, cpu_ns: u64, wait_ns: u64) {
        self.faults[FaultKind::Major as usize].add(cpu_ns, wait_ns);
        self.command_faults[command] += 1;
    }
}
