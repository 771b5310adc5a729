//! A level of memory whose pages are replaced by least recent use over all processes: core memory, or a paging device.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::headway::HeadwayLaw;
use super::past::WorkHistory;
use crate::disciplines::ProcessId;

/// A level of memory, and the pages that each process holds in it.
///
/// `by_age` has one valid entry for each process that holds pages. Its time is not later than the last use of the oldest page.
/// Work makes pages younger, which is corrected when an entry comes to the top.
#[derive(Clone, Debug)]
pub struct LruLevel {
    room: u32,
    free: u32,
    holdings: Vec<LevelHolding>,
    by_age: BinaryHeap<Reverse<(u64, ProcessId, u32)>>,
}

/// The pages of a process on a level.
#[derive(Clone, Copy, Debug, Default)]
struct LevelHolding {
    /// Pages that the command uses.
    useful: u32,
    /// Pages from earlier commands, which are taken first.
    old: u32,
    /// The earliest last use of the old pages, which are spread evenly over time.
    old_from: u64,
    /// The latest last use of the old pages.
    old_until: u64,
    /// The number of old pages over which this time is spread.
    old_most: u32,
    /// The number of the process's valid entry, and the time of that entry.
    entry: u32,
    entered: Option<u64>,
}

impl LevelHolding {
    /// Last use of the oldest page, by the clock.
    fn oldest(&self, past: &WorkHistory, law: &HeadwayLaw) -> u64 {
        let oldest_useful = past.clock_at(past.work - law.age(f64::from(self.useful)));
        if self.old == 0 { oldest_useful } else { self.oldest_old().min(oldest_useful) }
    }

    fn oldest_old(&self) -> u64 {
        let span = (self.old_until - self.old_from) as f64;
        let young = f64::from(self.old_most - self.old) / f64::from(self.old_most);
        self.old_from + (span * young) as u64
    }

    /// Makes this number of useful pages, last used between these times of the clock, old pages.
    fn retire(&mut self, count: u32, from: u64, until: u64) {
        self.old_from = if self.old > 0 { from.min(self.oldest_old()) } else { from };
        self.old_until = until.max(self.old_from);
        self.useful -= count;
        self.old += count;
        self.old_most = self.old;
    }

    fn is_entered(&self, entry: u32) -> bool {
        self.entered.is_some() && self.entry == entry
    }

    fn lose_oldest(&mut self) {
        if self.old > 0 {
            self.old -= 1;
        } else {
            self.useful -= 1;
        }
    }
}

impl LruLevel {
    /// A free level with room for this number of pages.
    pub fn new(room: u32) -> LruLevel {
        assert!(room > 0, "a level of memory has room");
        LruLevel { room, free: room, holdings: Vec::new(), by_age: BinaryHeap::new() }
    }

    /// Free room, in pages.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Number of pages of all processes.
    pub(crate) fn held_by_all(&self) -> u32 {
        self.room - self.free
    }

    /// Number of pages of `pid`.
    pub fn held(&self, pid: ProcessId) -> u32 {
        self.holdings.get(pid as usize).map_or(0, |holding| holding.useful + holding.old)
    }

    /// Number of pages of `pid` that its command uses.
    pub(crate) fn useful(&self, pid: ProcessId) -> u32 {
        self.holdings.get(pid as usize).map_or(0, |holding| holding.useful)
    }

    /// Keeps the share `common` of the useful pages of `pid` as useful, and at most `most`; the others become old.
    pub fn keep(&mut self, pid: ProcessId, common: f64, most: u32, past: &WorkHistory, law: &HeadwayLaw) {
        if self.holdings.len() <= pid as usize {
            self.holdings.resize(pid as usize + 1, LevelHolding::default());
        }
        let holding = &mut self.holdings[pid as usize];
        let kept = ((f64::from(holding.useful) * common).round() as u32).min(most);
        if kept < holding.useful {
            let from = past.clock_at(past.work - law.age(f64::from(holding.useful)));
            holding.retire(holding.useful - kept, from, past.clock_at(past.work));
        }
    }

    /// Makes one of the useful pages of `pid`, which is used at `now`, an old page.
    pub(crate) fn retire(&mut self, pid: ProcessId, now: u64) {
        self.holdings[pid as usize].retire(1, now, now);
    }

    /// Brings in a page of `pid`, and returns the process that loses one if there is no room.
    pub fn bring<'a>(
        &mut self,
        pid: ProcessId,
        past: impl Fn(ProcessId) -> &'a WorkHistory,
        law: &HeadwayLaw,
    ) -> Option<ProcessId> {
        let victim = (self.free == 0).then(|| self.take_oldest(&past, law));
        self.free -= u32::from(victim.is_none());
        let holding = &mut self.holdings[pid as usize];
        holding.useful += 1;
        let oldest = holding.oldest(past(pid), law);
        if holding.entered.is_none_or(|entered| oldest < entered) {
            self.enter(pid, oldest);
        }
        victim
    }

    fn enter(&mut self, pid: ProcessId, oldest: u64) {
        let holding = &mut self.holdings[pid as usize];
        holding.entry = holding.entry.wrapping_add(1);
        holding.entered = Some(oldest);
        self.by_age.push(Reverse((oldest, pid, holding.entry)));
        if self.by_age.len() > 2 * self.holdings.len() + 64 {
            let holdings = &self.holdings;
            self.by_age.retain(|Reverse((_, pid, entry))| holdings[*pid as usize].is_entered(*entry));
        }
    }

    /// Takes the least recently used page, and returns its process.
    fn take_oldest<'a>(&mut self, past: &impl Fn(ProcessId) -> &'a WorkHistory, law: &HeadwayLaw) -> ProcessId {
        loop {
            let Reverse((entered, pid, entry)) = self.by_age.pop().expect("when no room is free, a process holds pages");
            let holding = &mut self.holdings[pid as usize];
            if !holding.is_entered(entry) {
                continue;
            }
            holding.entered = None;
            let oldest = holding.oldest(past(pid), law);
            if oldest > entered && self.by_age.peek().is_some_and(|Reverse(next)| (oldest, pid) > (next.0, next.1)) {
                self.enter(pid, oldest);
                continue;
            }
            holding.lose_oldest();
            if holding.useful + holding.old > 0 {
                let oldest = holding.oldest(past(pid), law);
                self.enter(pid, oldest);
            }
            return pid;
        }
    }

    /// Frees the pages of `pid`, which has ended.
    pub fn leave(&mut self, pid: ProcessId) {
        if let Some(holding) = self.holdings.get_mut(pid as usize) {
            self.free += holding.useful + holding.old;
            *holding = LevelHolding { entry: holding.entry.wrapping_add(1), ..LevelHolding::default() };
        }
    }
}
