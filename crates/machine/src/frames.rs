//! Demand paging: when a process has its next page fault, and whose page goes for it.
//!
//! A process that holds x of its pages works for `headway(x)` on the average until it refers to one that it does not hold. By the
//! same law, read as Denning does (Working sets past and present, 1980, equation dw/dT = miss rate), it refers to w different pages
//! in a span T of its own processor time with dw/dT = 1/headway(w): so the page that is x-th by last use was used T(x) = ∫₀ˣ headway
//! ago, and no page need be followed one by one. What is oldest over all processes is found by looking T(x) back along each
//! process's own processor time, to the clock's time at that moment. A process that does not run grows old as the clock goes: it
//! keeps its pages while its user thinks, until others take them.

use super::disciplines::Job;
use super::spec;
use hand::Hand;
use headway::Law;
use level::Level;
use loadgo_core::random::RandomStream;
use past::Past;

mod hand;
pub mod headway;
mod level;
mod past;

/// What a page fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Who loses a page for it, if no frame was free; it may be the process itself.
    pub victim: Option<Job>,
    /// Whether that page must be written out.
    pub write: bool,
    /// Whether the page wanted is no longer on the paging device, and comes from what is behind it.
    pub behind: bool,
}

/// Pages that have come and gone since the machine's beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Brought in.
    pub brought: u64,
    /// Taken by replacement; of equal shares each page that comes takes the place of one of the process's own.
    pub taken: u64,
}

/// The page frames, and what is known of each process's pages.
#[derive(Clone, Debug)]
pub struct Frames {
    law: Law,
    speed: f64,
    dirty: f64,
    processes: Vec<Process>,
    core: Core,
    device: Option<Level>,
    /// By process; they outlast it.
    moves: Vec<Moves>,
    device_moves: Moves,
}

/// Who loses a page.
#[derive(Clone, Debug)]
enum Core {
    /// The least recently used of all.
    Lru(Level),
    /// Second chance.
    Clock(Hand),
    /// Nobody: all have this share for good.
    Equal { share: f64 },
}

/// A process.
#[derive(Clone, Debug, Default)]
struct Process {
    /// The pages of its command.
    pages: u32,
    /// Its processor time, on the clock.
    past: Past,
    /// What is left until the next fault, in headways: exponential with mean 1 when it begins. It can be drawn once and holds
    /// whatever the process gains or loses meanwhile.
    left: Option<f64>,
    /// Its processor time when the interaction began.
    began: f64,
    /// Pages referred to in the interaction before.
    referred: f64,
}

impl Frames {
    /// The frames of a machine of this `speed`, free; `limit` is the multiprogramming limit, for equal shares.
    pub fn new(paging: &spec::Paging, limit: Option<u32>, speed: f64) -> Frames {
        assert!(paging.wired < paging.frames, "the supervisor leaves frames for processes");
        assert!(speed > 0.0, "a processor has a speed");
        let room = paging.frames - paging.wired;
        let device = paging.behind.map(|behind| Level::new(behind.pages));
        let deepest = room.max(paging.behind.map_or(0, |behind| behind.pages));
        let core = match paging.replacement {
            spec::Replacement::Lru => Core::Lru(Level::new(room)),
            spec::Replacement::Clock => Core::Clock(Hand::new(room)),
            spec::Replacement::Equal => Core::Equal { share: f64::from(room) / f64::from(limit.unwrap_or(1)) },
        };
        let law = Law::new(&paging.headway, deepest);
        let (moves, device_moves) = (Vec::new(), Moves::default());
        Frames { law, speed, dirty: paging.dirty, processes: Vec::new(), core, device, moves, device_moves }
    }

    /// `job` begins a command of so many `pages` (0: faults never end by themselves). Of the pages of use that it holds, the part
    /// `common` is of use to this command too, or all if it is the same command; the others are taken before any that are.
    pub fn begin(&mut self, job: Job, pages: u32, common: f64, same_command: bool, now: u64) {
        if self.processes.len() <= job as usize {
            self.processes.resize_with(job as usize + 1, Process::default);
            self.moves.resize(job as usize + 1, Moves::default());
        }
        let common = if same_command { 1.0 } else { common };
        let process = &mut self.processes[job as usize];
        process.past.is_born(now);
        process.referred = self.law.reach(process.past.work - process.began);
        process.began = process.past.work;
        process.pages = if pages == 0 { u32::MAX } else { pages };
        let (past, most) = (&process.past, process.pages);
        match &mut self.core {
            Core::Lru(level) => level.keep(job, common, most, past, &self.law),
            Core::Clock(hand) => hand.keep(job, common, most, past),
            Core::Equal { .. } => {}
        }
        if let Some(level) = &mut self.device {
            level.keep(job, common, most, past, &self.law);
        }
    }

    /// How long `job` works until its next page fault if it keeps what it holds (ns of this machine); `None`: for good. It may be
    /// asked at any time: the same fault is meant until it has come, nearer or farther by what the process has lost or gained.
    pub fn work_to_fault(&mut self, job: Job, stream: &mut RandomStream) -> Option<u64> {
        let headway_ns = self.headway_ns(job)?;
        let left = self.processes[job as usize].left.get_or_insert_with(|| stream.exponential());
        Some(crate::devices::service::whole_ns(*left * headway_ns))
    }

    /// The mean work between faults with the pages that `job` holds now, on this machine; `None` when it holds all.
    fn headway_ns(&self, job: Job) -> Option<f64> {
        let useful = self.useful(job);
        let pages = self.processes[job as usize].pages;
        (pages == u32::MAX || useful < f64::from(pages)).then(|| self.law.headway(useful) / self.speed)
    }

