//! The state of every processor, read whole while it changes.
//!
//! A program charges a stretch to a category and then says until when it has charged: only between the two does a processor's
//! sum not agree with its clock. A reading that does not agree is read again.

use crate::programs::layout::{CATEGORIES, category, processor, waiting};
use crate::programs::load::{Loaded, mapped};
use crate::tables::idle::Waiting;
use aya::maps::{Array, Map};
use loadgo_sys::mapped::MappedWords;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

/// Readings before one is taken as it is: a processor that stands still in the middle of charging (its virtual machine does) is
/// not waited for.
const TRIES: u32 = 1000;

/// Times by category, in nanoseconds, since a processor was first seen.
pub(crate) type Times = [u64; CATEGORIES.len()];

/// The processors, shared with the kernel's programs.
pub(crate) struct Processors {
    memory: MappedWords,
    stride: usize,
}

/// One processor, read whole.
pub(crate) struct State([u64; processor::WORDS]);

impl Processors {
    pub fn open(loaded: &Loaded) -> Result<Processors, String> {
        let Some(Map::Array(map)) = loaded.object.map("processors") else {
            return Err("the processors' state is not there".into());
        };
        let size = map.info().map_err(|error| error.to_string())?.value_size() as usize;
        Ok(Processors { memory: mapped(loaded, "processors", size * loaded.processors as usize)?, stride: size / 8 })
    }

    /// All of them, by number.
    pub fn read(&self) -> impl Iterator<Item = State> {
        self.memory.words().chunks_exact(self.stride).map(read_whole)
    }

    /// Of each processor, whether it has begun an interrupt, hard or soft, that has not ended.
    pub fn in_interrupts(&self) -> Vec<bool> {
        let begun = |words: &[AtomicU64]| {
            words[processor::INTERRUPTED].load(Acquire) >> 32 != 0 || words[processor::SOFT].load(Acquire) as u32 != 0
        };
        self.memory.words().chunks_exact(self.stride).map(begun).collect()
    }

    /// The same, each with what `beside` says of it, both of one moment: no task came or went between.
    pub(crate) fn read_with<T>(&self, beside: impl Fn(&State) -> T) -> impl Iterator<Item = (State, T)> {
        self.memory.words().chunks_exact(self.stride).map(move |words| read_both(words, &beside))
    }
}

fn read_whole(words: &[AtomicU64]) -> State {
    let mut state = read_once(words);
    for _ in 1..TRIES {
        if state.is_whole() && words[processor::LAST].load(Acquire) == state.0[processor::LAST] {
            break;
        }
        std::hint::spin_loop();
        state = read_once(words);
    }
    state
}

fn read_both<T>(words: &[AtomicU64], beside: impl Fn(&State) -> T) -> (State, T) {
    let mut state = read_whole(words);
    let mut other = beside(&state);
    for _ in 1..TRIES {
        let after = read_whole(words);
        if [processor::SINCE, processor::NAME].iter().all(|word| after.at(*word) == state.at(*word)) {
            break;
        }
        state = after;
        other = beside(&state);
    }
    (state, other)
}

fn read_once(words: &[AtomicU64]) -> State {
    State(std::array::from_fn(|word| words[word].load(Acquire)))
}

impl State {
    /// A word of it.
    pub fn at(&self, word: usize) -> u64 {
        self.0[word]
    }

    /// When it was first seen, in nanoseconds of CLOCK_MONOTONIC; `None`: never.
    pub fn began(&self) -> Option<u64> {
        (self.at(processor::LAST) != 0).then(|| self.at(processor::BEGAN))
    }

    fn is_whole(&self) -> bool {
        let sum: u64 = self.0[processor::TIME..][..=category::IN_FAULT].iter().sum();
        sum == self.at(processor::LAST).wrapping_sub(self.at(processor::BEGAN))
    }

    /// Its times until `now`, what is under way with them.
    pub(crate) fn times_at(&self, now: u64, waiting: &Waiting) -> Times {
        let mut times: Times = std::array::from_fn(|index| self.at(processor::TIME + index));
        times[category::PAGE_FAULT] += self.at(processor::TIME + category::IN_FAULT);
        let present = self.at(processor::CATEGORY) as u32 as usize;
        let present = if present == category::IN_FAULT { category::PAGE_FAULT } else { present };
        if present == category::IDLE {
            waiting.divide(&self.0, now, &mut times);
        } else if present < times.len() && self.began().is_some() {
            times[present] += now.saturating_sub(self.at(processor::LAST));
        }
        times
    }
}

/// The waits of the system, read under their lock.
pub(crate) fn read_waiting(loaded: &Loaded) -> Result<Waiting, String> {
    const LOCKED: u64 = 4; // BPF_F_LOCK
    let map = loaded.object.map("waits").ok_or("the waits are not there")?;
    let array: Array<_, [u64; waiting::WORDS]> = map.try_into().map_err(|error: aya::maps::MapError| error.to_string())?;
    array.get(&0, LOCKED).map(Waiting::new).map_err(|error| error.to_string())
}
