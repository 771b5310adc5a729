//! Demand paging: the time of a process's next page fault, and the page that is taken for it.
//!
//! A process that holds x of its pages works for `headway(x)` on average until it refers to a page that it does not hold. The
//! same law gives the pages that it uses (Denning, Working sets past and present, 1980, equation dw/dT = miss rate). In a span T
//! of its processor time, a process refers to w different pages, with dw/dT = 1/headway(w). So the page with rank x by last use
//! was used T(x) = ∫₀ˣ headway ago, and the model need not follow single pages. The oldest page of all processes is found by
//! counting T(x) back along each process's processor time, and converting the result into the clock's time. Pages of a process
//! that does not run age with the clock. A process keeps its pages while its user thinks, until others take them.

use super::disciplines::ProcessId;
use super::spec;
use hand::Hand;
use headway::HeadwayLaw;
use level::LruLevel;
use loadgo_core::random::RandomStream;
use past::WorkHistory;

mod hand;
pub mod headway;
mod level;
mod past;

/// The effects of a page fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The process that loses a page, if no frame was free; it may be the faulting process itself.
    pub victim: Option<ProcessId>,
    /// Whether that page must be written out.
    pub write: bool,
    /// Whether the missing page is no longer on the paging device, and comes from the store behind it.
    pub behind: bool,
}

/// Numbers of moved pages since the machine's beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// Pages brought in.
    pub brought: u64,
    /// Pages taken by replacement. With equal shares, each page that comes replaces a page of the same process.
    pub taken: u64,
}

/// The page frames, and the state of each process's pages.
#[derive(Clone, Debug)]
pub struct Frames {
    law: HeadwayLaw,
    speed: f64,
    dirty: f64,
    processes: Vec<PagedProcess>,
    core: Replacer,
    device: Option<LruLevel>,
    /// Moved pages by process number, also after the process has ended.
    moves: Vec<Moves>,
    device_moves: Moves,
}

/// The rule of page replacement, with its state.
#[derive(Clone, Debug)]
enum Replacer {
    /// The least recently used page of all processes.
    Lru(LruLevel),
    /// Second chance.
    Clock(Hand),
    /// The process's own page: each process has this share of the frames for good.
    Equal { share: f64 },
}

/// The paging state of a process.
#[derive(Clone, Debug)]
struct PagedProcess {
    /// Number of pages of the command.
    pages: u32,
    /// Processor time between faults of the command, over what the law says.
    headway_factor: f64,
    /// Processor time over the clock's time. That of a command is divided by its factor, so that one law holds for all.
    past: WorkHistory,
    /// Work until the next fault, in headways: exponential with mean 1 at its beginning.
    ///
    /// It is drawn once, and stays valid when the process gains or loses pages.
    left: Option<f64>,
    /// Processor time when the interaction began.
    began: f64,
    /// Number of pages referred to in the interaction before.
    referred: f64,
}

impl Default for PagedProcess {
    fn default() -> PagedProcess {
        let past = WorkHistory::default();
        PagedProcess { pages: 0, headway_factor: 1.0, past, left: None, began: 0.0, referred: 0.0 }
    }
}

impl Frames {
    /// The frames of a machine of this `speed`, free; `limit` is the multiprogramming limit, for equal shares.
    pub fn new(paging: &spec::Paging, limit: Option<u32>, speed: f64) -> Frames {
        assert!(paging.wired < paging.frames, "the supervisor leaves frames for processes");
        assert!(speed > 0.0, "a processor has a speed");
        let room = paging.frames - paging.wired;
        let device = paging.behind.map(|behind| LruLevel::new(behind.pages));
        let deepest = room.max(paging.behind.map_or(0, |behind| behind.pages));
        let core = match paging.replacement {
            spec::Replacement::Lru => Replacer::Lru(LruLevel::new(room)),
            spec::Replacement::Clock => Replacer::Clock(Hand::new(room)),
            spec::Replacement::Equal => Replacer::Equal { share: f64::from(room) / f64::from(limit.unwrap_or(1)) },
        };
        let law = HeadwayLaw::new(&paging.headway, deepest);
        let (moves, device_moves) = (Vec::new(), Moves::default());
        Frames { law, speed, dirty: paging.dirty, processes: Vec::new(), core, device, moves, device_moves }
    }

