//! Counts of faults and primitives since the machine's beginning.

use crate::meters::{FaultKind, Tally};

/// Counts, by kind, by name and by command.
#[derive(Clone, Debug)]
pub struct Tallies {
    /// By `FaultKind` as index.
    pub faults: [Tally; 4],
    /// By `Primitive` as index.
    pub primitives: [Tally; 5],
    /// Major faults by command.
    pub command_faults: Vec<u64>,
}

impl Tallies {
    /// Nothing yet, of so many commands.
    pub fn new(commands: usize) -> Tallies {
        Tallies { faults: Default::default(), primitives: Default::default(), command_faults: vec![0; commands] }
    }

    /// A fault that waited for a device, in a command.
    pub(crate) fn major_fault(&mut self, command: usize, cpu_ns: u64, wait_ns: u64) {
        self.faults[FaultKind::Major as usize].add(cpu_ns, wait_ns);
        self.command_faults[command] += 1;
    }
}
