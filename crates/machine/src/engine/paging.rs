//! Demand paging: the page frames, and the requests to stores that a missing page takes.

use super::process_table::UNAWAITED_REQUEST;
use crate::devices::Request;
use crate::disciplines::Job;
use crate::frames::{Fault, Frames};
use crate::spec::{Behind, Machine, Residence};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// The most requests that one page fault makes: the page's, a write, and two for a page that moves to the store behind.
const MOST_FAULT_REQUESTS: usize = 4;

/// The page frames, and the stores from which pages come.
#[derive(Clone, Debug)]
pub(super) struct PagingState {
    /// The frames.
    pub frames: Frames,
    /// Draws which page is replaced, and whether it is written; for all processes together.
    stream: RandomStream,
    store: usize,
    behind: Option<Behind>,
    dirty: f64,
    /// Words of a page.
    pub page_words: u64,
    /// Frames for processes.
    pub room: u32,
}

impl PagingState {
    /// The frames of `machine`, free, if it has demand paging; `level` processes may be eligible at once.
    pub fn from_machine(machine: &Machine, level: u32, seed: u64) -> Option<PagingState> {
        let Residence::Paging(paging) = &machine.residence else { return None };
        let limit = Some(level).filter(|level| *level != u32::MAX);
        Some(PagingState {
            frames: Frames::new(paging, limit, machine.processors.speed),
            stream: RandomStream::new(seed, 0, StreamPurpose::Machine),
            store: paging.store,
            behind: paging.behind,
            dirty: paging.dirty,
            page_words: u64::from(paging.frame_words),
            room: paging.frames - paging.wired,
        })
    }

    /// Takes a frame for the page that `job` misses.
    #[inline]
    pub fn take_frame(&mut self, job: Job, now: u64) -> Fault {
        self.frames.fault(job, now, &mut self.stream)
    }

    /// The requests of a page fault with their stores, in order: the page under this id, then the writes of pages that go.
    #[inline]
    pub fn fault_requests(&mut self, fault: Fault, id: u32) -> [Option<(usize, Request)>; MOST_FAULT_REQUESTS] {
        let (words, device) = (self.page_words, self.store);
        let behind = self.behind.filter(|_| fault.behind).map(|behind| behind.store);
        let pushed_out = behind.is_some() && self.dirty > 0.0 && self.stream.unit() < self.dirty;
        let read = Request { id, words, service_ns: None, write: false };
        let write = Request { id: UNAWAITED_REQUEST, words, service_ns: None, write: true };
        [
            Some((behind.unwrap_or(device), read)),
            fault.write.then_some((device, write)),
            behind.map(|_| (device, write)),
            behind.filter(|_| pushed_out).map(|store| (store, write)),
        ]
    }
}
