//! Execution of processes under any discipline: work up to the next goal, and the supervisor's steps at each goal.

use std::sync::Arc;

use super::command_table::CommandTable;
use super::errand::{MOST_STOPS, StepCount, SupervisorStep, WorkGoal, WorkStop, number};
use super::error::EngineError;
use super::memory::MachineMemory;
use super::process::{NO_STAGE, ProcessState, ROUTE_START_INDEX};
use super::process_table::ProcessTable;
use super::processor::NO_PROCESS;
use super::tallies::EventTallies;
use crate::disciplines::ProcessId;
use crate::frames::Fault;
use crate::meters::{Category, FaultKind, Primitive};
use crate::spec::{GetworkCharge, InterruptCharge, Machine};
use crate::table::EntryTable;

/// Where a process goes after it has reached a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Departure {
    /// The process goes on where it is.
    Stays,
    /// To the ready list once more, as a process that has just become ready.
    Requeues,
    /// To a store. Without `service_ns`, the store draws the service time.
    ToStore { store: usize, service_ns: Option<u64> },
    /// To the paging device, for a missing page.
    ToPage(Fault),
    /// The interaction is over.
    Done,
}

/// The next action of a process on its processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NextStep {
    /// A step of this category, for this many ns.
    Spend(Category, u64),
    /// The process leaves the processor.
    Leaves(Departure),
    /// The process works.
    Works,
}

/// All processes with their commands and their memory.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    /// The seed of the processes' random numbers.
    pub seed: u64,
    /// The commands.
    pub commands: CommandTable,
    /// The processes.
    pub processes: ProcessTable,
    /// The memory.
    pub memory: MachineMemory,
    /// The supervisor's table of active segments.
    pub segment_table: Option<EntryTable>,
    /// Counts of faults and primitives.
    pub tallies: Box<EventTallies>,
    /// The recent load of the processors, 0 to 1; 0 where no demand depends on it.
    pub load: f64,
    /// The reason why the machine cannot go on, if it cannot.
    pub failure: Option<EngineError>,
}

impl Execution {
    /// A machine without processes, of which at most `level` may be eligible at once.
    pub fn new(machine: &Arc<Machine>, level: u32, seed: u64) -> Execution {
        Execution {
            seed,
            commands: CommandTable::new(machine),
            processes: ProcessTable::new(seed),
            memory: MachineMemory::new(machine, level, seed),
            segment_table: machine.supervisor.table.as_ref().map(EntryTable::new),
            tallies: Box::new(EventTallies::new(machine.commands.len())),
            load: 0.0,
            failure: None,
        }
    }

    /// Charges `pid` for `span_ns` of work, which ended at `now`.
    #[inline(always)]
    pub fn charge_work(&mut self, pid: ProcessId, span_ns: u64, now: u64) {
        let process = &mut self.processes[pid];
        process.left_ns -= span_ns;
        process.cpu_user_ns += span_ns;
        if process.on_errand
            && span_ns > 0
            && let Some(paging) = &mut self.memory.paging
        {
            paging.frames.ran(pid, span_ns, now);
        }
    }

    /// Handles that `pid` has come to the goal of its work.
    #[inline(always)]
    pub fn on_goal_reached(&mut self, pid: ProcessId) -> Departure {
        if !self.processes[pid].on_errand {
            return self.next_stage(pid);
        }
        match self.processes[pid].errand().goal {
            WorkGoal::End => return Departure::Done,
            WorkGoal::Stop => self.add_steps_of_stop(pid),
            WorkGoal::Fault => self.processes[pid].errand().steps.push_back(SupervisorStep::Fault),
        }
        Departure::Stays
    }

    /// Moves `pid` to the first stage of its route. None if the process has no route, or is on it already.
    #[inline(always)]
    pub fn begin_route(&mut self, pid: ProcessId) -> Option<Departure> {
        let process = &self.processes[pid];
        if process.on_errand || process.stage != ROUTE_START_INDEX {
            return None;
        }
        let first = self.commands.first_station(process.command)?;
        Some(self.enter_stage(pid, first))
    }

    /// Takes `pid` to the next stage of its route, which is drawn.
    #[inline]
    pub fn next_stage(&mut self, pid: ProcessId) -> Departure {
        let process = &mut self.processes[pid];
        let next = self.commands.stations[process.stage as usize].next(&mut process.stream);
        self.enter_stage(pid, next)
    }

    #[inline(always)]
    fn enter_stage(&mut self, pid: ProcessId, stage: u32) -> Departure {
        if stage == NO_STAGE {
            return Departure::Done;
        }
        let process = &mut self.processes[pid];
        let station = &self.commands.stations[stage as usize];
        process.stage = stage;
        if let Some(store) = station.store {
            return Departure::ToStore { store, service_ns: station.asked_ns(&mut process.stream) };
        }
        process.left_ns = station.service_ns(&mut process.stream);
        Departure::Requeues
    }

