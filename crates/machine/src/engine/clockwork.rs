//! The parts of a simulated machine, and the actions that two or three of them do together.
//!
//! Each part owns its state and knows no other part. The actions on several parts are in layers, and each layer calls only those
//! before it. `clockwork` begins waits for devices, and answers commands. `dispatch` and `shared_dispatch` give processors to
//! processes. `transitions` computes the consequences of each event, as a list of tasks. `users` begins and ends commands and
//! processes. `stepping` moves the time.
//!
//! Functions through which every event passes are `#[inline(always)]`. Without that, the compiler does not inline some of them,
//! and a simulation takes up to a tenth longer.

use std::collections::VecDeque;
use std::sync::Arc;

use super::eligibility::Eligibility;
use super::events::EventQueue;
use super::execution::{Departure, Execution};
use super::load_meter::LoadMeter;
use super::locks::SupervisorLocks;
use super::own_users::OwnUsers;
use super::process::ProcessState;
use super::processors::{ProcessorSet, WaitingCounts};
use super::scheduler::Scheduler;
use super::sharing::SharedProcessors;
use super::stores::Stores;
use super::told::EngineEvent;
use crate::devices::DeviceRequest;
use crate::disciplines::{ProcessId, ReadyList};
use crate::frames::Fault;
use crate::spec::{Discipline, Machine};

/// A task that is still to be done at the present instant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// Processor `p` begins its next segment.
    Run(usize),
    /// Processes that ask to be eligible are admitted.
    Admit,
}

/// A running machine under one discipline.
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
    /// The supervisor's locks, if it has any.
    pub locks: Option<Box<SupervisorLocks>>,
    /// The recent load of the processors, where a demand depends on it.
    pub load: Option<LoadMeter>,
    /// The processors' time under processor sharing.
    pub shared: Option<SharedProcessors>,
    /// The stores.
    pub stores: Stores,
    /// The users of the machine's own load, if it runs.
    pub own: Option<Box<OwnUsers>>,
    /// Tasks for this instant; the last one is done first.
    pub tasks: Vec<Task>,
    /// Events that the caller has not taken yet.
    pub reports: VecDeque<EngineEvent>,
    /// The interaction of an own user that ended with the current event: class and response time.
    pub finished: Option<(usize, u64)>,
    /// Events of the model that have come.
    pub model_events: u64,
    /// Interactions that have ended.
    pub interactions: u64,
}

impl<L: ReadyList> Clockwork<L> {
    /// The machine without users. Its configuration has been checked.
    pub fn new(machine: &Arc<Machine>, seed: u64, list: L) -> Clockwork<L> {
        let count = machine.processors.count as usize;
        let eligibility = Eligibility::new(&machine.limit);
        let execution = Execution::new(machine, eligibility.level(), seed);
        Clockwork {
            events: EventQueue::new(count),
            load: execution.commands.depends_on_load().then(LoadMeter::default),
            execution,
            scheduler: Scheduler::new(list),
            eligibility,
            processors: ProcessorSet::new(count),
            locks: SupervisorLocks::of(&machine.supervisor.locks),
            shared: (machine.processors.discipline == Discipline::Sharing).then(|| SharedProcessors::new(count)),
            stores: Stores::new(machine, seed),
            own: None,
            tasks: Vec::new(),
            reports: VecDeque::new(),
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

    /// Sets the state of `pid` from now on, and returns how long it was in the state before.
    #[inline]
    pub fn set_state(&mut self, pid: ProcessId, state: ProcessState) -> u64 {
        self.execution.processes.set_state(pid, state, self.events.now)
    }

    /// Checks whether the idle processors still idle for the same causes.
    #[inline]
    pub fn update_idle_causes(&mut self) {
        let (processes, asking, list) = (&self.execution.processes, &self.eligibility.asking, &self.scheduler.list);
        let waiting = || WaitingCounts {
            asking: asking.now(),
            throttled: list.throttled(),
            for_pages: u64::from(processes.page_waiting),
            for_disks: u64::from(processes.disk_waiting),
        };
        self.processors.update_idle_causes(waiting, self.events.now);
    }

    /// Lets `pid`, which has no processor, wait for a device.
    #[inline]
    pub fn wait_for_device(&mut self, pid: ProcessId, departure: Departure) {
        match departure {
            Departure::ToStore { store, service_ns } => {
                self.set_state(pid, ProcessState::DiskWait);
                self.execution.processes.disk_waiting += 1;
                let (words, id) = (self.execution.memory.request_words(), self.execution.processes.request_id(pid));
                self.stores.submit(store, DeviceRequest { id, words, service_ns, write: false }, &mut self.events);
            }
            Departure::ToPage(fault) => self.request_page(pid, fault),
            Departure::Stays | Departure::Requeues | Departure::Done => unreachable!("no device is asked for"),
        }
    }

    /// Requests the missing page of `pid`, and has replaced pages written.
    fn request_page(&mut self, pid: ProcessId, fault: Fault) {
        self.set_state(pid, ProcessState::PageWait);
        self.execution.processes.page_waiting += 1;
        let id = self.execution.processes.request_id(pid);
        let paging = self.execution.memory.paging.as_mut().expect("page faults are of machines with demand paging");
        for (store, request) in paging.fault_requests(fault, id).into_iter().flatten() {
            self.stores.submit(store, request, &mut self.events);
        }
    }

    /// Requests the next move for the program of `pid`; false if it is in core memory.
    pub fn request_next_move(&mut self, pid: ProcessId) -> bool {
        let id = self.execution.processes.request_id(pid);
        let loader = self.execution.memory.loader.as_mut().expect("programs are loaded on machines that swap");
        let Some((store, request)) = loader.next_request(id) else { return false };
        self.stores.submit(store, request, &mut self.events);
        true
    }

    /// Answers the command of `pid`, which then waits for its user. Without `status`, the answer has the command's own exit
    /// status.
    #[inline]
    pub fn answer(&mut self, pid: ProcessId, status: Option<u8>) {
        self.set_state(pid, ProcessState::Thinking);
        let at = self.events.now;
        self.execution.processes.active.fall(at);
        if self.own.is_some() {
            self.interactions += 1;
            return self.begin_think_time(pid);
        }
        let user = pid + 1;
        if self.execution.is_being_created(pid) {
            return self.reports.push_back(EngineEvent::Attached { user, at });
        }
        self.interactions += 1;
        self.reports.push_back(EngineEvent::Ready { user, at, answer: self.execution.answer(pid, status) });
    }

    /// Lets the own user of `pid`, who has had an answer, think or leave.
    #[inline]
    fn begin_think_time(&mut self, pid: ProcessId) {
        let own = self.own.as_mut().expect("a machine with its own users");
        self.finished = Some((own.class(pid), self.events.now - self.execution.processes[pid].began));
        match own.think_or_leave(pid) {
            Some(think_ns) => self.events.schedule_think_end(pid, think_ns),
            None => self.execution.release_memory(pid),
        }
    }
}