    /// Lets `pid` begin a command with this number of `pages`; 0 stands for more pages than it can ever hold.
    ///
    /// Of the useful pages that the process holds, the command reuses the share `common`, or all if it is the same command.
    /// Replacement takes the other pages first.
    pub fn begin(&mut self, pid: ProcessId, pages: u32, common: f64, same_command: bool, now: u64) {
        if self.processes.len() <= pid as usize {
            self.processes.resize_with(pid as usize + 1, PagedProcess::default);
            self.moves.resize(pid as usize + 1, Moves::default());
        }
        let common = if same_command { 1.0 } else { common };
        let process = &mut self.processes[pid as usize];
        process.past.is_born(now);
        process.referred = self.law.reach(process.past.work - process.began);
        process.began = process.past.work;
        process.pages = if pages == 0 { u32::MAX } else { pages };
        let (past, most) = (&process.past, process.pages);
        match &mut self.core {
            Replacer::Lru(level) => level.keep(pid, common, most, past, &self.law),
            Replacer::Clock(hand) => hand.keep(pid, common, most, past),
            Replacer::Equal { .. } => {}
        }
        if let Some(level) = &mut self.device {
            level.keep(pid, common, most, past, &self.law);
        }
    }

    /// Lets the command of `pid` work this many times as long between faults as the law says, until its next command.
    pub fn set_headway_factor(&mut self, pid: ProcessId, factor: f64) {
        self.processes[pid as usize].headway_factor = factor;
    }

    /// Work of `pid` until its next page fault with the pages that it holds, in ns of this machine; `None`: without a fault.
    ///
    /// Until the fault comes, each call returns the rest of the same draw, rescaled when the process has lost or gained pages.
    pub fn work_to_fault(&mut self, pid: ProcessId, stream: &mut RandomStream) -> Option<u64> {
        let headway_ns = self.headway_ns(pid)?;
        let left = self.processes[pid as usize].left.get_or_insert_with(|| stream.exponential());
        Some(crate::devices::service::whole_ns(*left * headway_ns))
    }

    /// Mean work between faults with the pages that `pid` holds now, on this machine; `None` if it holds all.
    fn headway_ns(&self, pid: ProcessId) -> Option<f64> {
        let useful = self.useful(pid);
        let process = &self.processes[pid as usize];
        let faults = process.pages == u32::MAX || useful < f64::from(process.pages);
        faults.then(|| self.law.headway(useful) * process.headway_factor / self.speed)
    }

    fn useful(&self, pid: ProcessId) -> f64 {
        match &self.core {
            Replacer::Lru(level) => f64::from(level.useful(pid)),
            Replacer::Clock(hand) => f64::from(hand.useful(pid)),
            Replacer::Equal { share } => *share,
        }
    }

    /// Records that `pid` has worked for `work_ns` of this machine's time until `now`.
    pub fn ran(&mut self, pid: ProcessId, work_ns: u64, now: u64) {
        let headway_ns = self.headway_ns(pid);
        let on_device = self.device.as_ref().map_or(0, |level| level.useful(pid));
        let deepest = self.useful(pid).max(f64::from(on_device)) + 1.0;
        let process = &mut self.processes[pid as usize];
        if let (Some(left), Some(headway_ns)) = (&mut process.left, headway_ns) {
            *left = (*left - work_ns as f64 / headway_ns).max(0.0);
        }
        let work = work_ns as f64 * self.speed / process.headway_factor;
        if !matches!(self.core, Replacer::Equal { .. }) {
            let began = now.saturating_sub(work_ns);
            process.past.add(work, began, now, self.law.age(deepest));
        } else {
            process.past.work += work;
        }
    }

