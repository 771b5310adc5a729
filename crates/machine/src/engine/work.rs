//! What a process does with processor time, whoever gives it: its work up to the next goal, and the supervisor's steps at each goal.

use super::clockwork::Clockwork;
use super::errand::{Counted, Goal, Step, Stop, number};
use super::process::{NO_STAGE, State};
use super::users::too_many;
use crate::disciplines::{Job, ReadyList};
use crate::frames::Fault;
use crate::meters::{Category, Primitive};

/// Where a process goes when it has come to a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// On.
    Goes,
    /// To the processors once more, as one that has just come.
    Requeues,
    /// To a store, with a service that is drawn already or the store's own affair.
    ToStore { store: usize, service_ns: Option<u64> },
    /// It waits for a page.
    Faults(Fault),
    /// Its interaction is over.
    Done,
}

/// What a process on an errand does next on its processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// A step of this category and so many ns.
    Spend(Category, u64),
    /// It leaves.
    Leaves(Fate),
    /// Its work.
    Works,
}

impl<L: ReadyList> Clockwork<L> {
    /// `job` has worked for so long.
    #[inline]
    pub(super) fn worked(&mut self, job: Job, span_ns: u64) {
        let process = &mut self.processes[job as usize];
        process.left_ns -= span_ns;
        process.cpu_user_ns += span_ns;
        if process.on_errand
            && span_ns > 0
            && let Some(paged) = &mut self.paged
        {
            paged.frames.ran(job, span_ns, self.now);
        }
    }

    /// `job` has come to the goal of its work.
    #[inline]
    pub(super) fn reached(&mut self, job: Job) -> Fate {
        if !self.processes[job as usize].on_errand {
            return self.next_stage(job);
        }
        match self.processes[job as usize].errand().goal {
            Goal::End => return Fate::Done,
            Goal::Stop => self.stops(job),
            Goal::Fault => self.processes[job as usize].errand().steps.push_back(Step::Fault),
        }
        Fate::Goes
    }

    /// The next station of its route; a burst there is drawn.
    #[inline]
    pub(super) fn next_stage(&mut self, job: Job) -> Fate {
        let process = &mut self.processes[job as usize];
        let next = self.stations[process.stage as usize].next(&mut process.stream);
        self.enter_stage(job, next)
    }

    /// `job` goes to this stage of its route.
    #[inline]
    pub(super) fn enter_stage(&mut self, job: Job, stage: u32) -> Fate {
        if stage == NO_STAGE {
            return Fate::Done;
        }
        let process = &mut self.processes[job as usize];
        let station = &self.stations[stage as usize];
        process.stage = stage;
        if let Some(store) = station.store {
            return Fate::ToStore { store, service_ns: station.asked_ns(&mut process.stream) };
        }
        process.left_ns = station.service_ns(&mut process.stream);
        Fate::Requeues
    }

    /// Work until the nearest goal; the goal is noted.
    pub(super) fn plan(&mut self, job: Job) -> u64 {
        let process = &mut self.processes[job as usize];
        let left_ns = process.left_ns;
        let errand = process.errand.as_mut().expect("a process on an errand has one");
        let (mut planned_ns, mut goal) = errand.work_to_stop(left_ns).map_or((left_ns, Goal::End), |ns| (ns, Goal::Stop));
        let to_fault = self.paged.as_mut().filter(|_| left_ns > 0);
        let to_fault = to_fault.and_then(|paged| paged.frames.work_to_fault(job, &mut errand.misses));
        if let Some(ns) = to_fault.filter(|ns| *ns < planned_ns) {
            (planned_ns, goal) = (ns, Goal::Fault);
        }
        errand.goal = goal;
        planned_ns.min(left_ns)
    }

