//! Core memory of a machine that swaps whole programs, as CTSS did. One program runs; remnants of others may still be there.
//!
//! Programs begin at the bottom of memory, one over the other like the skins of an onion. An incoming program needs only the
//! words up to its own size. With onion skin, only these are dumped, and the upper part of a larger program stays until another
//! program needs its words too. When a program returns, only its dumped part is brought in again.

use super::disciplines::ProcessId;
use super::spec;

/// The words that are moved so that a program can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramMove {
    /// Words of other programs that are dumped to the swapping store, with machine conditions.
    pub out_words: u64,
    /// Words that are brought in, with machine conditions.
    pub in_words: u64,
    /// Whether they come from the store of commands, and not from the swapping store.
    pub from_first: bool,
}

/// Core memory for programs.
#[derive(Clone, Debug)]
pub struct CoreMemory {
    words: u64,
    conditions_words: u64,
    onion_skin: bool,
    /// The programs in memory from the bottom up, each up to the word before the next. The first is the program that ran last.
    remnants: Vec<ProgramRemnant>,
}

/// The part of a program that is still in memory.
#[derive(Clone, Copy, Debug)]
struct ProgramRemnant {
    pid: ProcessId,
    /// First word of the part.
    from: u64,
    /// End of the program, and of the part.
    to: u64,
    /// Whether the program's machine conditions are still in memory.
    has_conditions: bool,
}

impl CoreMemory {
    /// Core memory without programs.
    pub fn new(swapping: &spec::Swapping) -> CoreMemory {
        let spec::Swapping { words, conditions_words, onion_skin, .. } = *swapping;
        CoreMemory { words, conditions_words, onion_skin, remnants: Vec::new() }
    }

    /// Brings the program of `pid`, of this number of `words`, into memory, and returns the words to be moved.
    ///
    /// `first` says that the user has just typed a command with another program. The new program then comes from the store of
    /// commands, and the former program is removed. Nothing is moved for the program that ran last. Of a program larger than
    /// memory, only as much is moved as memory holds.
    pub fn bring(&mut self, pid: ProcessId, words: u64, first: bool) -> ProgramMove {
        let words = words.min(self.words);
        if first {
            self.remnants.retain(|remnant| remnant.pid != pid);
        }
        if self
            .remnants
            .first()
            .is_some_and(|remnant| remnant.pid == pid && remnant.has_conditions && remnant.from == 0 && remnant.to == words)
        {
            return ProgramMove::default();
        }
        let kept_words = self.remove_own(pid, words);
        let out_words = self.dump(words);
        self.remnants.insert(0, ProgramRemnant { pid, from: 0, to: words, has_conditions: true });
        ProgramMove { out_words, in_words: words - kept_words + self.conditions_words, from_first: first }
    }

    /// Removes the part of the program that is still in memory, and returns how many of its words are of use.
    fn remove_own(&mut self, pid: ProcessId, words: u64) -> u64 {
        let Some(place) = self.remnants.iter().position(|remnant| remnant.pid == pid) else { return 0 };
        let own = self.remnants.remove(place);
        if own.to == words { own.to - own.from } else { 0 }
    }

    /// Dumps the words below `words`, or without onion skin all words, and returns their number.
    fn dump(&mut self, words: u64) -> u64 {
        let below = if self.onion_skin { words } else { self.words };
        let mut out_words = 0;
        for remnant in &mut self.remnants {
            if remnant.from >= below {
                break;
            }
            let dumped = remnant.to.min(below) - remnant.from;
            out_words += dumped + if remnant.has_conditions { self.conditions_words } else { 0 };
            remnant.from += dumped;
            remnant.has_conditions = false;
        }
        self.remnants.retain(|remnant| remnant.from < remnant.to);
        out_words
    }

    /// Removes the program of `pid`, whose process has ended.
    pub fn leave(&mut self, pid: ProcessId) {
        self.remnants.retain(|remnant| remnant.pid != pid);
    }

    /// Words without a program.
    pub fn free(&self) -> u64 {
        self.words - self.remnants.iter().map(|remnant| remnant.to - remnant.from).sum::<u64>()
    }

    /// Words of the program of `pid` that are in memory.
    pub fn held(&self, pid: ProcessId) -> u64 {
        self.remnants.iter().find(|remnant| remnant.pid == pid).map_or(0, |remnant| remnant.to - remnant.from)
    }
}
