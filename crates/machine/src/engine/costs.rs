//! Processor times of the supervisor's steps on this machine: the file's spans at speed 1, divided by the processors' speed.

use crate::meters::{Category, FaultKind, Primitive};
use crate::spec::{Discipline, GetworkCharge, InterruptCharge, Machine};

use super::errand::{StepCount, SupervisorStep};

/// Processor times in ns of this machine.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// Relative speed.
    pub speed: f64,
    /// A page fault, with all its steps.
    pub page_fault_ns: u64,
    /// A device's interrupt.
    pub interrupt_ns: u64,
    /// A dispatch of the process that had the processor last.
    pub dispatch_ns: u64,
    /// A dispatch of another process.
    pub getwork_ns: u64,
    segment_fault_ns: u64,
    bound_fault_ns: u64,
    wall_crossing_ns: u64,
    line_in_ns: u64,
    line_out_ns: u64,
    process_creation_ns: u64,
    network_byte_ns: f64,
    network_message_ns: f64,
    /// Bytes of a message; 0: one message holds all bytes.
    pub message_bytes: u32,
    /// The payer of a device's interrupt.
    pub interrupt_charge: InterruptCharge,
    /// The payer of a dispatch of another process.
    pub getwork_charge: GetworkCharge,
}

impl Costs {
    /// The costs of `machine`.
    pub fn of(machine: &Machine) -> Costs {
        let (supervisor, speed) = (&machine.supervisor, machine.processors.speed);
        let here = |ns: u64| super::errand::whole(ns as f64 / speed);
        let (dispatch_ns, switch_ns) = match machine.processors.discipline {
            Discipline::RoundRobin { dispatch_ns, switch_ns, .. } => (dispatch_ns, switch_ns),
            Discipline::Linux { switch_ns, .. } => (0, switch_ns),
            _ => (0, 0),
        };
        Costs {
            speed,
            page_fault_ns: here(supervisor.page_fault.iter().map(|(_, ns)| ns).sum()),
            interrupt_ns: here(supervisor.device_interrupt_ns),
            dispatch_ns: here(dispatch_ns),
            getwork_ns: here(supervisor.getwork_ns + switch_ns + dispatch_ns),
            segment_fault_ns: here(supervisor.segment_fault_ns),
            bound_fault_ns: here(supervisor.bound_fault_ns),
            wall_crossing_ns: here(supervisor.wall_crossing_ns),
            line_in_ns: here(supervisor.line_in_ns),
            line_out_ns: here(supervisor.line_out_ns),
            process_creation_ns: here(supervisor.process_creation_ns),
            network_byte_ns: supervisor.network_byte_ns as f64 / speed,
            network_message_ns: supervisor.network_message_ns as f64 / speed,
            message_bytes: supervisor.message_bytes,
            interrupt_charge: supervisor.interrupt_charge,
            getwork_charge: supervisor.getwork_charge,
        }
    }

    /// A segment fault.
    pub fn segment_fault(&self) -> SupervisorStep {
        spend(Category::SegmentFault, self.segment_fault_ns, StepCount::Fault(FaultKind::Segment))
    }

    /// A bound fault.
    pub fn bound_fault(&self) -> SupervisorStep {
        spend(Category::BoundFault, self.bound_fault_ns, StepCount::Fault(FaultKind::Bound))
    }

    /// A wall crossing.
    pub fn wall_crossing(&self) -> SupervisorStep {
        spend(Category::WallCrossing, self.wall_crossing_ns, StepCount::Primitive(Primitive::WallCrossing))
    }

    /// A line from a terminal.
    pub fn line_in(&self) -> SupervisorStep {
        spend(Category::Terminal, self.line_in_ns, StepCount::Primitive(Primitive::LineIn))
    }

    /// A line to a terminal.
    pub fn line_out(&self) -> SupervisorStep {
        spend(Category::Terminal, self.line_out_ns, StepCount::Primitive(Primitive::LineOut))
    }

    /// The creation of a process.
    pub fn process_creation(&self) -> SupervisorStep {
        spend(Category::ProcessCreation, self.process_creation_ns, StepCount::Primitive(Primitive::ProcessCreation))
    }

    /// A network message of this number of bytes.
    pub fn message(&self, bytes: f64) -> SupervisorStep {
        let ns = super::errand::whole(self.network_message_ns + self.network_byte_ns * bytes);
        spend(Category::Network, ns, StepCount::Primitive(Primitive::NetworkMessage))
    }

    /// Work of the user's program, given in ns at speed 1.
    pub(crate) fn own_work(&self, ns: f64) -> SupervisorStep {
        spend(Category::User, super::errand::whole(ns / self.speed), StepCount::Nothing)
    }
}

fn spend(category: Category, ns: u64, counted: StepCount) -> SupervisorStep {
    SupervisorStep::Spend { category, ns, counted }
}
