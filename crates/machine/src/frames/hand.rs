//! The clock with second chance: a hand goes around the frames, and takes the first page that was not used since it last came by.
//!
//! Whether a page was used is not known page by page. Of a process's x pages, w(t) were used in the last t of its processor time,
//! so one that the hand saw t ago is untouched with probability 1 − w(t)/x.

use super::headway::Law;
use super::past::Past;
use crate::disciplines::Job;
use loadgo_core::random::RandomStream;

/// The frames in a ring, the hand, and what each process holds.
#[derive(Clone, Debug)]
pub(crate) struct Hand {
    frames: Vec<Frame>,
    free: Vec<u32>,
    at: usize,
    holdings: Vec<Holding>,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
struct Frame {
    owner: Job,
    /// Its place in the owner's list.
    place: u32,
    /// The owner's processor time when the hand last came by; minus infinity when the page has come since.
    seen: f64,
}

#[derive(Clone, Debug, Default)]
struct Holding {
    frames: Vec<u32>,
    /// Of its pages, those from commands before.
    old: u32,
    /// Its processor time when they were last used at the latest.
    old_since: f64,
}

/// Which page the hand finds in a frame.
enum Found {
    Used,
    Useful,
    Old,
}

impl Holding {
    fn useful(&self) -> u32 {
        self.frames.len() as u32 - self.old
    }

    /// What the hand finds in a frame that it saw at `seen`; `luck` is even in 0 to 1.
    fn find(&self, seen: f64, work: f64, law: &Law, luck: f64) -> Found {
        let old = if seen >= self.old_since { f64::from(self.old) } else { 0.0 };
        let untouched = (f64::from(self.useful()) - law.reach(work - seen)).max(0.0);
        let luck = luck * self.frames.len() as f64;
        if luck < old {
            Found::Old
        } else if luck < old + untouched {
            Found::Useful
        } else {
            Found::Used
        }
    }
}

impl Hand {
    /// So many frames, free.
    pub fn new(room: u32) -> Hand {
        let frame = Frame { owner: 0, place: 0, seen: f64::NEG_INFINITY };
        Hand { frames: vec![frame; room as usize], free: (0..room).rev().collect(), at: 0, holdings: Vec::new() }
    }

    /// Frames that nobody holds.
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// The pages of `job`.
    pub fn held(&self, job: Job) -> u32 {
        self.holdings.get(job as usize).map_or(0, |holding| holding.frames.len() as u32)
    }

    /// Those of them that its command uses.
    pub(crate) fn useful(&self, job: Job) -> u32 {
        self.holdings.get(job as usize).map_or(0, Holding::useful)
    }

    /// Of the useful pages of `job`, the part `common` and at most `most` are of use from now on.
    pub fn keep(&mut self, job: Job, common: f64, most: u32, past: &Past) {
        if self.holdings.len() <= job as usize {
            self.holdings.resize_with(job as usize + 1, Holding::default);
        }
        let holding = &mut self.holdings[job as usize];
        let useful = holding.useful();
        let kept = ((f64::from(useful) * common).round() as u32).min(most);
        if kept < useful {
            holding.old += useful - kept;
            holding.old_since = past.work;
        }
    }

    /// One of the useful pages of `job`, used now, will not be of use again.
    pub(crate) fn retire(&mut self, job: Job, past: &Past) {
        let holding = &mut self.holdings[job as usize];
        holding.old += 1;
        holding.old_since = past.work;
    }

    /// A page of `job` comes in; who loses one for it, when no frame is free.
    pub fn bring<'a>(&mut self, job: Job, past: impl Fn(Job) -> &'a Past, law: &Law, stream: &mut RandomStream) -> Option<Job> {
        let (frame, victim) = match self.free.pop() {
            Some(frame) => (frame, None),
            None => self.turn(past, law, stream),
        };
        let mine = &mut self.holdings[job as usize].frames;
        self.frames[frame as usize] = Frame { owner: job, place: mine.len() as u32, seen: f64::NEG_INFINITY };
        mine.push(frame);
        victim
    }

    /// Moves the hand to the first frame whose page is untouched, and takes that from its owner. The second time around, no
    /// processor time has gone by since the first, so that a page is found.
    fn turn<'a>(&mut self, past: impl Fn(Job) -> &'a Past, law: &Law, stream: &mut RandomStream) -> (u32, Option<Job>) {
        loop {
            let at = self.at;
            self.at = if at + 1 == self.frames.len() { 0 } else { at + 1 };
            let frame = &mut self.frames[at];
            let holding = &mut self.holdings[frame.owner as usize];
            let work = past(frame.owner).work;
            match holding.find(frame.seen, work, law, stream.unit()) {
                Found::Used => {
                    frame.seen = work;
                    continue;
                }
                Found::Old => holding.old -= 1,
                Found::Useful => {}
            }
            let (owner, place) = (frame.owner, frame.place);
            holding.frames.swap_remove(place as usize);
            if let Some(moved) = holding.frames.get(place as usize) {
                self.frames[*moved as usize].place = place;
            }
            return (at as u32, Some(owner));
        }
    }

    /// `job` is gone, and its frames are free.
    pub fn leave(&mut self, job: Job) {
        if let Some(holding) = self.holdings.get_mut(job as usize) {
            self.free.append(&mut holding.frames);
            *holding = Holding::default();
        }
    }
}
