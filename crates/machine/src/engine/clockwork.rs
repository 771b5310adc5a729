//! The parts of a simulated machine side by side, and what two or three of them do together.
//!
//! Each part owns its state and knows no other part. Events pass between them in layers, each of which calls only those before it:
//! `clockwork` (waits for devices, answers), `dispatch` and `shared_dispatch` (processors and the processes on them), `transitions`
//! (what follows from an event, as a list of tasks), `users` (commands come, are given up, and processes go), `stepping`.
//!
//! What every event passes through is `#[inline(always)]`: left to itself, the compiler keeps some of it apart, and a simulation takes up
//! to a tenth longer.

use std::collections::VecDeque;
use std::sync::Arc;

use super::eligibility::Eligibility;
use super::events::EventQueue;
use super::execution::{Departure, Execution};
use super::own_users::OwnUsers;
use super::process::ProcessState;
use super::processors::{ProcessorSet, WaitingCounts};
use super::scheduler::Scheduler;
use super::sharing::SharedProcessors;
use super::stores::Stores;
use super::told::Told;
use crate::devices::Request;
use crate::disciplines::{Job, ReadyList};
use crate::frames::Fault;
use crate::spec::{Discipline, Machine};

/// Something still to be done at the present instant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// Processor `p` begins whatever is next.
    Run(usize),
    /// Processes that ask to be eligible are admitted.
    Admit,
}

/// A machine in motion under one discipline.
#[derive(Clone, Debug)]
pub(super) struct Clockwork<L> {
    /// The clock and the events to come.
    pub events: EventQueue,
    /// The processes, their commands and their memory.
    pub execution: Execution,
    /// The discipline's ready list.
    pub scheduler: Scheduler<L>,
    /// The eligible processes.
    pub eligibility: Eligibility,
    /// The processors.
    pub processors: ProcessorSet,
    /// The processors' time, where all processes share it.
    pub shared: Option<SharedProcessors>,
    /// The stores.
    pub stores: Stores,
    /// The users of the machine's own file, where it runs them.
    pub own: Option<Box<OwnUsers>>,
    /// What is still to be done at this instant; the last one first.
    pub tasks: Vec<Task>,
    /// Reports that the caller has not taken yet.
    pub told: VecDeque<Told>,
    /// The interaction of an own user that ended with the event in hand: class and response time.
    pub finished: Option<(usize, u64)>,
    /// Events of the model that have come.
    pub model_events: u64,
    /// Interactions that have ended.
    pub interactions: u64,
}

impl<L: ReadyList> Clockwork<L> {
    /// The machine without users; it has been checked for what cannot work.
    pub fn new(machine: &Arc<Machine>, seed: u64, list: L) -> Clockwork<L> {
        let count = machine.processors.count as usize;
        let eligibility = Eligibility::new(&machine.limit);
        Clockwork {
            events: EventQueue::new(count),
            execution: Execution::new(machine, eligibility.level(), seed),
            scheduler: Scheduler::new(list),
            eligibility,
            processors: ProcessorSet::new(count),
            shared: (machine.processors.discipline == Discipline::Sharing).then(|| SharedProcessors::new(count)),
            stores: Stores::new(machine, seed),
            own: None,
            tasks: Vec::new(),
            told: VecDeque::new(),
            finished: None,
            model_events: 0,
            interactions: 0,
        }
    }

    /// When the next event comes. None if no event will ever come.
    #[inline]
    pub fn next_at(&mut self) -> Option<u64> {
        let scheduled = self.events.next_at();
        match self.shared.as_ref().and_then(|shared| shared.due) {
            Some(due) => Some(scheduled.map_or(due, |at| at.min(due))),
            None => scheduled,
        }
    }

    /// Sets where `job` is from now on; how long it has been where it was.
    #[inline]
    pub fn set_state(&mut self, job: Job, state: ProcessState) -> u64 {
        self.execution.processes.set_state(job, state, self.events.now)
    }

    /// Checks whether the idle processors still idle for the same causes.
    #[inline]
    pub fn update_idle_causes(&mut self) {
        let (processes, asking) = (&self.execution.processes, &self.eligibility.asking);
        let waiting = || WaitingCounts {
            asking: asking.now(),
            for_pages: u64::from(processes.page_waiting),
            for_disks: u64::from(processes.disk_waiting),
        };
        self.processors.update_idle_causes(waiting, self.events.now);
    }

    /// Lets `job`, which has no processor, wait for a device.
    #[inline]
    pub fn wait_for_device(&mut self, job: Job, departure: Departure) {
        match departure {
            Departure::ToStore { store, service_ns } => {
                self.set_state(job, ProcessState::DiskWait);
                self.execution.processes.disk_waiting += 1;
                let (words, id) = (self.execution.memory.request_words(), self.execution.processes.request_id(job));
                self.stores.submit(store, Request { id, words, service_ns, write: false }, &mut self.events);
            }
            Departure::ToPage(fault) => self.request_page(job, fault),
            Departure::Stays | Departure::Requeues | Departure::Done => unreachable!("no device is asked for"),
        }
    }

    /// Requests the page of `job`, and has pages written that go for it.
    fn request_page(&mut self, job: Job, fault: Fault) {
        self.set_state(job, ProcessState::PageWait);
        self.execution.processes.page_waiting += 1;
        let id = self.execution.processes.request_id(job);
        let paging = self.execution.memory.paging.as_mut().expect("page faults are of machines with demand paging");
        for (store, request) in paging.fault_requests(fault, id).into_iter().flatten() {
            self.stores.submit(store, request, &mut self.events);
        }
    }

    /// Requests the next move for the program of `job`; false if it is in core memory.
    pub fn request_next_move(&mut self, job: Job) -> bool {
        let id = self.execution.processes.request_id(job);
        let loader = self.execution.memory.loader.as_mut().expect("programs are loaded on machines that swap");
        let Some((store, request)) = loader.next_request(id) else { return false };
        self.stores.submit(store, request, &mut self.events);
        true
    }

    /// Answers the command of `job`, which then waits for its user; with this exit status, or the command's own.
    #[inline]
    pub fn answer(&mut self, job: Job, status: Option<u8>) {
        self.set_state(job, ProcessState::Thinking);
        let at = self.events.now;
        self.execution.processes.active.fall(at);
        if self.own.is_some() {
            self.interactions += 1;
            return self.begin_think_time(job);
        }
        let user = job + 1;
        if self.execution.is_being_created(job) {
            return self.told.push_back(Told::Attached { user, at });
        }
        self.interactions += 1;
        self.told.push_back(Told::Ready { user, at, answer: self.execution.answer(job, status) });
    }

    /// Lets the own user of `job`, who has had an answer, think or leave.
    #[inline]
    fn begin_think_time(&mut self, job: Job) {
        let own = self.own.as_mut().expect("a machine with its own users");
        self.finished = Some((own.class(job), self.events.now - self.execution.processes[job].began));
        match own.think_or_leave(job) {
            Some(think_ns) => self.events.schedule_think_end(job, think_ns),
            None => self.execution.release_memory(job),
        }
    }
}
