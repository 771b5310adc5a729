//! Whole programs swapped, as CTSS did it: one program runs in core memory at a time, and parts of others may still be there.
//!
//! Programs begin at the bottom of memory, one over the other as the skins of an onion. A program that comes in needs only the
//! words up to its own size: with onion skin so much of what lies there is dumped and no more, and the upper part of a larger
//! program stays until somebody needs that too. When a program comes back, only the part that was dumped is brought in again.

use super::disciplines::Job;
use super::spec;

/// What is moved so that a program can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Move {
    /// Words of others dumped to the swapping store, machine conditions included.
    pub out_words: u64,
    /// Words brought in, machine conditions included.
    pub in_words: u64,
    /// Whether they come from where the command is kept, and not from the swapping store.
    pub from_first: bool,
}

/// Core memory for programs.
#[derive(Clone, Debug)]
pub struct CoreMemory {
    words: u64,
    conditions_words: u64,
    onion_skin: bool,
    /// From the bottom up, the programs that lie there, each up to the word before the next; the first is the one that ran last.
    skins: Vec<Skin>,
}

/// A program's upper part, which is still in memory.
#[derive(Clone, Copy, Debug)]
struct Skin {
    job: Job,
    /// From this word …
    from: u64,
    /// … to the end of the program.
    to: u64,
    /// Whether its machine conditions are there still.
    whole: bool,
}

impl CoreMemory {
    /// Core memory with nobody's program in it.
    pub fn new(swapping: &spec::Swapping) -> CoreMemory {
        let spec::Swapping { words, conditions_words, onion_skin, .. } = *swapping;
        CoreMemory { words, conditions_words, onion_skin, skins: Vec::new() }
    }

    /// The program of `job`, of so many `words`, is to run; `first`: its user has just given the command, after another one, so
    /// that the program comes from where commands are kept, and what is in memory of the one before is worth nothing. What must
    /// be moved; when nothing, it was the last to run. A program larger than memory moves as much as memory holds.
    pub fn bring(&mut self, job: Job, words: u64, first: bool) -> Move {
        let words = words.min(self.words);
        if first {
            self.skins.retain(|skin| skin.job != job);
        }
        if self.skins.first().is_some_and(|skin| skin.job == job && skin.whole && skin.from == 0 && skin.to == words) {
            return Move::default();
        }
        let there = self.take_own(job, words);
        let out_words = self.dump(words);
        self.skins.insert(0, Skin { job, from: 0, to: words, whole: true });
        Move { out_words, in_words: words - there + self.conditions_words, from_first: first }
    }

    /// Takes out the part of the program that is in memory still; how many words that are of use.
    fn take_own(&mut self, job: Job, words: u64) -> u64 {
        let Some(place) = self.skins.iter().position(|skin| skin.job == job) else { return 0 };
        let own = self.skins.remove(place);
        if own.to == words { own.to - own.from } else { 0 }
    }

    /// Dumps what lies below `words` (without onion skin, all): words that go out.
    fn dump(&mut self, words: u64) -> u64 {
        let below = if self.onion_skin { words } else { self.words };
        let mut out_words = 0;
        for skin in &mut self.skins {
            if skin.from >= below {
                break;
            }
            let dumped = skin.to.min(below) - skin.from;
            out_words += dumped + if skin.whole { self.conditions_words } else { 0 };
            skin.from += dumped;
            skin.whole = false;
        }
        self.skins.retain(|skin| skin.from < skin.to);
        out_words
    }

    /// `job` is gone: its program is worth nothing.
    pub fn leave(&mut self, job: Job) {
        self.skins.retain(|skin| skin.job != job);
    }

    /// The words that hold nobody's program.
    pub fn free(&self) -> u64 {
        self.words - self.skins.iter().map(|skin| skin.to - skin.from).sum::<u64>()
    }

    /// The words of the program of `job` that are in memory.
    pub fn held(&self, job: Job) -> u64 {
        self.skins.iter().find(|skin| skin.job == job).map_or(0, |skin| skin.to - skin.from)
    }
}