    /// The work of `pid` until its next goal, in ns.
    #[inline(always)]
    pub fn work_to_goal(&mut self, pid: ProcessId) -> u64 {
        let process = &self.processes[pid];
        if process.on_errand { self.plan_next_goal(pid) } else { process.left_ns }
    }

    /// Sets the nearest goal, and returns the work until then.
    #[inline]
    fn plan_next_goal(&mut self, pid: ProcessId) -> u64 {
        let process = &mut self.processes[pid];
        let left_ns = process.left_ns;
        let errand = process.errand();
        let (mut planned_ns, mut goal) = errand.work_to_stop(left_ns).map_or((left_ns, WorkGoal::End), |ns| (ns, WorkGoal::Stop));
        let to_fault = self.memory.paging.as_mut().filter(|_| left_ns > 0);
        let to_fault = to_fault.and_then(|paging| paging.frames.work_to_fault(pid, &mut errand.misses));
        if let Some(ns) = to_fault.filter(|ns| *ns < planned_ns) {
            (planned_ns, goal) = (ns, WorkGoal::Fault);
        }
        errand.goal = goal;
        planned_ns.min(left_ns)
    }

    /// Queues the supervisor's steps for the stop that `pid` has reached.
    #[inline]
    fn add_steps_of_stop(&mut self, pid: ProcessId) {
        let process = &mut self.processes[pid];
        let (command, costs) = (self.commands.get(process.command), &self.commands.costs);
        let errand = process.errand();
        match errand.take_stop() {
            WorkStop::Segment => errand.steps.push_back(costs.segment_fault()),
            WorkStop::Bound => errand.steps.push_back(costs.bound_fault()),
            WorkStop::Wall => errand.steps.push_back(costs.wall_crossing()),
            WorkStop::Process => errand.steps.push_back(costs.process_creation()),
            WorkStop::Request(store) => errand.steps.push_back(SupervisorStep::Request(store)),
            WorkStop::Message => {
                let bytes = errand.take_message();
                let own_ns = command.network_byte_cpu.draw(&mut errand.stream) * bytes;
                errand.steps.extend([costs.message(bytes), costs.own_work(own_ns)]);
            }
            WorkStop::Line => {
                let own_ns = command.line_cpu.draw(&mut errand.stream);
                let faults = number(&command.line_faults, &mut errand.stream);
                let faults = errand.bounded(faults, "page faults of a line");
                let walls = number(&command.line_walls, &mut errand.stream);
                let walls = errand.bounded(walls, "wall crossings of a line");
                let bytes = number(&command.line_bytes, &mut errand.stream);
                errand.steps.push_back(costs.own_work(own_ns));
                errand.steps.extend((0..walls).map(|_| costs.wall_crossing()));
                errand.steps.extend((0..faults).map(|_| SupervisorStep::Fault));
                errand.steps.extend([costs.line_out(), SupervisorStep::Line { bytes }]);
                if let Some(what) = errand.too_many {
                    self.failure.get_or_insert_with(|| too_many(&command.name, what));
                }
            }
        }
    }

    /// The next action of `pid`, after steps that take no time are done.
    #[inline(always)]
    pub fn next_step(&mut self, pid: ProcessId, now: u64) -> NextStep {
        if self.processes[pid].on_errand { self.next_errand_step(pid, now) } else { NextStep::Works }
    }

    #[inline]
    fn next_errand_step(&mut self, pid: ProcessId, now: u64) -> NextStep {
        loop {
            let errand = self.processes[pid].errand();
            let Some(step) = errand.steps.front().copied() else { return NextStep::Works };
            if let SupervisorStep::Spend { category, ns, .. } = step
                && ns > 0
            {
                return NextStep::Spend(category, ns);
            }
            if let SupervisorStep::Spend { .. } = step {
                self.on_step_done(pid, 0);
                continue;
            }
            errand.steps.pop_front();
            match step {
                SupervisorStep::Line { bytes } => self.on_line_out(pid, bytes, now),
                SupervisorStep::Request(store) => return NextStep::Leaves(Departure::ToStore { store, service_ns: None }),
                SupervisorStep::Wait { store, ns } => {
                    return NextStep::Leaves(Departure::ToStore { store, service_ns: Some(ns) });
                }
                SupervisorStep::Fault if self.memory.paging.is_some() => self.begin_fault(pid),
                SupervisorStep::TakeFrame => {
                    let paging = self.memory.paging.as_mut().expect("page faults are of machines with demand paging");
                    return NextStep::Leaves(Departure::ToPage(paging.take_frame(pid, now)));
                }
                SupervisorStep::Fault | SupervisorStep::Spend { .. } => {}
            }
        }
    }

