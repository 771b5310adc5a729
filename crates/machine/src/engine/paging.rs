//! Demand paging: the frames and where pages come from, when a process misses a page, and what it then waits for.

use super::clockwork::Clockwork;
use super::process::State;
use super::storage::{UNAWAITED, id_of};
use crate::devices::Request;
use crate::disciplines::{Job, ReadyList};
use crate::frames::{Fault, Frames};
use crate::spec::{Behind, Machine, Residence};
use loadgo_core::random::{Purpose, Stream};

/// Demand paging: the frames, and where pages come from.
#[derive(Clone, Debug)]
pub(crate) struct Paged {
    /// The frames.
    pub frames: Frames,
    /// What is drawn of pages that go, whosever they are: who loses one, and whether it is written.
    stream: Stream,
    store: usize,
    behind: Option<Behind>,
    dirty: f64,
    /// Words of a page.
    pub words: u64,
    /// Frames for processes.
    pub room: u32,
}

impl Paged {
    /// Of `machine`, where it has demand paging; `level` processes may be eligible at once.
    pub fn of(machine: &Machine, level: u32, seed: u64) -> Option<Paged> {
        let Residence::Paging(paging) = &machine.residence else { return None };
        let limit = Some(level).filter(|level| *level != u32::MAX);
        Some(Paged {
            frames: Frames::new(paging, limit, machine.processors.speed),
            stream: Stream::new(seed, 0, Purpose::Machine),
            store: paging.store,
            behind: paging.behind,
            dirty: paging.dirty,
            words: u64::from(paging.frame_words),
            room: paging.frames - paging.wired,
        })
    }
}

impl<L: ReadyList> Clockwork<L> {
    /// A frame for the page that `job` misses.
    pub(super) fn take_frame(&mut self, job: Job) -> Fault {
        let paged = self.paged.as_mut().expect("page faults are of machines with demand paging");
        paged.frames.fault(job, self.now, &mut paged.stream)
    }

    /// The page of `job` is asked for, and what has to go for it is written.
    pub(super) fn waits_for_page(&mut self, job: Job, fault: Fault) {
        self.place(job, State::PageWait);
        self.page_waiting += 1;
        let id = id_of(job, self.processes[job as usize].generation);
        let paged = self.paged.as_mut().expect("page faults are of machines with demand paging");
        let (words, device) = (paged.words, paged.store);
        let behind = paged.behind.filter(|_| fault.behind).map(|behind| behind.store);
        let pushed_out = behind.is_some() && paged.dirty > 0.0 && paged.stream.unit() < paged.dirty;
        let write = Request { id: UNAWAITED, words, service_ns: None, write: true };
        self.submit(behind.unwrap_or(device), Request { id, words, service_ns: None, write: false });
        if fault.write {
            self.submit(device, write);
        }
        if let Some(store) = behind {
            self.submit(device, write);
            if pushed_out {
                self.submit(store, write);
            }
        }
    }
}
