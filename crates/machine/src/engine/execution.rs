//! What processes do with processor time, whoever gives it: work up to the next goal, and the supervisor's steps at each goal.

use std::sync::Arc;

use super::command_table::CommandTable;
use super::errand::{Counted, Goal, MOST_STOPS, Step, Stop, number};
use super::memory::Memory;
use super::process::{NO_STAGE, ProcessState, ROUTE_START_INDEX};
use super::process_table::ProcessTable;
use super::tallies::Tallies;
use crate::disciplines::Job;
use crate::frames::Fault;
use crate::meters::{Category, Primitive};
use crate::spec::Machine;
use crate::table::Table;

/// Where a process goes when it has come to a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Departure {
    /// The process goes on where it is.
    Stays,
    /// To the ready list once more, as a process that has just become ready.
    Requeues,
    /// To a store, with a service that is drawn already, or with none: then the store draws it.
    ToStore { store: usize, service_ns: Option<u64> },
    /// To the paging device, for a missing page.
    ToPage(Fault),
    /// The interaction is over.
    Done,
}

/// What a process does next on its processor.
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
    /// The seed of what processes draw.
    pub seed: u64,
    /// The commands.
    pub commands: CommandTable,
    /// The processes.
    pub processes: ProcessTable,
    /// The memory.
    pub memory: Memory,
    /// The supervisor's table of active segments.
    pub segment_table: Option<Table>,
    /// Counts of faults and primitives.
    pub tallies: Box<Tallies>,
    /// Why the machine cannot go on, if it cannot.
    pub failure: Option<String>,
}

impl Execution {
    /// A machine without processes; `level` may be eligible at once.
    pub fn new(machine: &Arc<Machine>, level: u32, seed: u64) -> Execution {
        Execution {
            seed,
            commands: CommandTable::new(machine),
            processes: ProcessTable::new(seed),
            memory: Memory::new(machine, level, seed),
            segment_table: machine.supervisor.table.as_ref().map(Table::new),
            tallies: Box::new(Tallies::new(machine.commands.len())),
            failure: None,
        }
    }

    /// Charges `job` for this much work, which it has done until `now`.
    #[inline(always)]
    pub fn charge_work(&mut self, job: Job, span_ns: u64, now: u64) {
        let process = &mut self.processes[job];
        process.left_ns -= span_ns;
        process.cpu_user_ns += span_ns;
        if process.on_errand
            && span_ns > 0
            && let Some(paging) = &mut self.memory.paging
        {
            paging.frames.ran(job, span_ns, now);
        }
    }

    /// Handles that `job` has come to the goal of its work.
    #[inline(always)]
    pub fn on_goal_reached(&mut self, job: Job) -> Departure {
        if !self.processes[job].on_errand {
            return self.next_stage(job);
        }
        match self.processes[job].errand().goal {
            Goal::End => return Departure::Done,
            Goal::Stop => self.add_steps_of_stop(job),
            Goal::Fault => self.processes[job].errand().steps.push_back(Step::Fault),
        }
        Departure::Stays
    }

    /// Takes `job` to the first stage of its route, if that is still to be done. None if the process has no route, or is on it.
    #[inline(always)]
    pub fn begin_route(&mut self, job: Job) -> Option<Departure> {
        let process = &self.processes[job];
        if process.on_errand || process.stage != ROUTE_START_INDEX {
            return None;
        }
        let first = self.commands.first_station(process.command)?;
        Some(self.enter_stage(job, first))
    }

    /// Takes `job` to the next stage of its route, which is drawn.
    #[inline]
    pub fn next_stage(&mut self, job: Job) -> Departure {
        let process = &mut self.processes[job];
        let next = self.commands.stations[process.stage as usize].next(&mut process.stream);
        self.enter_stage(job, next)
    }

