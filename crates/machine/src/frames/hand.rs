//! The clock algorithm with second chance: a hand goes around the frames, and takes the first page not used since it last passed.
//!
//! The model does not know for each page whether it was used. A process with x pages used w(t) of them in the last t of its
//! processor time. A page that the hand passed t ago is therefore untouched with probability 1 − w(t)/x.

use super::headway::HeadwayLaw;
use super::past::WorkHistory;
use crate::disciplines::ProcessId;
use loadgo_core::random::RandomStream;

/// The frames in a ring with the hand, and the pages that each process holds.
#[derive(Clone, Debug)]
pub(crate) struct Hand {
    frames: Vec<PageFrame>,
    free: Vec<u32>,
    at: usize,
    holdings: Vec<RingHolding>,
}

/// A page frame.
#[derive(Clone, Copy, Debug)]
struct PageFrame {
    owner: ProcessId,
    /// Position of the frame in the owner's list.
    position: u32,
    /// The owner's processor time when the hand last passed; minus infinity if the page has come since.
    seen: f64,
}

/// The frames of a process.
#[derive(Clone, Debug, Default)]
struct RingHolding {
    frames: Vec<u32>,
    /// Number of pages from earlier commands.
    old: u32,
    /// Latest possible last use of these pages, in the process's processor time.
    old_since: f64,
}

/// The use of the page in a frame that the hand reaches.
enum PageUse {
    Used,
    Useful,
    Old,
}

impl RingHolding {
    fn useful(&self) -> u32 {
        self.frames.len() as u32 - self.old
    }

    /// Draws the use of the page in a frame that the hand passed at `seen`. `luck` is a random number, even in 0 to 1.
    fn find(&self, seen: f64, work: f64, law: &HeadwayLaw, luck: f64) -> PageUse {
        let old = if seen >= self.old_since { f64::from(self.old) } else { 0.0 };
        let untouched = (f64::from(self.useful()) - law.reach(work - seen)).max(0.0);
        let luck = luck * self.frames.len() as f64;
        if luck < old {
            PageUse::Old
        } else if luck < old + untouched {
            PageUse::Useful
        } else {
            PageUse::Used
        }
    }
}

impl Hand {
    /// This number of free frames.
    pub fn new(room: u32) -> Hand {
        let frame = PageFrame { owner: 0, position: 0, seen: f64::NEG_INFINITY };
        Hand { frames: vec![frame; room as usize], free: (0..room).rev().collect(), at: 0, holdings: Vec::new() }
    }

    /// Number of free frames.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Number of pages of `pid`.
    pub fn held(&self, pid: ProcessId) -> u32 {
        self.holdings.get(pid as usize).map_or(0, |holding| holding.frames.len() as u32)
    }

    /// Number of pages of `pid` that its command uses.
    pub(crate) fn useful(&self, pid: ProcessId) -> u32 {
        self.holdings.get(pid as usize).map_or(0, RingHolding::useful)
    }

    /// Keeps the share `common` of the useful pages of `pid` as useful, and at most `most`; the others become old.
    pub fn keep(&mut self, pid: ProcessId, common: f64, most: u32, past: &WorkHistory) {
        if self.holdings.len() <= pid as usize {
            self.holdings.resize_with(pid as usize + 1, RingHolding::default);
        }
        let holding = &mut self.holdings[pid as usize];
        let useful = holding.useful();
        let kept = ((f64::from(useful) * common).round() as u32).min(most);
        if kept < useful {
            holding.old += useful - kept;
            holding.old_since = past.work;
        }
    }

    /// Makes one of the useful pages of `pid`, which is used now, an old page.
    pub(crate) fn retire(&mut self, pid: ProcessId, past: &WorkHistory) {
        let holding = &mut self.holdings[pid as usize];
        holding.old += 1;
        holding.old_since = past.work;
    }

    /// Brings in a page of `pid`, and returns the process that loses one if no frame is free.
    pub fn bring<'a>(
        &mut self,
        pid: ProcessId,
        past: impl Fn(ProcessId) -> &'a WorkHistory,
        law: &HeadwayLaw,
        stream: &mut RandomStream,
    ) -> Option<ProcessId> {
        let (frame, victim) = match self.free.pop() {
            Some(frame) => (frame, None),
            None => self.turn(past, law, stream),
        };
        let own_frames = &mut self.holdings[pid as usize].frames;
        self.frames[frame as usize] = PageFrame { owner: pid, position: own_frames.len() as u32, seen: f64::NEG_INFINITY };
        own_frames.push(frame);
        victim
    }

    /// Moves the hand to the first frame whose page is untouched, and takes the page from its owner.
    ///
    /// In the second round, no processor time has passed since the first, so a page is found.
    fn turn<'a>(
        &mut self,
        past: impl Fn(ProcessId) -> &'a WorkHistory,
        law: &HeadwayLaw,
        stream: &mut RandomStream,
    ) -> (u32, Option<ProcessId>) {
        loop {
            let at = self.at;
            self.at = if at + 1 == self.frames.len() { 0 } else { at + 1 };
            let frame = &mut self.frames[at];
            let holding = &mut self.holdings[frame.owner as usize];
            let work = past(frame.owner).work;
            match holding.find(frame.seen, work, law, stream.unit()) {
                PageUse::Used => {
                    frame.seen = work;
                    continue;
                }
                PageUse::Old => holding.old -= 1,
                PageUse::Useful => {}
            }
            let (owner, position) = (frame.owner, frame.position);
            holding.frames.swap_remove(position as usize);
            if let Some(moved) = holding.frames.get(position as usize) {
                self.frames[*moved as usize].position = position;
            }
            return (at as u32, Some(owner));
        }
    }

    /// Frees the frames of `pid`, which has ended.
    pub fn leave(&mut self, pid: ProcessId) {
        if let Some(holding) = self.holdings.get_mut(pid as usize) {
            self.free.append(&mut holding.frames);
            *holding = RingHolding::default();
        }
    }
}