    /// The steps that the stop takes to which `job` has come.
    fn stops(&mut self, job: Job) {
        let process = &mut self.processes[job as usize];
        let command = &self.machine.commands[process.command as usize];
        let errand = process.errand.as_mut().expect("a process on an errand has one");
        match errand.take_stop() {
            Stop::Segment => errand.steps.push_back(self.costs.segment_fault()),
            Stop::Bound => errand.steps.push_back(self.costs.bound_fault()),
            Stop::Wall => errand.steps.push_back(self.costs.wall_crossing()),
            Stop::Process => errand.steps.push_back(self.costs.process_creation()),
            Stop::Request(store) => errand.steps.push_back(Step::Request(store)),
            Stop::Message => {
                let bytes = errand.message_bytes.min(errand.network_bytes);
                errand.network_bytes -= bytes;
                let own_ns = command.network_byte_cpu.draw(&mut errand.stream) * bytes;
                errand.steps.extend([self.costs.message(bytes), self.costs.own_work(own_ns)]);
            }
            Stop::Line => {
                let own_ns = command.line_cpu.draw(&mut errand.stream);
                let faults = number(&command.line_faults, &mut errand.stream);
                let faults = errand.bounded(faults, "page faults of a line");
                let walls = number(&command.line_walls, &mut errand.stream);
                let walls = errand.bounded(walls, "wall crossings of a line");
                let bytes = number(&command.line_bytes, &mut errand.stream);
                errand.steps.push_back(self.costs.own_work(own_ns));
                errand.steps.extend((0..walls).map(|_| self.costs.wall_crossing()));
                errand.steps.extend((0..faults).map(|_| Step::Fault));
                errand.steps.extend([self.costs.line_out(), Step::Line { bytes }]);
                if let Some(what) = errand.too_many {
                    self.trouble.get_or_insert_with(|| too_many(&command.name, what));
                }
            }
        }
    }

    /// What `job`, which is on an errand, does next; steps that take no time are done.
    pub(super) fn next_step(&mut self, job: Job) -> Next {
        loop {
            let errand = self.processes[job as usize].errand();
            let Some(step) = errand.steps.front().copied() else { return Next::Works };
            if let Step::Spend { category, ns, .. } = step
                && ns > 0
            {
                return Next::Spend(category, ns);
            }
            if let Step::Spend { .. } = step {
                self.step_done(job, 0);
                continue;
            }
            errand.steps.pop_front();
            match step {
                Step::Line { bytes } => self.line_is_out(job, bytes),
                Step::Request(store) => return Next::Leaves(Fate::ToStore { store, service_ns: None }),
                Step::Fault if self.paged.is_some() => self.fault_begins(job),
                Step::TakeFrame => return Next::Leaves(Fate::Faults(self.take_frame(job))),
                Step::Fault | Step::Spend { .. } => {}
            }
        }
    }

    /// The step in hand is over, after so long.
    pub(super) fn step_done(&mut self, job: Job, span_ns: u64) {
        let process = &mut self.processes[job as usize];
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

    fn fault_begins(&mut self, job: Job) {
        let handling = Step::Spend { category: Category::PageFault, ns: self.costs.page_fault_ns, counted: Counted::Nothing };
        let errand = self.processes[job as usize].errand();
        errand.fault_cpu_ns = 0;
        errand.steps.push_front(Step::TakeFrame);
        errand.steps.push_front(handling);
    }

    fn line_is_out(&mut self, job: Job, bytes: u64) {
        let now = self.now;
        let errand = self.processes[job as usize].errand();
        errand.first_output.get_or_insert(now);
        errand.bytes_out = errand.bytes_out.saturating_add(bytes);
        debug_assert!(self.tallies.primitives[Primitive::LineOut as usize].count > 0, "a line that is out has been counted");
    }

    /// Accounts for the wait of `job`, which has been given what it waited for.
    pub(super) fn wait_is_over(&mut self, job: Job) {
        let state = self.processes[job as usize].state;
        let waited_ns = self.now - self.processes[job as usize].since;
        match state {
            State::PageWait => {
                self.page_waiting -= 1;
                self.page_has_come(job, waited_ns);
            }
            State::DiskWait => {
                self.disk_waiting -= 1;
                self.processes[job as usize].io_wait_ns += waited_ns;
            }
            _ => unreachable!("who is given something waits for it"),
        }
    }

    /// A page, or a program, has come for `job`, after so long.
    pub(super) fn page_has_come(&mut self, job: Job, waited_ns: u64) {
        let process = &mut self.processes[job as usize];
        let command = process.command as usize;
        let Some(errand) = process.errand.as_mut().filter(|_| process.on_errand) else { return };
        errand.faults_major += 1;
        errand.paging_wait_ns += waited_ns;
        self.tallies.major_fault(command, std::mem::take(&mut errand.fault_cpu_ns), waited_ns);
    }
}