    /// Takes a frame for a page that `pid` refers to and does not hold.
    ///
    /// If the process holds all pages of its command already, the page is one that it uses only once.
    pub fn fault(&mut self, pid: ProcessId, now: u64, stream: &mut RandomStream) -> Fault {
        let headway_ns = self.law.headway(self.useful(pid));
        let process = &mut self.processes[pid as usize];
        process.left = None;
        process.past.is_born(now);
        let behind = self.comes_from_behind(pid, headway_ns, stream);
        let past = |pid: ProcessId| &self.processes[pid as usize].past;
        let victim = match &mut self.core {
            Replacer::Lru(level) => level.bring(pid, past, &self.law),
            Replacer::Clock(hand) => hand.bring(pid, past, &self.law, stream),
            Replacer::Equal { .. } => None,
        };
        self.retire_surplus(pid, now);
        let loser = victim.or(self.has_shares().then_some(pid));
        self.moves[pid as usize].brought += 1;
        if let Some(loser) = loser {
            self.moves[loser as usize].taken += 1;
        }
        let replaces = loser.is_some();
        Fault { victim, write: replaces && self.dirty > 0.0 && stream.unit() < self.dirty, behind }
    }

    fn retire_surplus(&mut self, pid: ProcessId, now: u64) {
        let process = &self.processes[pid as usize];
        match &mut self.core {
            Replacer::Lru(level) if level.useful(pid) > process.pages => level.retire(pid, now),
            Replacer::Clock(hand) if hand.useful(pid) > process.pages => hand.retire(pid, &process.past),
            _ => {}
        }
    }

    /// Whether the missing page is not on the paging device either. Then it is brought there too.
    ///
    /// The device misses as often as core memory of its size would: in the share of faults that is the ratio of both headways.
    fn comes_from_behind(&mut self, pid: ProcessId, headway_ns: f64, stream: &mut RandomStream) -> bool {
        let Some(level) = &mut self.device else { return false };
        let useful = level.useful(pid);
        let process = &self.processes[pid as usize];
        let missed = useful < process.pages && stream.unit() * self.law.headway(f64::from(useful)) < headway_ns;
        if missed {
            let victim = level.bring(pid, |pid| &self.processes[pid as usize].past, &self.law);
            self.device_moves.brought += 1;
            self.device_moves.taken += u64::from(victim.is_some());
        }
        missed
    }

    /// Frees the frames of `pid`, which has ended.
    pub fn leave(&mut self, pid: ProcessId) {
        if self.processes.len() <= pid as usize {
            return;
        }
        self.processes[pid as usize] = PagedProcess::default();
        match &mut self.core {
            Replacer::Lru(level) => level.leave(pid),
            Replacer::Clock(hand) => hand.leave(pid),
            Replacer::Equal { .. } => {}
        }
        if let Some(level) = &mut self.device {
            level.leave(pid);
        }
    }

    /// Frames that `pid` holds; with equal shares, the whole pages of its share.
    pub fn held(&self, pid: ProcessId) -> u32 {
        match &self.core {
            Replacer::Lru(level) => level.held(pid),
            Replacer::Clock(hand) => hand.held(pid),
            Replacer::Equal { share } => *share as u32,
        }
    }

    /// Whether each process has its share for good, and no process loses pages to others.
    pub(crate) fn has_shares(&self) -> bool {
        matches!(self.core, Replacer::Equal { .. })
    }

    /// Numbers of moved pages of `pid`.
    pub fn moves(&self, pid: ProcessId) -> Moves {
        self.moves.get(pid as usize).copied().unwrap_or_default()
    }

    /// The paging device's pages in use, and its numbers of moved pages; `None` without a store behind it.
    pub fn device(&self) -> Option<(u32, Moves)> {
        self.device.as_ref().map(|level| (level.held_by_all(), self.device_moves))
    }

    /// The pages of `pid` on the paging device; `None` without a store behind it.
    pub fn on_device(&self, pid: ProcessId) -> Option<u32> {
        self.device.as_ref().map(|level| level.held(pid))
    }

    /// The working set of `pid`: pages referred to in this interaction or in the one before, whichever are more.
    ///
    /// It is computed from the headway law, and is 1 for a process that has not worked yet.
    pub fn working_set(&self, pid: ProcessId) -> u32 {
        let Some(process) = self.processes.get(pid as usize) else { return 1 };
        let referred = self.law.reach(process.past.work - process.began).max(process.referred);
        (referred as u32).clamp(1, process.pages.max(1))
    }

    /// Free frames; with equal shares none.
    pub fn free(&self) -> u32 {
        match &self.core {
            Replacer::Lru(level) => level.free(),
            Replacer::Clock(hand) => hand.free(),
            Replacer::Equal { .. } => 0,
        }
    }
}
