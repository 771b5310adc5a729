//! A level of memory that is replaced by least recent use over all processes: core memory, or the paging device before a disk.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::headway::Law;
use super::past::Past;
use crate::disciplines::Job;

/// So many pages, and how many of them each process has.
///
/// `by_age` has one valid entry for each process that holds pages, at a time that is not later than its oldest page's last use:
/// work makes pages younger, and that is put right when an entry comes to the top.
#[derive(Clone, Debug)]
pub struct Level {
    room: u32,
    free: u32,
    holdings: Vec<Holding>,
    by_age: BinaryHeap<Reverse<(u64, Job, u32)>>,
}

/// What a process holds on a level.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    /// Pages that are of use to its command.
    useful: u32,
    /// Others, from commands before; they go first.
    old: u32,
    /// The last uses of the old pages are spread from here …
    old_from: u64,
    /// … to here …
    old_until: u64,
    /// … when there were so many.
    old_most: u32,
    /// The number of its valid entry, and the time that is entered there.
    entry: u32,
    entered: Option<u64>,
}

impl Holding {
    /// When the oldest page was last used, on the clock.
    fn oldest(&self, past: &Past, law: &Law) -> u64 {
        let of_use = past.clock_at(past.work - law.age(f64::from(self.useful)));
        if self.old == 0 { of_use } else { self.oldest_old().min(of_use) }
    }

    fn oldest_old(&self) -> u64 {
        let span = (self.old_until - self.old_from) as f64;
        let young = f64::from(self.old_most - self.old) / f64::from(self.old_most);
        self.old_from + (span * young) as u64
    }

    /// So many useful pages, last used between these times of the clock, are of no use any more.
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

impl Level {
    /// Room for so many pages, all of it free.
    pub fn new(room: u32) -> Level {
        assert!(room > 0, "a level of memory has room");
        Level { room, free: room, holdings: Vec::new(), by_age: BinaryHeap::new() }
    }

    /// Room that nobody holds.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// The pages of all.
    pub(crate) fn held_by_all(&self) -> u32 {
        self.room - self.free
    }

    /// The pages of `job`.
    pub fn held(&self, job: Job) -> u32 {
        self.holdings.get(job as usize).map_or(0, |holding| holding.useful + holding.old)
    }

    /// Those of them that its command uses.
    pub(crate) fn useful(&self, job: Job) -> u32 {
        self.holdings.get(job as usize).map_or(0, |holding| holding.useful)
    }

    /// Of the useful pages of `job`, the part `common` and at most `most` are of use from now on.
    pub fn keep(&mut self, job: Job, common: f64, most: u32, past: &Past, law: &Law) {
        if self.holdings.len() <= job as usize {
            self.holdings.resize(job as usize + 1, Holding::default());
        }
        let holding = &mut self.holdings[job as usize];
        let kept = ((f64::from(holding.useful) * common).round() as u32).min(most);
        if kept < holding.useful {
            let from = past.clock_at(past.work - law.age(f64::from(holding.useful)));
            holding.retire(holding.useful - kept, from, past.clock_at(past.work));
        }
    }

    /// One of the useful pages of `job`, used at `now`, will not be of use again.
    pub(crate) fn retire(&mut self, job: Job, now: u64) {
        self.holdings[job as usize].retire(1, now, now);
    }

    /// A page of `job` comes in; who loses one for it, when there is no room.
    pub fn bring<'a>(&mut self, job: Job, past: impl Fn(Job) -> &'a Past, law: &Law) -> Option<Job> {
        let victim = (self.free == 0).then(|| self.take_oldest(&past, law));
        self.free -= u32::from(victim.is_none());
        let holding = &mut self.holdings[job as usize];
        holding.useful += 1;
        let oldest = holding.oldest(past(job), law);
        if holding.entered.is_none_or(|entered| oldest < entered) {
            self.enter(job, oldest);
        }
        victim
    }

    fn enter(&mut self, job: Job, oldest: u64) {
        let holding = &mut self.holdings[job as usize];
        holding.entry = holding.entry.wrapping_add(1);
        holding.entered = Some(oldest);
        self.by_age.push(Reverse((oldest, job, holding.entry)));
        if self.by_age.len() > 2 * self.holdings.len() + 64 {
            let holdings = &self.holdings;
            self.by_age.retain(|Reverse((_, job, entry))| holdings[*job as usize].is_entered(*entry));
        }
    }

    /// Takes the page that was used the longest ago; whose it was.
    fn take_oldest<'a>(&mut self, past: &impl Fn(Job) -> &'a Past, law: &Law) -> Job {
        loop {
            let Reverse((entered, job, entry)) = self.by_age.pop().expect("when no room is free, somebody holds pages");
            let holding = &mut self.holdings[job as usize];
            if !holding.is_entered(entry) {
                continue;
            }
            holding.entered = None;
            let oldest = holding.oldest(past(job), law);
            if oldest > entered && self.by_age.peek().is_some_and(|Reverse(next)| (oldest, job) > (next.0, next.1)) {
                self.enter(job, oldest);
                continue;
            }
            holding.lose_oldest();
            if holding.useful + holding.old > 0 {
                let oldest = holding.oldest(past(job), law);
                self.enter(job, oldest);
            }
            return job;
        }
    }

    /// `job` is gone, and its pages with it.
    pub fn leave(&mut self, job: Job) {
        if let Some(holding) = self.holdings.get_mut(job as usize) {
            self.free += holding.useful + holding.old;
            *holding = Holding { entry: holding.entry.wrapping_add(1), ..Holding::default() };
        }
    }
}
