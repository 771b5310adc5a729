//! Users and their commands: a process is made, a command is begun, and answered.

use super::clockwork::Clockwork;
use super::errand::{Aim, Errand, MOST_STOPS};
use super::process::{NO_STAGE, State, UNSTARTED};
use super::{Answer, Told};
use crate::disciplines::{Job, ReadyList};
use loadgo_core::system::Usage;

impl<L: ReadyList> Clockwork<L> {
    /// Makes a process for the user of `job`.
    ///
    /// # Errors
    /// The system table is full.
    pub fn attach(&mut self, job: Job) -> Result<(), String> {
        self.make_room(job);
        assert!(self.processes[job as usize].state == State::Absent, "user {} is on the machine already", job + 1);
        self.enter_table(job)?;
        self.list.new_process(job);
        let step = self.costs.process_creation();
        let process = &mut self.processes[job as usize];
        process.take_up(0, self.now);
        process.on_errand = true;
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, job)));
        errand.clear(Aim::Creation, stream);
        errand.previous = None;
        errand.steps.push_back(step);
        self.active.rise(self.now);
        self.asks(job);
        self.look_why_idle();
        Ok(())
    }

    /// Gives `job` its entries in the system table, where there is one.
    pub(super) fn enter_table(&mut self, job: Job) -> Result<(), String> {
        let (Some(table), Some(spec)) = (&mut self.table, &self.machine.supervisor.table) else { return Ok(()) };
        table.attach(job).map_err(|_| {
            let (entries, each) = (spec.entries, spec.per_user);
            format!("the system table is full: of its {entries} entries a user needs {each}")
        })
    }

    /// The user of `job` gives a command.
    #[inline]
    pub fn begin(&mut self, job: Job, command: u32, arguments: &[f64]) {
        let process = &mut self.processes[job as usize];
        debug_assert!(process.state == State::Thinking, "user {} gives a command before the answer to the last", job + 1);
        process.take_up(command, self.now);
        process.on_errand = self.first_station[command as usize] == NO_STAGE;
        if process.on_errand {
            self.begin_errand(job, arguments);
        } else {
            process.stage = UNSTARTED;
        }
        self.active.rise(self.now);
        self.asks(job);
    }

    fn begin_errand(&mut self, job: Job, arguments: &[f64]) {
        let taken = self.table.as_mut().map_or(0, |table| table.touch(job, self.now));
        let process = &mut self.processes[job as usize];
        let command = &self.machine.commands[process.command as usize];
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, job)));
        errand.clear(Aim::Command, stream);
        let (work_ns, pages) = errand.draw(command, arguments, self.costs.speed, self.costs.message_bytes);
        process.left_ns = work_ns;
        if let Some(what) = errand.too_many {
            self.trouble.get_or_insert_with(|| too_many(&command.name, what));
        }
        let program = self.programs[process.command as usize];
        let same = errand.previous == Some(program);
        errand.fresh = !same;
        errand.previous = Some(program);
        errand.steps.push_back(self.costs.line_in());
        errand.steps.extend((0..taken).map(|_| self.costs.segment_fault()));
        if let Some(paged) = &mut self.paged {
            paged.frames.begin(job, pages, command.common, same, self.now);
        }
    }

    /// The interaction of `job`, which is eligible and on no list, is over.
    #[inline]
    pub(super) fn is_over(&mut self, job: Job, status: Option<u8>) {
        self.loses_eligibility(job);
        self.answer(job, status);
        self.admit();
    }

    /// The route of `job` has ended at a store.
    pub(super) fn is_done_off_processor(&mut self, job: Job) {
        self.list.ends(job);
        self.is_over(job, None);
    }

    /// Tells that `job` waits for its user again.
    #[inline]
    pub(super) fn answer(&mut self, job: Job, status: Option<u8>) {
        self.place(job, State::Thinking);
        self.active.fall(self.now);
        if self.own.is_some() {
            self.interactions += 1;
            return self.thinks(job);
        }
        let process = &mut self.processes[job as usize];
        let (user, at) = (job + 1, self.now);
        if process.on_errand && process.errand().aim == Aim::Creation {
            return self.told.push_back(Told::Attached { user, at });
        }
        self.interactions += 1;
        let exit_status = status.or(self.machine.commands[process.command as usize].exit_status);
        let answer = answer_of(process, exit_status);
        self.told.push_back(Told::Ready { user, at, answer });
    }
}

/// A command asks for more of something than a run can carry out.
pub(super) fn too_many(command: &str, what: &str) -> String {
    format!(
        "command {command:?} asks for more than {MOST_STOPS} {what} at once, the most that a command may have: lower their number, or \
         give their law an upper bound"
    )
}

fn answer_of(process: &super::process::Process, exit_status: Option<u8>) -> Answer {
    let errand = process.errand.as_ref().filter(|_| process.on_errand);
    Answer {
        usage: Usage {
            cpu_user_ns: Some(process.cpu_user_ns),
            cpu_system_ns: Some(errand.map_or(0, |errand| errand.cpu_system_ns)),
            faults_minor: Some(0),
            faults_major: Some(errand.map_or(0, |errand| errand.faults_major)),
            ready_wait_ns: Some(process.ready_wait_ns),
            paging_wait_ns: Some(errand.map_or(0, |errand| errand.paging_wait_ns)),
            io_wait_ns: Some(process.io_wait_ns),
        },
        first_output: errand.and_then(|errand| errand.first_output),
        bytes_out: errand.map_or(0, |errand| errand.bytes_out),
        exit_status,
    }
}