    #[inline(always)]
    fn enter_stage(&mut self, job: Job, stage: u32) -> Departure {
        if stage == NO_STAGE {
            return Departure::Done;
        }
        let process = &mut self.processes[job];
        let station = &self.commands.stations[stage as usize];
        process.stage = stage;
        if let Some(store) = station.store {
            return Departure::ToStore { store, service_ns: station.asked_ns(&mut process.stream) };
        }
        process.left_ns = station.service_ns(&mut process.stream);
        Departure::Requeues
    }

    /// The work of `job` until its next goal, in ns.
    #[inline(always)]
    pub fn work_to_goal(&mut self, job: Job) -> u64 {
        let process = &self.processes[job];
        if process.on_errand { self.plan_next_goal(job) } else { process.left_ns }
    }

    /// Finds the nearest goal and notes it; the work until then.
    #[inline]
    fn plan_next_goal(&mut self, job: Job) -> u64 {
        let process = &mut self.processes[job];
        let left_ns = process.left_ns;
        let errand = process.errand();
        let (mut planned_ns, mut goal) = errand.work_to_stop(left_ns).map_or((left_ns, Goal::End), |ns| (ns, Goal::Stop));
        let to_fault = self.memory.paging.as_mut().filter(|_| left_ns > 0);
        let to_fault = to_fault.and_then(|paging| paging.frames.work_to_fault(job, &mut errand.misses));
        if let Some(ns) = to_fault.filter(|ns| *ns < planned_ns) {
            (planned_ns, goal) = (ns, Goal::Fault);
        }
        errand.goal = goal;
        planned_ns.min(left_ns)
    }

    /// Queues the steps that the stop takes to which `job` has come.
    #[inline]
    fn add_steps_of_stop(&mut self, job: Job) {
        let process = &mut self.processes[job];
        let (command, costs) = (self.commands.get(process.command), &self.commands.costs);
        let errand = process.errand();
        match errand.take_stop() {
            Stop::Segment => errand.steps.push_back(costs.segment_fault()),
            Stop::Bound => errand.steps.push_back(costs.bound_fault()),
            Stop::Wall => errand.steps.push_back(costs.wall_crossing()),
            Stop::Process => errand.steps.push_back(costs.process_creation()),
            Stop::Request(store) => errand.steps.push_back(Step::Request(store)),
            Stop::Message => {
                let bytes = errand.message_bytes.min(errand.network_bytes);
                errand.network_bytes -= bytes;
                let own_ns = command.network_byte_cpu.draw(&mut errand.stream) * bytes;
                errand.steps.extend([costs.message(bytes), costs.own_work(own_ns)]);
            }
            Stop::Line => {
                let own_ns = command.line_cpu.draw(&mut errand.stream);
                let faults = number(&command.line_faults, &mut errand.stream);
                let faults = errand.bounded(faults, "page faults of a line");
                let walls = number(&command.line_walls, &mut errand.stream);
                let walls = errand.bounded(walls, "wall crossings of a line");
                let bytes = number(&command.line_bytes, &mut errand.stream);
                errand.steps.push_back(costs.own_work(own_ns));
                errand.steps.extend((0..walls).map(|_| costs.wall_crossing()));
                errand.steps.extend((0..faults).map(|_| Step::Fault));
                errand.steps.extend([costs.line_out(), Step::Line { bytes }]);
                if let Some(what) = errand.too_many {
                    self.failure.get_or_insert_with(|| too_many(&command.name, what));
                }
            }
        }
    }

    /// What `job` does next; steps that take no time are done.
    #[inline(always)]
    pub fn next_step(&mut self, job: Job, now: u64) -> NextStep {
        if self.processes[job].on_errand { self.next_errand_step(job, now) } else { NextStep::Works }
    }

