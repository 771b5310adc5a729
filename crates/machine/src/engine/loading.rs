//! Swapping: the program of the process that is to run is brought in, and what has to go for it is dumped, move by move.

use super::clockwork::Clockwork;
use super::errand::Aim;
use super::process::State;
use super::processor::{Doing, NOBODY};
use super::storage::id_of;
use crate::devices::Request;
use crate::disciplines::{Job, ReadyList};
use crate::meters::Category;
use crate::spec::Residence;

impl<L: ReadyList> Clockwork<L> {
    /// Has the program of `job` moved in on processor `p`, where it is not in core memory; whether it is not.
    pub(super) fn begin_loading(&mut self, p: usize, job: Job) -> bool {
        let process = &mut self.processes[job as usize];
        if !process.on_errand || process.errand().aim == Aim::Creation {
            return false;
        }
        let errand = self.processes[job as usize].errand();
        let (words, fresh) = (errand.image_words, std::mem::take(&mut errand.fresh));
        let core = self.core.as_mut().expect("programs are loaded on machines that swap");
        let moved = core.bring(job, words, fresh);
        if moved.out_words + moved.in_words == 0 {
            return false;
        }
        let processor = &mut self.processors[p];
        processor.close(self.now);
        processor.doing = Doing::Loading;
        processor.category = Category::IdleLoading;
        self.place(job, State::Loading);
        let moves = [(moved.out_words, false, true), (moved.in_words, moved.from_first, false)];
        self.moving.extend(moves.into_iter().filter(|(words, ..)| *words > 0));
        self.goes_on_loading(job);
        true
    }

    /// The next move for the program of `job`; after the last one, it runs.
    pub(super) fn goes_on_loading(&mut self, job: Job) {
        let Some((words, from_first, write)) = self.moving.pop_front() else { return self.is_loaded(job) };
        let Residence::Swapping(swapping) = &self.machine.residence else { unreachable!("only a machine that swaps loads") };
        let store = swapping.first.filter(|_| from_first).unwrap_or(swapping.store);
        let id = id_of(job, self.processes[job as usize].generation);
        self.submit(store, Request { id, words, service_ns: None, write });
    }

    fn is_loaded(&mut self, job: Job) {
        let loaded_ns = self.place(job, State::Running);
        self.page_has_come(job, loaded_ns);
        let p = self.processes[job as usize].processor as usize;
        debug_assert!(self.processors[p].job == job && self.processors[p].job != NOBODY);
        self.carry_on(p);
    }
}
