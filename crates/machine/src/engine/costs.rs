//! What the supervisor's work takes on this machine: the file's spans at speed 1, divided by the processors' speed.

use crate::meters::{Category, FaultKind, Primitive};
use crate::spec::{Discipline, Machine};

use super::errand::{Counted, Step};

/// Processor time in ns of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// Relative speed.
    pub speed: f64,
    /// A page fault, all its steps.
    pub page_fault_ns: u64,
    /// A device's interrupt.
    pub interrupt_ns: u64,
    /// A dispatch of another process than the last.
    pub getwork_ns: u64,
    segment_fault_ns: u64,
    bound_fault_ns: u64,
    wall_crossing_ns: u64,
    line_in_ns: u64,
    line_out_ns: u64,
    process_creation_ns: u64,
    network_byte_ns: f64,
    network_message_ns: f64,
    /// Bytes a message; 0: all in one.
    pub message_bytes: u32,
}

impl Costs {
    /// Those of `machine`.
    pub fn of(machine: &Machine) -> Costs {
        let (supervisor, speed) = (&machine.supervisor, machine.processors.speed);
        let here = |ns: u64| super::errand::whole(ns as f64 / speed);
        let switch_ns = match machine.processors.discipline {
            Discipline::RoundRobin { switch_ns, .. } | Discipline::Linux { switch_ns, .. } => switch_ns,
            _ => 0,
        };
        Costs {
            speed,
            page_fault_ns: here(supervisor.page_fault.iter().map(|(_, ns)| ns).sum()),
            interrupt_ns: here(supervisor.device_interrupt_ns),
            getwork_ns: here(supervisor.getwork_ns + switch_ns),
            segment_fault_ns: here(supervisor.segment_fault_ns),
            bound_fault_ns: here(supervisor.bound_fault_ns),
            wall_crossing_ns: here(supervisor.wall_crossing_ns),
            line_in_ns: here(supervisor.line_in_ns),
            line_out_ns: here(supervisor.line_out_ns),
            process_creation_ns: here(supervisor.process_creation_ns),
            network_byte_ns: supervisor.network_byte_ns as f64 / speed,
            network_message_ns: supervisor.network_message_ns as f64 / speed,
            message_bytes: supervisor.message_bytes,
        }
    }

    /// A segment fault.
    pub fn segment_fault(&self) -> Step {
        spend(Category::SegmentFault, self.segment_fault_ns, Counted::Fault(FaultKind::Segment))
    }

    /// A bound fault.
    pub fn bound_fault(&self) -> Step {
        spend(Category::BoundFault, self.bound_fault_ns, Counted::Fault(FaultKind::Bound))
    }

    /// A wall crossing.
    pub fn wall_crossing(&self) -> Step {
        spend(Category::WallCrossing, self.wall_crossing_ns, Counted::Primitive(Primitive::WallCrossing))
    }

    /// A line from a terminal.
    pub fn line_in(&self) -> Step {
        spend(Category::Terminal, self.line_in_ns, Counted::Primitive(Primitive::LineIn))
    }

    /// A line to a terminal.
    pub fn line_out(&self) -> Step {
        spend(Category::Terminal, self.line_out_ns, Counted::Primitive(Primitive::LineOut))
    }

    /// Making a process.
    pub fn process_creation(&self) -> Step {
        spend(Category::ProcessCreation, self.process_creation_ns, Counted::Primitive(Primitive::ProcessCreation))
    }

    /// A network message of so many bytes.
    pub fn message(&self, bytes: f64) -> Step {
        let ns = super::errand::whole(self.network_message_ns + self.network_byte_ns * bytes);
        spend(Category::Network, ns, Counted::Primitive(Primitive::NetworkMessage))
    }

    /// So much (at speed 1) of the users' own work.
    pub(crate) fn own_work(&self, ns: f64) -> Step {
        spend(Category::User, super::errand::whole(ns / self.speed), Counted::Nothing)
    }
}

fn spend(category: Category, ns: u64, counted: Counted) -> Step {
    Step::Spend { category, ns, counted }
}
