//! Reads the state of every processor consistently while it changes.
//!
//! A program charges time to a category, and then writes the time until which it has charged. Between the two writes, the sum of the
//! processor's times does not agree with that time, and a reading is repeated.

use crate::programs::layout::{CATEGORY_NAMES, category, processor, waiting};
use crate::programs::load::{Loaded, map_array};
use crate::refusal::MeterRefusal;
use crate::tables::idle::WaitIntegrals;
use aya::maps::{Array, Map};
use loadgo_sys::mapped::MappedWords;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

/// Number of readings after which an inconsistent one is used, as when a virtual machine's processor stops between the two writes.
const READING_TRIES: u32 = 1000;

/// Times by category in nanoseconds, since a processor was first seen.
pub(crate) type CategoryTimes = [u64; CATEGORY_NAMES.len()];

/// The map of processors, shared with the kernel's programs.
pub(crate) struct ProcessorMap {
    memory: MappedWords,
    stride: usize,
}

/// The words of one processor, read consistently.
pub(crate) struct ProcessorWords([u64; processor::WORDS]);

impl ProcessorMap {
    pub fn open(loaded: &Loaded) -> Result<ProcessorMap, MeterRefusal> {
        let Some(Map::Array(map)) = loaded.object.map("processors") else {
            return Err("the processors' state is not there".into());
        };
        let size = map.info()?.value_size() as usize;
        Ok(ProcessorMap { memory: map_array(loaded, "processors", size * loaded.processors as usize)?, stride: size / 8 })
    }

    /// Reads all processors, by number.
    pub fn read(&self) -> impl Iterator<Item = ProcessorWords> {
        self.memory.words().chunks_exact(self.stride).map(read_consistent)
    }

    /// Whether each processor is in an interrupt, hard or soft.
    pub fn in_interrupts(&self) -> Vec<bool> {
        let begun = |words: &[AtomicU64]| {
            words[processor::INTERRUPTED].load(Acquire) >> 32 != 0 || words[processor::SOFT].load(Acquire) as u32 != 0
        };
        self.memory.words().chunks_exact(self.stride).map(begun).collect()
    }

    /// Reads all processors, each with a result of `beside` that was read while no task switched.
    pub(crate) fn read_with<T>(&self, beside: impl Fn(&ProcessorWords) -> T) -> impl Iterator<Item = (ProcessorWords, T)> {
        self.memory.words().chunks_exact(self.stride).map(move |words| read_both(words, &beside))
    }
}

fn read_consistent(words: &[AtomicU64]) -> ProcessorWords {
    let mut state = read_once(words);
    for _ in 1..READING_TRIES {
        if state.is_consistent() && words[processor::LAST].load(Acquire) == state.0[processor::LAST] {
            break;
        }
        std::hint::spin_loop();
        state = read_once(words);
    }
    state
}

fn read_both<T>(words: &[AtomicU64], beside: impl Fn(&ProcessorWords) -> T) -> (ProcessorWords, T) {
    let mut state = read_consistent(words);
    let mut result = beside(&state);
    for _ in 1..READING_TRIES {
        let after = read_consistent(words);
        if [processor::SINCE, processor::NAME].iter().all(|word| after.at(*word) == state.at(*word)) {
            break;
        }
        state = after;
        result = beside(&state);
    }
    (state, result)
}

fn read_once(words: &[AtomicU64]) -> ProcessorWords {
    ProcessorWords(std::array::from_fn(|word| words[word].load(Acquire)))
}

impl ProcessorWords {
    /// The word at an index.
    pub fn at(&self, word: usize) -> u64 {
        self.0[word]
    }

    /// When the processor was first seen, in nanoseconds of CLOCK_MONOTONIC; None for never.
    pub fn began(&self) -> Option<u64> {
        (self.at(processor::LAST) != 0).then(|| self.at(processor::BEGAN))
    }

    /// Busy time until `now`: all time in categories that are not idle.
    pub(crate) fn busy_until(&self, now: u64) -> u64 {
        let times = &self.0[processor::TIME..];
        let busy_ns = times[..category::IDLE_ZERO].iter().sum::<u64>() + times[category::IN_FAULT];
        let present = self.at(processor::CATEGORY) as u32 as usize;
        let is_busy = self.began().is_some() && (present < category::IDLE_ZERO || present == category::IN_FAULT);
        if is_busy { busy_ns + now.saturating_sub(self.at(processor::LAST)) } else { busy_ns }
    }

    fn is_consistent(&self) -> bool {
        let sum: u64 = self.0[processor::TIME..][..=category::IN_FAULT].iter().sum();
        sum == self.at(processor::LAST).wrapping_sub(self.at(processor::BEGAN))
    }

    /// The processor's times until `now`, including the time since the last charge.
    pub(crate) fn times_at(&self, now: u64, waiting: &WaitIntegrals) -> CategoryTimes {
        let mut times: CategoryTimes = std::array::from_fn(|index| self.at(processor::TIME + index));
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

/// Reads the integrals of waits under their lock.
pub(crate) fn read_waiting(loaded: &Loaded) -> Result<WaitIntegrals, MeterRefusal> {
    const LOCKED: u64 = 4; // BPF_F_LOCK
    let map = loaded.object.map("waits").ok_or("the waits are not there")?;
    let array: Array<_, [u64; waiting::WORDS]> = map.try_into()?;
    Ok(WaitIntegrals::new(array.get(&0, LOCKED)?))
}