    #[inline]
    fn next_errand_step(&mut self, job: Job, now: u64) -> NextStep {
        loop {
            let errand = self.processes[job].errand();
            let Some(step) = errand.steps.front().copied() else { return NextStep::Works };
            if let Step::Spend { category, ns, .. } = step
                && ns > 0
            {
                return NextStep::Spend(category, ns);
            }
            if let Step::Spend { .. } = step {
                self.on_step_done(job, 0);
                continue;
            }
            errand.steps.pop_front();
            match step {
                Step::Line { bytes } => self.on_line_out(job, bytes, now),
                Step::Request(store) => return NextStep::Leaves(Departure::ToStore { store, service_ns: None }),
                Step::Fault if self.memory.paging.is_some() => self.begin_fault(job),
                Step::TakeFrame => {
                    let paging = self.memory.paging.as_mut().expect("page faults are of machines with demand paging");
                    return NextStep::Leaves(Departure::ToPage(paging.take_frame(job, now)));
                }
                Step::Fault | Step::Spend { .. } => {}
            }
        }
    }

    /// Ends the step in hand, which took `span_ns`.
    #[inline]
    pub fn on_step_done(&mut self, job: Job, span_ns: u64) {
        let process = &mut self.processes[job];
        let errand = process.errand.as_mut().expect("a process on an errand has one");
        let Some(Step::Spend { category, counted, .. }) = errand.steps.pop_front() else {
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
            Counted::Nothing => {}
            Counted::Fault(kind) => self.tallies.faults[kind as usize].add(span_ns, 0),
            Counted::Primitive(primitive) => self.tallies.primitives[primitive as usize].add(span_ns, 0),
        }
    }

    /// Charges `job` for processor time of the supervisor that is no step of its own.
    #[inline]
    pub fn charge_system(&mut self, job: Job, ns: u64) {
        let process = &mut self.processes[job];
        if process.on_errand {
            process.errand().cpu_system_ns += ns;
        }
    }

    #[inline]
    fn begin_fault(&mut self, job: Job) {
        let ns = self.commands.costs.page_fault_ns;
        let errand = self.processes[job].errand();
        errand.fault_cpu_ns = 0;
        errand.steps.push_front(Step::TakeFrame);
        errand.steps.push_front(Step::Spend { category: Category::PageFault, ns, counted: Counted::Nothing });
    }

    #[inline]
    fn on_line_out(&mut self, job: Job, bytes: u64, now: u64) {
        let errand = self.processes[job].errand();
        errand.first_output.get_or_insert(now);
        errand.bytes_out = errand.bytes_out.saturating_add(bytes);
        debug_assert!(self.tallies.primitives[Primitive::LineOut as usize].count > 0, "a line that is out has been counted");
    }

    /// Ends the wait of `job`, which has been given what it waited for.
    #[inline(always)]
    pub fn end_wait(&mut self, job: Job, now: u64) {
        let waited_ns = now - self.processes[job].since;
        match self.processes[job].state {
            ProcessState::PageWait => {
                self.processes.page_waiting -= 1;
                self.on_page_loaded(job, waited_ns);
            }
            ProcessState::DiskWait => {
                self.processes.disk_waiting -= 1;
                self.processes[job].io_wait_ns += waited_ns;
            }
            _ => unreachable!("a process that is given something waits for it"),
        }
    }

    /// Counts a page, or a program, that `job` has waited for.
    #[inline]
    pub fn on_page_loaded(&mut self, job: Job, waited_ns: u64) {
        let process = &mut self.processes[job];
        let command = process.command as usize;
        let Some(errand) = process.errand.as_mut().filter(|_| process.on_errand) else { return };
        errand.faults_major += 1;
        errand.paging_wait_ns += waited_ns;
        self.tallies.major_fault(command, std::mem::take(&mut errand.fault_cpu_ns), waited_ns);
    }

    /// Frees the memory of `job`, whose process is no more: the next process with its number finds nothing of it there.
    #[inline]
    pub fn release_memory(&mut self, job: Job) {
        self.memory.release(job);
        if let Some(errand) = &mut self.processes[job].errand {
            errand.previous = None;
        }
    }
}

/// The message for a command that asks for more of something than a run can carry out.
pub(super) fn too_many(command: &str, what: &str) -> String {
    format!(
        "command {command:?} asks for more than {MOST_STOPS} {what} at once, the most that a command may have: lower their number, or \
         give their law an upper bound"
    )
}
