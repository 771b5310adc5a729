//! Users and their processes: creates processes, begins and gives up commands, and ends processes.

use std::hint::black_box;

use super::clockwork::Clockwork;
use super::error::EngineError;
use super::own_users::OwnUsers;
use super::process::ProcessState;
use super::processor::ProcessorActivity;
use super::told::{CommandResult, EngineEvent};
use crate::disciplines::{LeaveCause, ProcessId, ReadyList};

/// The exit status of a command that was given up. A shell reports it for an interrupted command.
const ABANDONED_EXIT_STATUS: u8 = 130;

impl<L: ReadyList> Clockwork<L> {
    /// Creates a process for the user of `pid`.
    ///
    /// # Errors
    /// The system table is full.
    pub fn attach(&mut self, pid: ProcessId) -> Result<(), EngineError> {
        self.execution.processes.make_room(pid);
        let state = self.execution.processes[pid].state;
        assert!(state == ProcessState::Absent, "user {} is on the machine already", pid + 1);
        self.execution.enter_segment_table(pid)?;
        self.scheduler.list.new_process(pid);
        self.execution.begin_creation(pid, self.events.now);
        self.begin_interaction(pid);
        self.update_idle_causes();
        Ok(())
    }

    /// Begins a command of the user of `pid`.
    #[inline(always)]
    pub fn begin(&mut self, pid: ProcessId, command: u32, arguments: &[f64]) {
        let state = self.execution.processes[pid].state;
        debug_assert!(state == ProcessState::Thinking, "user {} gives a command before the answer to the last", pid + 1);
        if let Some(load) = &mut self.load {
            self.execution.load = load.update(self.processors.all(), self.events.now);
        }
        self.execution.begin_command(pid, command, arguments, self.events.now);
        self.begin_interaction(pid);
    }

    /// Adds the users of the machine's own load.
    ///
    /// # Errors
    /// The system table has no room for them.
    pub fn add_own_users(&mut self) -> Result<(), EngineError> {
        let own = OwnUsers::new(&self.execution.commands.machine, self.execution.seed);
        let (pids, open_classes) = (own.pids(), own.open_classes());
        for pid in pids.clone() {
            self.execution.processes.make_room(pid);
            self.execution.enter_segment_table(pid)?;
        }
        self.own = Some(Box::new(own));
        for pid in pids {
            self.set_state(pid, ProcessState::Thinking);
            let think_ns = self.own_users().think_ns(pid);
            self.events.schedule_think_end(pid, think_ns);
        }
        open_classes.into_iter().for_each(|class| self.schedule_arrival(class));
        Ok(())
    }

    /// Handles the end of the think time of a user of the own load, who then gives the next command.
    #[inline(always)]
    pub fn on_think_end(&mut self, pid: ProcessId) {
        self.model_events += 1;
        self.load_approaching_users();
        let command = self.own_users().next_command(pid);
        self.begin(pid, command, &[]);
    }

    /// Reads the state of the users whose think times end soon, so that it is in the cache by then. The reads wait for memory
    /// together, where each event alone would wait for its own.
    #[inline(always)]
    fn load_approaching_users(&mut self) {
        for pid in self.events.take_approaching_think_ends() {
            let class = self.own_users().class(pid);
            let process = &self.execution.processes[pid];
            black_box((class, process.left_ns, process.state));
        }
    }

    /// Handles the arrival of a user of an open class, and schedules the next one.
    pub fn on_arrival(&mut self, class: usize) {
        self.model_events += 1;
        self.schedule_arrival(class);
        let (pid, is_new) = self.own_users().arrive(class);
        if is_new {
            self.execution.failure = self.own_users().too_many_users(class).or(self.execution.failure.take());
            self.execution.processes.make_room(pid);
            self.set_state(pid, ProcessState::Thinking);
        }
        self.scheduler.list.new_process(pid);
        let command = self.own_users().arriving_command(class);
        self.begin(pid, command, &[]);
    }

    fn schedule_arrival(&mut self, class: usize) {
        let gap_ns = self.own_users().arrival_gap_ns(class);
        self.events.schedule_arrival(class, gap_ns);
    }

    #[inline]
    fn own_users(&mut self) -> &mut OwnUsers {
        self.own.as_mut().expect("a machine with its own users")
    }

    /// Gives up the current command of `pid`, if it has one, and returns its result so far.
    pub fn abandon(&mut self, pid: ProcessId) -> CommandResult {
        if self.execution.processes.get(pid).is_none() || self.execution.is_being_created(pid) {
            return CommandResult::default();
        }
        let so_far = self.execution.answer(pid, None);
        if !self.withdraw(pid) {
            return CommandResult::default();
        }
        self.answer(pid, Some(ABANDONED_EXIT_STATUS));
        self.admit();
        self.update_idle_causes();
        so_far
    }