    /// Ends the current step, which took `span_ns`.
    #[inline]
    pub fn on_step_done(&mut self, pid: ProcessId, span_ns: u64) {
        let process = &mut self.processes[pid];
        let errand = process.errand.as_mut().expect("a process on an errand has one");
        let Some(SupervisorStep::Spend { category, counted, .. }) = errand.steps.pop_front() else {
            unreachable!("a step that is over has been begun");
        };
        if category == Category::User {
            process.cpu_user_ns += span_ns;
        } else {
            errand.cpu_system_ns += span_ns;
        }
        if category == Category::PageFault {
            errand.fault_cpu_ns = span_ns;
        }
        match counted {
            StepCount::Nothing => {}
            StepCount::Fault(kind) => self.tallies.faults[kind as usize].add(span_ns, 0),
            StepCount::Primitive(primitive) => self.tallies.primitives[primitive as usize].add(span_ns, 0),
        }
    }

    /// Charges for a dispatch of `pid`, as the machine charges for it.
    #[inline]
    pub fn charge_getwork(&mut self, pid: ProcessId, ns: u64) {
        if self.commands.costs.getwork_charge == GetworkCharge::Next {
            self.charge_system(pid, ns);
        }
    }

    /// Ends a device's interrupt, which came while `interrupted` had the processor, and charges for it.
    ///
    /// The interrupt is handled after the segment in which it came. A process whose interaction ended with that segment
    /// is not charged: its answer has been given.
    #[inline]
    pub fn end_interrupt(&mut self, interrupted: ProcessId, ns: u64) {
        self.tallies.faults[FaultKind::Interrupt as usize].add(ns, 0);
        self.charge_interrupt(interrupted, ns);
    }

    /// Charges for processor time of an interrupt that came while `interrupted` had the processor.
    #[inline]
    pub fn charge_interrupt(&mut self, interrupted: ProcessId, ns: u64) {
        if self.commands.costs.interrupt_charge == InterruptCharge::Interrupted
            && interrupted != NO_PROCESS
            && !matches!(self.processes[interrupted].state, ProcessState::Absent | ProcessState::Thinking)
        {
            self.charge_system(interrupted, ns);
        }
    }

    /// Charges `pid` for processor time of the supervisor that is no step of the process.
    #[inline]
    pub fn charge_system(&mut self, pid: ProcessId, ns: u64) {
        let process = &mut self.processes[pid];
        if process.on_errand {
            process.errand().cpu_system_ns += ns;
        }
    }

    #[inline]
    fn begin_fault(&mut self, pid: ProcessId) {
        let ns = self.commands.costs.page_fault_ns;
        let errand = self.processes[pid].errand();
        errand.fault_cpu_ns = 0;
        errand.steps.push_front(SupervisorStep::TakeFrame);
        errand.steps.push_front(SupervisorStep::Spend { category: Category::PageFault, ns, counted: StepCount::Nothing });
    }

    #[inline]
    fn on_line_out(&mut self, pid: ProcessId, bytes: u64, now: u64) {
        let errand = self.processes[pid].errand();
        errand.first_output.get_or_insert(now);
        errand.bytes_out = errand.bytes_out.saturating_add(bytes);
        debug_assert!(self.tallies.primitives[Primitive::LineOut as usize].count > 0, "a line that is out has been counted");
    }

    /// Ends the wait of `pid`, whose request has been served.
    #[inline(always)]
    pub fn end_wait(&mut self, pid: ProcessId, now: u64) {
        let waited_ns = now - self.processes[pid].since;
        match self.processes[pid].state {
            ProcessState::PageWait => {
                self.processes.page_waiting -= 1;
                self.on_page_loaded(pid, waited_ns);
            }
            ProcessState::DiskWait => {
                self.processes.disk_waiting -= 1;
                self.processes[pid].io_wait_ns += waited_ns;
            }
            _ => unreachable!("a process that is given something waits for it"),
        }
    }

    /// Counts a page, or a program, that `pid` has waited for.
    #[inline]
    pub fn on_page_loaded(&mut self, pid: ProcessId, waited_ns: u64) {
        let process = &mut self.processes[pid];
        let command = process.command as usize;
        let Some(errand) = process.errand.as_mut().filter(|_| process.on_errand) else { return };
        errand.faults_major += 1;
        errand.paging_wait_ns += waited_ns;
        self.tallies.major_fault(command, std::mem::take(&mut errand.fault_cpu_ns), waited_ns);
    }

    /// Frees the memory of `pid`, whose process has ended, so that the next process with its number starts without pages.
    #[inline]
    pub fn release_memory(&mut self, pid: ProcessId) {
        self.memory.release(pid);
        if let Some(errand) = &mut self.processes[pid].errand {
            errand.previous = None;
        }
    }
}

/// The error of a command that asks for more of something than a run can carry out.
pub(super) fn too_many(command: &str, what: &'static str) -> EngineError {
    EngineError::TooMany { command: command.into(), what, most: MOST_STOPS }
}
