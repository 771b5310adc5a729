//! Demand paging: the page frames, and the requests to stores that a missing page takes.

use super::process_table::UNAWAITED_REQUEST;
use crate::devices::DeviceRequest;
use crate::disciplines::ProcessId;
use crate::frames::{Fault, Frames};
use crate::spec::{BackingStore, Machine, Residence};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Largest number of requests of one page fault: the page, a write, and two for a page that moves to the store behind.
const MOST_FAULT_REQUESTS: usize = 4;

/// The page frames, and the stores from which pages come.
#[derive(Clone, Debug)]
pub(super) struct PagingState {
    /// The frames.
    pub frames: Frames,
    /// Random numbers for the choice of a page to replace and for its write, for all processes together.
    stream: RandomStream,
    store: usize,
    behind: Option<BackingStore>,
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

    /// Takes a frame for the page that `pid` misses.
    #[inline]
    pub fn take_frame(&mut self, pid: ProcessId, now: u64) -> Fault {
        self.frames.fault(pid, now, &mut self.stream)
    }

    /// The requests of a page fault with their stores, in order: the page under this id, then the writes of pages that go.
    #[inline]
    pub fn fault_requests(&mut self, fault: Fault, id: u32) -> [Option<(usize, DeviceRequest)>; MOST_FAULT_REQUESTS] {
        let (words, device) = (self.page_words, self.store);
        let behind = self.behind.filter(|_| fault.behind).map(|behind| behind.store);
        let pushed_out = behind.is_some() && self.dirty > 0.0 && self.stream.unit() < self.dirty;
        let read = DeviceRequest { id, words, service_ns: None, write: false };
        let write = DeviceRequest { id: UNAWAITED_REQUEST, words, service_ns: None, write: true };
        [
            Some((behind.unwrap_or(device), read)),
            fault.write.then_some((device, write)),
            behind.map(|_| (device, write)),
            behind.filter(|_| pushed_out).map(|store| (store, write)),
        ]
    }
}
