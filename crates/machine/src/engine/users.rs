//! Users and their processes: a process is created, a command comes or is given up, and a process goes.

use super::clockwork::Clockwork;
use super::own_users::OwnUsers;
use super::process::ProcessState;
use super::processor::ProcessorActivity;
use super::told::Told;
use crate::disciplines::{Job, Off, ReadyList};

/// The exit status of a command that was given up, as a shell reports it for one that was interrupted.
const ABANDONED_EXIT_STATUS: u8 = 130;

impl<L: ReadyList> Clockwork<L> {
    /// Creates a process for the user of `job`.
    ///
    /// # Errors
    /// The system table is full.
    pub fn attach(&mut self, job: Job) -> Result<(), String> {
        self.execution.processes.make_room(job);
        let state = self.execution.processes[job].state;
        assert!(state == ProcessState::Absent, "user {} is on the machine already", job + 1);
        self.execution.enter_segment_table(job)?;
        self.scheduler.list.new_process(job);
        self.execution.begin_creation(job, self.events.now);
        self.begin_interaction(job);
        self.update_idle_causes();
        Ok(())
    }

    /// Lets `job` take its user's command up.
    #[inline(always)]
    pub fn begin(&mut self, job: Job, command: u32, arguments: &[f64]) {
        let state = self.execution.processes[job].state;
        debug_assert!(state == ProcessState::Thinking, "user {} gives a command before the answer to the last", job + 1);
        self.execution.begin_command(job, command, arguments, self.events.now);
        self.begin_interaction(job);
    }

    /// Puts the users of the machine's own file on it.
    ///
    /// # Errors
    /// The system table has no room for them.
    pub fn add_own_users(&mut self) -> Result<(), String> {
        let own = OwnUsers::new(&self.execution.commands.machine, self.execution.seed);
        let (jobs, open_classes) = (own.jobs(), own.open_classes());
        for job in jobs.clone() {
            self.execution.processes.make_room(job);
            self.execution.enter_segment_table(job)?;
        }
        self.own = Some(Box::new(own));
        for job in jobs {
            self.set_state(job, ProcessState::Thinking);
            let think_ns = self.own_users().think_ns(job);
            self.events.schedule_think_end(job, think_ns);
        }
        open_classes.into_iter().for_each(|class| self.schedule_arrival(class));
        Ok(())
    }

    /// Handles the end of an own user's think time: the next command is given.
    #[inline(always)]
    pub fn on_think_end(&mut self, job: Job) {
        self.model_events += 1;
        let command = self.own_users().next_command(job);
        self.begin(job, command, &[]);
    }

    /// Handles the arrival of a user of an open class, and schedules the next one.
    pub fn on_arrival(&mut self, class: usize) {
        self.model_events += 1;
        self.schedule_arrival(class);
        let (job, is_new) = self.own_users().arrive(class);
        if is_new {
            self.execution.failure = self.own_users().crowd_message(class).or(self.execution.failure.take());
            self.execution.processes.make_room(job);
            self.set_state(job, ProcessState::Thinking);
        }
        self.scheduler.list.new_process(job);
        let command = self.own_users().arriving_command(class);
        self.begin(job, command, &[]);
    }

    fn schedule_arrival(&mut self, class: usize) {
        let gap_ns = self.own_users().arrival_gap_ns(class);
        self.events.schedule_arrival(class, gap_ns);
    }

    #[inline]
    fn own_users(&mut self) -> &mut OwnUsers {
        self.own.as_mut().expect("a machine with its own users")
    }

    /// Gives up the command that `job` has in hand, if it has one.
    pub fn abandon(&mut self, job: Job) {
        if self.execution.processes.get(job).is_none() || self.execution.is_being_created(job) || !self.withdraw(job) {
            return;
        }
        self.answer(job, Some(ABANDONED_EXIT_STATUS));
        self.admit();
        self.update_idle_causes();
    }

    /// Ends the process of `job`, wherever it is.
    pub fn detach(&mut self, job: Job) {
        if self.execution.processes.get(job).is_none_or(|process| process.state == ProcessState::Absent) {
            return;
        }
        if self.withdraw(job) {
            self.execution.processes.active.fall(self.events.now);
        }
        self.set_state(job, ProcessState::Absent);
        self.told.retain(|told| !matches!(told, Told::Attached { user, .. } | Told::Ready { user, .. } if *user == job + 1));
        self.execution.release_memory(job);
        if let Some(table) = &mut self.execution.segment_table {
            table.detach(job);
        }
        self.admit();
        self.update_idle_causes();
    }

    /// Takes `job` out of its interaction, wherever it is; false if it is in none.
    fn withdraw(&mut self, job: Job) -> bool {
        let (state, now) = (self.execution.processes[job].state, self.events.now);
        match state {
            ProcessState::Absent | ProcessState::Thinking => return false,
            ProcessState::Asking => {
                self.scheduler.list.forget(job);
                self.eligibility.asking.fall(now);
                return true;
            }
            ProcessState::Ready => {
                self.scheduler.list.forget(job);
                self.scheduler.ready.fall(now);
            }
            ProcessState::PageWait | ProcessState::DiskWait => self.give_up_wait(job, state),
            ProcessState::Running if self.shared.is_some() => self.leave_share(job),
            ProcessState::Running | ProcessState::Loading => self.give_up_processor(job),
        }
        self.eligibility.remove(job, now);
        true
    }

    /// Lets `job` wait no more; what it waits for still comes, for no process.
    fn give_up_wait(&mut self, job: Job, state: ProcessState) {
        let processes = &mut self.execution.processes;
        processes.disown_requests(job);
        let waited_ns = self.events.now - processes[job].since;
        if state == ProcessState::PageWait {
            processes.page_waiting -= 1;
            processes[job].errand().paging_wait_ns += waited_ns;
        } else {
            processes.disk_waiting -= 1;
            processes[job].io_wait_ns += waited_ns;
        }
        self.scheduler.list.forget(job);
    }

    /// Takes `job` off its processor, which runs on.
    fn give_up_processor(&mut self, job: Job) {
        let p = self.execution.processes[job].processor as usize;
        let doing = self.processors[p].doing;
        match doing {
            ProcessorActivity::Work => self.stop_work(p),
            ProcessorActivity::Step | ProcessorActivity::Getwork => {
                self.events.cancel_segment_end(p);
                let span_ns = self.processors[p].close(self.events.now);
                self.execution.processes[job].errand().cpu_system_ns += span_ns;
            }
            ProcessorActivity::Loading => self.give_up_loading(job),
            ProcessorActivity::Interrupt | ProcessorActivity::Idle => {}
        }
        self.take_off(p, job, Off::Done);
        if doing != ProcessorActivity::Interrupt {
            self.run_processor(p);
        }
    }

    fn give_up_loading(&mut self, job: Job) {
        if let Some(loader) = &mut self.execution.memory.loader {
            loader.cancel_moves();
        }
        let processes = &mut self.execution.processes;
        processes.disown_requests(job);
        let waited_ns = self.events.now - processes[job].since;
        processes[job].errand().paging_wait_ns += waited_ns;
    }
}
