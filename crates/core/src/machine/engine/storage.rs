//! Requests to stores: for pages, programs, and whatever else commands and routes ask for.

use super::clockwork::Clockwork;
use super::errand::Aim;
use super::process::State;
use super::processor::{Doing, NOBODY};
use super::work::Fate;
use crate::machine::device::{Device, Request, Storage};
use crate::machine::frames::{Fault, Frames};
use crate::machine::meters::{Category, Level, StoreMeter};
use crate::machine::ready_list::{Job, ReadyList, Why};
use crate::machine::spec::{Behind, Machine, Residence};
use crate::random::{Purpose, Stream};

/// Bits of a request's id that are the process's number; above it is the process's generation.
const JOB_BITS: u32 = 22;
const GENERATIONS: u16 = 1 << (32 - JOB_BITS);
/// The id of a request that nobody waits for: the last generation is never used.
const UNAWAITED: u32 = u32::MAX;
/// Words of a request, where the machine has no pages.
const RECORD_WORDS: u64 = 1024;

/// A store and its meters.
#[derive(Clone, Debug)]
pub struct Storing {
    device: Storage,
    stream: Stream,
    requests: u64,
    length: Level,
}

impl Storing {
    /// All stores of `machine`.
    pub fn all(machine: &Machine, seed: u64) -> Vec<Storing> {
        let store = |(number, store): (usize, &crate::machine::spec::Store)| Storing {
            device: Storage::new(&store.kind),
            stream: Stream::new(seed, number as u32 + 1, Purpose::Machine),
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

/// Demand paging: the frames, and where pages come from.
#[derive(Clone, Debug)]
pub struct Paged {
    /// The frames.
    pub frames: Frames,
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

    /// Work of `job` until its next page fault.
    pub fn work_to_fault(&mut self, job: Job) -> Option<u64> {
        self.frames.work_to_fault(job, &mut self.stream)
    }
}

/// The id of a request of `job`, in this generation of its.
fn id_of(job: Job, generation: u16) -> u32 {
    u32::from(generation) << JOB_BITS | job
}

/// The generation after this one.
pub fn next_generation(generation: u16) -> u16 {
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
        self.owe_interrupt();
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

    /// A frame for the page that `job` misses.
    pub(super) fn take_frame(&mut self, job: Job) -> Fault {
        let paged = self.paged.as_mut().expect("page faults are of machines with demand paging");
        paged.frames.fault(job, self.now, &mut paged.stream)
    }

    /// The page of `job` is asked for, and what has to go for it is written.
    fn waits_for_page(&mut self, job: Job, fault: Fault) {
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
        self.loading += 1;
        self.place(job, State::Loading);
        let moves = [(moved.out_words, false, true), (moved.in_words, moved.from_first, false)];
        self.moving.extend(moves.into_iter().filter(|(words, ..)| *words > 0));
        self.goes_on_loading(job);
        true
    }

    /// The next move for the program of `job`; after the last one, it runs.
    fn goes_on_loading(&mut self, job: Job) {
        let Some((words, from_first, write)) = self.moving.pop_front() else { return self.is_loaded(job) };
        let Residence::Swapping(swapping) = &self.machine.residence else { unreachable!("only a machine that swaps loads") };
        let store = swapping.first.filter(|_| from_first).unwrap_or(swapping.store);
        let id = id_of(job, self.processes[job as usize].generation);
        self.submit(store, Request { id, words, service_ns: None, write });
    }

    fn is_loaded(&mut self, job: Job) {
        let loaded_ns = self.place(job, State::Running);
        self.loading -= 1;
        self.page_has_come(job, loaded_ns);
        let p = self.processes[job as usize].processor as usize;
        debug_assert!(self.processors[p].job == job && self.processors[p].job != NOBODY);
        self.carry_on(p);
    }
}