    /// Ends the process of `pid` in any state.
    pub fn detach(&mut self, pid: ProcessId) {
        if self.execution.processes.get(pid).is_none_or(|process| process.state == ProcessState::Absent) {
            return;
        }
        if self.withdraw(pid) {
            self.execution.processes.active.fall(self.events.now);
        }
        self.set_state(pid, ProcessState::Absent);
        self.reports.retain(
            |event| !matches!(event, EngineEvent::Attached { user, .. } | EngineEvent::Ready { user, .. } if *user == pid + 1),
        );
        self.execution.release_memory(pid);
        if let Some(table) = &mut self.execution.segment_table {
            table.detach(pid);
        }
        self.admit();
        self.update_idle_causes();
    }

    /// Ends the interaction of `pid` in any state; false if the process is in no interaction.
    fn withdraw(&mut self, pid: ProcessId) -> bool {
        let (state, now) = (self.execution.processes[pid].state, self.events.now);
        match state {
            ProcessState::Absent | ProcessState::Thinking => return false,
            ProcessState::Running | ProcessState::Loading => {}
            _ => self.scheduler.list.rests(pid, now),
        }
        match state {
            ProcessState::Absent | ProcessState::Thinking => return false,
            ProcessState::Asking => {
                self.scheduler.list.forget(pid);
                self.eligibility.asking.fall(now);
                return true;
            }
            ProcessState::Ready => {
                self.scheduler.list.forget(pid);
                self.scheduler.ready.fall(now);
            }
            ProcessState::PageWait | ProcessState::DiskWait => self.give_up_wait(pid, state),
            ProcessState::Running if self.shared.is_some() => self.leave_share(pid),
            ProcessState::Running | ProcessState::Loading => self.give_up_processor(pid),
        }
        self.eligibility.remove(pid, now);
        true
    }

    /// Ends the wait of `pid`. Its request is still served, for no process.
    fn give_up_wait(&mut self, pid: ProcessId, state: ProcessState) {
        let processes = &mut self.execution.processes;
        processes.disown_requests(pid);
        let waited_ns = self.events.now - processes[pid].since;
        if state == ProcessState::PageWait {
            processes.page_waiting -= 1;
            processes[pid].errand().paging_wait_ns += waited_ns;
        } else {
            processes.disk_waiting -= 1;
            processes[pid].io_wait_ns += waited_ns;
        }
        self.scheduler.list.forget(pid);
    }

    /// Takes `pid` off its processor, which runs on.
    fn give_up_processor(&mut self, pid: ProcessId) {
        let p = self.execution.processes[pid].processor as usize;
        let doing = self.processors[p].doing;
        match doing {
            ProcessorActivity::Work => self.stop_work(p),
            ProcessorActivity::Step | ProcessorActivity::Getwork => {
                self.events.cancel_segment_end(p);
                let span_ns = self.processors[p].close(self.events.now);
                if doing == ProcessorActivity::Step {
                    self.charge_quota(pid, span_ns);
                    self.execution.processes[pid].errand().cpu_system_ns += span_ns;
                } else {
                    self.scheduler.list.count_switch(pid, span_ns);
                    self.execution.charge_getwork(pid, span_ns);
                }
            }
            ProcessorActivity::LockWait if !self.processors[p].waits_for(ProcessorActivity::Interrupt) => {
                self.events.cancel_segment_end(p);
                let span_ns = self.processors[p].close(self.events.now);
                let path = self.processors[p].waiting.take().expect("a processor waits for the lock of a path");
                self.charge_lock_wait(p, path.activity, span_ns);
            }
            ProcessorActivity::LockWait => {}
            ProcessorActivity::Loading => self.give_up_loading(pid),
            ProcessorActivity::Interrupt | ProcessorActivity::Idle => {}
        }
        self.take_off(p, pid, LeaveCause::Done);
        if doing != ProcessorActivity::Interrupt && self.processors[p].waiting.is_none() {
            self.run_processor(p);
        }
    }

    fn give_up_loading(&mut self, pid: ProcessId) {
        if let Some(loader) = &mut self.execution.memory.loader {
            loader.cancel_moves();
        }
        let processes = &mut self.execution.processes;
        processes.disown_requests(pid);
        let waited_ns = self.events.now - processes[pid].since;
        processes[pid].errand().paging_wait_ns += waited_ns;
    }
}
