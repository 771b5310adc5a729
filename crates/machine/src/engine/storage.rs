//! Requests to stores, for pages, programs, and whatever else commands and routes ask for: given, served, and waited for.

use super::clockwork::Clockwork;
use super::process::State;
use super::work::Fate;
use crate::devices::{Device, Request, Storage};
use crate::disciplines::{Job, ReadyList, Why};
use crate::meters::{Level, StoreMeter};
use crate::spec::Machine;
use loadgo_core::random::{Purpose, Stream};

/// Bits of a request's id that are the process's number; above it is the process's generation.
const JOB_BITS: u32 = 22;
const GENERATIONS: u16 = 1 << (32 - JOB_BITS);
/// The id of a request that nobody waits for: the last generation is never used.
pub(crate) const UNAWAITED: u32 = u32::MAX;
/// Words of a request, where the machine has no pages.
const RECORD_WORDS: u64 = 1024;

/// A store and its meters.
#[derive(Clone, Debug)]
pub(crate) struct Storing {
    device: Storage,
    stream: Stream,
    interrupts: bool,
    requests: u64,
    length: Level,
}

impl Storing {
    /// All stores of `machine`.
    pub fn all(machine: &Machine, seed: u64) -> Vec<Storing> {
        let store = |(number, store): (usize, &crate::spec::Store)| Storing {
            device: Storage::new(&store.kind),
            stream: Stream::new(seed, number as u32 + 1, Purpose::Machine),
            interrupts: store.interrupts,
            requests: 0,
            length: Level::default(),
        };
        machine.stores.iter().enumerate().map(store).collect()
    }

    /// Its meters at `now`.
    pub fn meter(&self, now: u64) -> StoreMeter {
        let length = self.length.at(now);
        StoreMeter {
            requests: self.requests,
            busy_ns: self.device.busy_ns(now),
            servers: self.device.servers(),
            length: length.now,
            length_ns: length.integral_ns,
        }
    }

    /// Service given until `now`, and how many servers there are.
    pub fn busy(&self, now: u64) -> (u64, u32) {
        (self.device.busy_ns(now), self.device.servers())
    }
}

/// The id of a request of `job`, in this generation of its.
pub(crate) fn id_of(job: Job, generation: u16) -> u32 {
    u32::from(generation) << JOB_BITS | job
}

/// The generation after this one.
pub(crate) fn next_generation(generation: u16) -> u16 {
    (generation + 1) % (GENERATIONS - 1)
}

impl<L: ReadyList> Clockwork<L> {
    /// Gives `store` a request.
    #[inline]
    pub(super) fn submit(&mut self, store: usize, request: Request) {
        let storing = &mut self.stores[store];
        storing.requests += 1;
        storing.length.rise(self.now);
        if let Some(due) = storing.device.submit(request, self.now, &mut storing.stream) {
            self.enter_served(store, due.server, due.at);
        }
    }

    /// The server of `store` has served.
    #[inline]
    pub(super) fn store_served(&mut self, store: usize, server: u32) {
        let storing = &mut self.stores[store];
        let interrupts = storing.interrupts;
        let (request, due) = storing.device.complete(server, self.now, &mut storing.stream);
        if request.is_some() {
            storing.length.fall(self.now);
            self.events += 1;
        }
        if let Some(due) = due {
            self.enter_served(store, due.server, due.at);
        }
        let Some(request) = request else { return };
        let awaited = self.who_awaits(request.id);
        if interrupts {
            self.owe_interrupt();
        }
        if let Some(job) = awaited {
            self.is_given(job);
        }
    }

    /// Whose request that was, if he has not given it up.
    #[inline]
    fn who_awaits(&self, id: u32) -> Option<Job> {
        let job = id & ((1 << JOB_BITS) - 1);
        (id != UNAWAITED && u32::from(self.processes[job as usize].generation) == id >> JOB_BITS).then_some(job)
    }

    /// What `job` has waited for has come.
    #[inline]
    fn is_given(&mut self, job: Job) {
        if self.processes[job as usize].state == State::Loading {
            return self.goes_on_loading(job);
        }
        self.wait_is_over(job);
        if self.processes[job as usize].on_errand {
            return self.make_ready(job, Why::Woken);
        }
        match self.next_stage(job) {
            Fate::Requeues => self.make_ready(job, Why::Woken),
            Fate::Done => self.is_done_off_processor(job),
            fate => self.depart(job, fate),
        }
    }

    /// `job` goes where its fate has it; it has no processor any more.
    #[inline]
    pub(super) fn depart(&mut self, job: Job, fate: Fate) {
        match fate {
            Fate::ToStore { store, service_ns } => {
                self.place(job, State::DiskWait);
                self.disk_waiting += 1;
                let words = self.paged.as_ref().map_or(RECORD_WORDS, |paged| paged.words);
                let id = id_of(job, self.processes[job as usize].generation);
                self.submit(store, Request { id, words, service_ns, write: false });
            }
            Fate::Faults(fault) => self.waits_for_page(job, fault),
            Fate::Done => self.is_over(job, None),
            Fate::Requeues => self.make_ready(job, Why::Woken),
            Fate::Goes => unreachable!("who goes on does not depart"),
        }
    }
}
