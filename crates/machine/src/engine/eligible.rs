//! Who may be multiprogrammed: asking to be eligible, being admitted, and ceasing to be.

use super::clockwork::Clockwork;
use super::process::{State, UNSTARTED};
use super::work::Fate;
use crate::disciplines::{Facts, Job, ReadyList, Why};
use crate::spec::Limit;

impl<L: ReadyList> Clockwork<L> {
    /// `job` begins an interaction, and asks to be eligible.
    #[inline]
    pub(super) fn asks(&mut self, job: Job) {
        self.ask(job, true);
        self.admit();
    }

    /// `job` has lost its eligibility in the middle of its interaction, and asks again.
    pub(super) fn asks_again(&mut self, job: Job) {
        self.loses_eligibility(job);
        self.ask(job, false);
        self.admit();
    }

    #[inline]
    fn ask(&mut self, job: Job, begins: bool) {
        let facts = self.facts(job, begins);
        self.place(job, State::Asking);
        self.asking.rise(self.now);
        self.list.ask(job, &facts, self.now);
    }

    #[inline]
    fn facts(&self, job: Job, begins: bool) -> Facts {
        let process = &self.processes[job as usize];
        let (priority, nice) = self.ranks[process.command as usize];
        let Some(errand) = process.errand.as_ref().filter(|_| process.on_errand) else {
            return Facts { image_words: 0, pages: 0, priority, nice, begins };
        };
        let pages = self.paged.as_ref().map_or(0, |paged| paged.frames.working_set(job));
        Facts { image_words: errand.image_words, pages, priority, nice, begins }
    }

    /// Admits candidates while the limit and the memory allow.
    #[inline]
    pub(super) fn admit(&mut self) {
        while let Some(job) = self.list.candidate() {
            if !self.unlimited && !self.may_admit(job) {
                return self.looks_from_now_on();
            }
            self.list.admit(job, self.now);
            self.asking.fall(self.now);
            self.eligible.rise(self.now);
            let waited_ns = self.now - self.processes[job as usize].since;
            self.processes[job as usize].ready_wait_ns += waited_ns;
            if !self.unlimited {
                self.eligible_jobs.push(job);
            }
            self.sets_out(job);
        }
        if !self.unlimited {
            self.looks_from_now_on();
        }
    }

    /// `job`, which is eligible, can run, or begins its route.
    #[inline]
    fn sets_out(&mut self, job: Job) {
        let process = &self.processes[job as usize];
        if !process.on_errand && process.stage == UNSTARTED {
            let first = self.first_station[process.command as usize];
            let fate = self.enter_stage(job, first);
            if fate != Fate::Requeues {
                return self.depart(job, fate);
            }
        }
        self.make_ready(job, Why::Admitted);
    }

    fn may_admit(&self, job: Job) -> bool {
        let eligible = self.eligible_jobs.len() as u32;
        let Some(paged) = self.paged.as_ref().filter(|_| matches!(self.machine.limit, Limit::WorkingSets { .. })) else {
            return self.admission.may_admit(eligible, 0, 0, 0);
        };
        let held = self.eligible_jobs.iter().map(|job| u64::from(paged.frames.working_set(*job))).sum();
        self.admission.may_admit(eligible, paged.frames.working_set(job), held, paged.room)
    }

    /// `job` is not eligible any more.
    #[inline]
    pub(super) fn loses_eligibility(&mut self, job: Job) {
        self.eligible.fall(self.now);
        if !self.unlimited {
            let place = self.eligible_jobs.iter().position(|other| *other == job);
            self.eligible_jobs.swap_remove(place.expect("who loses eligibility has it"));
        }
    }

    /// Has the control look at its device from now on, as long as anybody is active.
    fn looks_from_now_on(&mut self) {
        if let Some(every_ns) = self.admission.every_ns().filter(|_| !self.looking && self.active.now() > 0) {
            self.looking = true;
            self.enter_look(every_ns);
        }
    }

    /// The control looks at its device.
    pub(super) fn look(&mut self) {
        self.looking = false;
        if let Limit::DeviceBusy { store, .. } = self.machine.limit {
            let (busy_ns, servers) = self.stores[store].busy(self.now);
            self.admission.look(self.now, busy_ns, servers, self.list.asking());
        }
        self.admit();
    }
}