    fn useful(&self, job: Job) -> f64 {
        match &self.core {
            Core::Lru(level) => f64::from(level.useful(job)),
            Core::Clock(hand) => f64::from(hand.useful(job)),
            Core::Equal { share } => *share,
        }
    }

    /// `job` has worked for `work_ns` of this machine's time until `now`.
    pub fn ran(&mut self, job: Job, work_ns: u64, now: u64) {
        let headway_ns = self.headway_ns(job);
        let on_device = self.device.as_ref().map_or(0, |level| level.useful(job));
        let deepest = self.useful(job).max(f64::from(on_device)) + 1.0;
        let process = &mut self.processes[job as usize];
        if let (Some(left), Some(headway_ns)) = (&mut process.left, headway_ns) {
            *left = (*left - work_ns as f64 / headway_ns).max(0.0);
        }
        if !matches!(self.core, Core::Equal { .. }) {
            let began = now.saturating_sub(work_ns);
            process.past.add(work_ns as f64 * self.speed, began, now, self.law.age(deepest));
        } else {
            process.past.work += work_ns as f64 * self.speed;
        }
    }

    /// `job` refers to a page that it does not hold: a frame is taken for it. When it holds all pages of its command, it is a page
    /// of something else, used once.
    pub fn fault(&mut self, job: Job, now: u64, stream: &mut RandomStream) -> Fault {
        let headway_ns = self.law.headway(self.useful(job));
        let process = &mut self.processes[job as usize];
        process.left = None;
        process.past.is_born(now);
        let behind = self.comes_from_behind(job, headway_ns, stream);
        let past = |job: Job| &self.processes[job as usize].past;
        let victim = match &mut self.core {
            Core::Lru(level) => level.bring(job, past, &self.law),
            Core::Clock(hand) => hand.bring(job, past, &self.law, stream),
            Core::Equal { .. } => None,
        };
        self.retire_surplus(job, now);
        let loses = victim.or(self.has_shares().then_some(job));
        self.moves[job as usize].brought += 1;
        if let Some(loses) = loses {
            self.moves[loses as usize].taken += 1;
        }
        let replaces = loses.is_some();
        Fault { victim, write: replaces && self.dirty > 0.0 && stream.unit() < self.dirty, behind }
    }

    fn retire_surplus(&mut self, job: Job, now: u64) {
        let process = &self.processes[job as usize];
        match &mut self.core {
            Core::Lru(level) if level.useful(job) > process.pages => level.retire(job, now),
            Core::Clock(hand) if hand.useful(job) > process.pages => hand.retire(job, &process.past),
            _ => {}
        }
    }

    /// Whether the missing page is not on the paging device either; then it is brought there too. The device misses as often as
    /// core memory of its size would: of the faults at `headway_ns`, so many as go deeper than what the process has on the device.
    fn comes_from_behind(&mut self, job: Job, headway_ns: f64, stream: &mut RandomStream) -> bool {
        let Some(level) = &mut self.device else { return false };
        let useful = level.useful(job);
        let process = &self.processes[job as usize];
        let missed = useful < process.pages && stream.unit() * self.law.headway(f64::from(useful)) < headway_ns;
        if missed {
            let victim = level.bring(job, |job| &self.processes[job as usize].past, &self.law);
            self.device_moves.brought += 1;
            self.device_moves.taken += u64::from(victim.is_some());
        }
        missed
    }

    /// `job` is gone: its frames are free.
    pub fn leave(&mut self, job: Job) {
        if self.processes.len() <= job as usize {
            return;
        }
        self.processes[job as usize] = Process::default();
        match &mut self.core {
            Core::Lru(level) => level.leave(job),
            Core::Clock(hand) => hand.leave(job),
            Core::Equal { .. } => {}
        }
        if let Some(level) = &mut self.device {
            level.leave(job);
        }
    }

    /// Frames that `job` holds; of equal shares the whole pages of its share.
    pub fn held(&self, job: Job) -> u32 {
        match &self.core {
            Core::Lru(level) => level.held(job),
            Core::Clock(hand) => hand.held(job),
            Core::Equal { share } => *share as u32,
        }
    }

    /// Whether each process has its share for good, and nobody loses pages to others.
    pub(crate) fn has_shares(&self) -> bool {
        matches!(self.core, Core::Equal { .. })
    }

    /// The pages of `job` that have come and gone.
    pub fn moves(&self, job: Job) -> Moves {
        self.moves.get(job as usize).copied().unwrap_or_default()
    }

    /// The paging device's pages in use, where it is the first of two levels, and those that have come and gone there.
    pub fn device(&self) -> Option<(u32, Moves)> {
        self.device.as_ref().map(|level| (level.held_by_all(), self.device_moves))
    }

    /// The pages of `job` on the paging device, where that is the first of two levels.
    pub fn on_device(&self, job: Job) -> Option<u32> {
        self.device.as_ref().map(|level| level.held(job))
    }

    /// The pages that `job` has referred to in this interaction or in the one before, whichever are more, as its law says: what
    /// it can be expected to need. 1 for a process that has not worked yet.
    pub fn working_set(&self, job: Job) -> u32 {
        let Some(process) = self.processes.get(job as usize) else { return 1 };
        let referred = self.law.reach(process.past.work - process.began).max(process.referred);
        (referred as u32).clamp(1, process.pages.max(1))
    }

    /// Frames that nobody holds; with equal shares none.
    pub fn free(&self) -> u32 {
        match &self.core {
            Core::Lru(level) => level.free(),
            Core::Clock(hand) => hand.free(),
            Core::Equal { .. } => 0,
        }
    }
}
