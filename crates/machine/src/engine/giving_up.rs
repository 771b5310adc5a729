//! Users who do not wait for the answer: a command is given up wherever it is, and a user who goes leaves everything behind.

use super::Told;
use super::clockwork::Clockwork;
use super::errand::Aim;
use super::process::State;
use super::processor::Doing;
use super::storage::next_generation;
use crate::disciplines::{Job, Off, ReadyList};

/// The exit status of a command that was given up, as a shell tells it of one that was interrupted.
const ABANDONED: u8 = 130;

impl<L: ReadyList> Clockwork<L> {
    /// The user of `job` gives his command up; whether he had one.
    pub fn abandon(&mut self, job: Job) {
        let Some(process) = self.processes.get_mut(job as usize) else { return };
        let creation = process.on_errand && process.errand.as_ref().is_some_and(|errand| errand.aim == Aim::Creation);
        if !creation && self.take_back(job) {
            self.answer(job, Some(ABANDONED));
            self.admit();
            self.look_why_idle();
        }
    }

    /// The user of `job` goes.
    pub fn detach(&mut self, job: Job) {
        if self.processes.get(job as usize).is_none_or(|process| process.state == State::Absent) {
            return;
        }
        if self.take_back(job) {
            self.active.fall(self.now);
        }
        self.place(job, State::Absent);
        self.told.retain(|told| !matches!(told, Told::Attached { user, .. } | Told::Ready { user, .. } if *user == job + 1));
        self.leave_memory(job);
        if let Some(table) = &mut self.table {
            table.detach(job);
        }
        self.admit();
        self.look_why_idle();
    }

    /// The process of `job` is no more: its memory is free, and whoever has its number next finds nothing of it there.
    pub(super) fn leave_memory(&mut self, job: Job) {
        if let Some(paged) = &mut self.paged {
            paged.frames.leave(job);
        }
        if let Some(core) = &mut self.core {
            core.leave(job);
        }
        if let Some(errand) = &mut self.processes[job as usize].errand {
            errand.previous = None;
        }
    }

    /// Takes `job` from wherever it is in its interaction; false where it is in none.
    fn take_back(&mut self, job: Job) -> bool {
        let state = self.processes[job as usize].state;
        match state {
            State::Absent | State::Thinking => return false,
            State::Asking => {
                self.list.forget(job);
                self.asking.fall(self.now);
                return true;
            }
            State::Ready => {
                self.list.forget(job);
                self.ready.fall(self.now);
            }
            State::PageWait | State::DiskWait => self.waits_no_more(job, state),
            State::Running if self.shared.is_some() => self.leaves_share(job),
            State::Running | State::Loading => self.loses_processor(job, state),
        }
        self.loses_eligibility(job);
        true
    }

    /// What `job` waits for comes for nobody.
    fn waits_no_more(&mut self, job: Job, state: State) {
        let process = &mut self.processes[job as usize];
        process.generation = next_generation(process.generation);
        let waited_ns = self.now - process.since;
        if state == State::PageWait {
            self.page_waiting -= 1;
            process.errand().paging_wait_ns += waited_ns;
        } else {
            self.disk_waiting -= 1;
            process.io_wait_ns += waited_ns;
        }
        self.list.forget(job);
    }

    fn loses_processor(&mut self, job: Job, state: State) {
        let p = self.processes[job as usize].processor as usize;
        let doing = self.processors[p].doing;
        match doing {
            Doing::Work => {
                self.cancel_segment(p);
                self.stop_work(p);
            }
            Doing::Step | Doing::Getwork => {
                self.cancel_segment(p);
                let span_ns = self.processors[p].close(self.now);
                self.processes[job as usize].errand().cpu_system_ns += span_ns;
            }
            Doing::Loading => {
                self.moving.clear();
                let process = &mut self.processes[job as usize];
                process.generation = next_generation(process.generation);
                process.errand().paging_wait_ns += self.now - process.since;
            }
            Doing::Interrupt | Doing::Idle => {}
        }
        debug_assert!((state == State::Loading) == (doing == Doing::Loading));
        let ran_ns = self.processors[p].ran_ns;
        self.free_processor(p);
        self.list.off(job, ran_ns, Off::Done, self.now);
        if doing != Doing::Interrupt {
            self.carry_on(p);
        }
    }
}
