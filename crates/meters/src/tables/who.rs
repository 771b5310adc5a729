//! Reads the sums of system calls and faults by session and command.
//!
//! The kernel programs (`bpf/meters/who.h`) count into a few lines of each processor. A line that must make room is written into one
//! of two hashes. A reading directs the processors to the other hash, waits until no program writes to the first, reads the lines, and
//! empties the first hash. A key's increase is its hash entry plus its present lines, less its lines at the last reading. A line that
//! is written to the other hash meanwhile is in neither. Its count is deferred to the next reading, and never counted twice.

use crate::programs::load::{Loaded, map_array, take_map};
use crate::refusal::MeterRefusal;
use aya::maps::{HashMap as KernelHash, MapData, MapError};
use loadgo_sys::mapped::MappedWords;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

/// Number of words of a line in `struct lines` (`bpf/meters/who.h`).
const LINE_WORDS: usize = 8;
/// Number of lines of a processor.
const LINES: usize = 64;
/// Number of words of a processor.
const PROCESSOR_WORDS: usize = LINE_WORDS * (1 + LINES);

/// Number of the first kind of faults among a key's events, after all system calls: `WHO_FAULT` in `bpf/meters/who.h`.
pub(crate) const FAULT_EVENT_INDEX: u16 = 0x200;

/// The key of a count: session, command and event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountKey {
    /// The session's account; 0 for all sessions together.
    pub slot: u32,
    /// The command's number; 0 for none.
    pub command: u16,
    /// A system call's number, or [`FAULT_EVENT_INDEX`] plus a kind of faults.
    pub event: u16,
}

impl CountKey {
    fn new(word: u64) -> CountKey {
        CountKey { slot: (word >> 32) as u32 & 0x7fff_ffff, command: (word >> 16) as u16, event: word as u16 }
    }
}

/// Totals of a key: count, errors, nanoseconds, and nanoseconds off the processor.
pub(crate) type KeyTotals = [u64; 4];

type Hash = KernelHash<MapData, u64, KeyTotals>;
type TotalsByKey = HashMap<u64, KeyTotals>;

/// The totals at the last reading.
pub(crate) struct UserCommandTable {
    lines: MappedWords,
    hashes: [Hash; 2],
    /// The hash that the processors write to.
    half: u64,
    last: TotalsByKey,
    deferred: TotalsByKey,
    lost: u64,
}

impl UserCommandTable {
    pub fn begin(loaded: &mut Loaded) -> Result<UserCommandTable, MeterRefusal> {
        let lines = map_array(loaded, "who_lines", loaded.processors as usize * PROCESSOR_WORDS * 8)?;
        let hashes = [take_map(loaded, "who_even")?, take_map(loaded, "who_odd")?];
        Ok(UserCommandTable { lines, hashes, half: 0, last: TotalsByKey::new(), deferred: TotalsByKey::new(), lost: 0 })
    }

    /// The increase of each key since the last reading.
    pub fn increases(&mut self) -> Result<Vec<(CountKey, KeyTotals)>, MeterRefusal> {
        let before = self.half;
        self.half ^= 1;
        for head in self.heads() {
            head[0].store(self.half, SeqCst);
        }
        fence(SeqCst);
        for head in self.heads() {
            while head[1].load(SeqCst) == 1 + before {
                std::thread::yield_now();
            }
        }
        let now = read_lines(&self.lines);
        let drained = drain(&mut self.hashes[before as usize])?;
        let increases = settle(&drained, &now, &self.last, &mut self.deferred);
        self.last = now;
        Ok(increases)
    }

    /// Number of counts without room since the last call.
    pub fn take_lost(&mut self) -> u64 {
        let lost = self.heads().map(|head| head[2].load(Acquire)).sum();
        lost - std::mem::replace(&mut self.lost, lost)
    }

    fn heads(&self) -> impl Iterator<Item = &[AtomicU64]> {
        self.lines.words().chunks_exact(PROCESSOR_WORDS)
    }
}

/// The totals of all lines.
fn read_lines(lines: &MappedWords) -> TotalsByKey {
    let mut sums = TotalsByKey::new();
    for line in lines.words().chunks_exact(PROCESSOR_WORDS).flat_map(|words| words[LINE_WORDS..].chunks_exact(LINE_WORDS)) {
        if let Some((key, tally)) = read_line(line) {
            add(sums.entry(key).or_default(), &tally);
        }
    }
    sums
}

/// Reads a line until its key is the same at both ends; None if it is empty.
fn read_line(line: &[AtomicU64]) -> Option<(u64, KeyTotals)> {
    loop {
        let key = line[0].load(Acquire);
        let tally = std::array::from_fn(|index| line[1 + index].load(Acquire));
        if line[LINE_WORDS - 1].load(Acquire) == key {
            return (key != 0).then_some((key, tally));
        }
        std::hint::spin_loop();
    }
}

/// Removes and returns all entries of a hash that no program writes to.
fn drain(hash: &mut Hash) -> Result<TotalsByKey, MapError> {
    let all: TotalsByKey = hash.iter().collect::<Result<_, MapError>>()?;
    for key in all.keys() {
        hash.remove(key)?;
    }
    Ok(all)
}

/// The increase of each key. A negative increase is deferred to the next reading.
fn settle(
    drained: &TotalsByKey,
    now: &TotalsByKey,
    last: &TotalsByKey,
    deferred: &mut TotalsByKey,
) -> Vec<(CountKey, KeyTotals)> {
    let mut increases = std::mem::take(deferred);
    for (key, tally) in drained.iter().chain(now) {
        add(increases.entry(*key).or_default(), tally);
    }
    for (key, tally) in last {
        let sum = increases.entry(*key).or_default();
        *sum = std::array::from_fn(|index| sum[index].wrapping_sub(tally[index]));
    }
    let nonzero = increases.into_iter().filter(|(_, tally)| *tally != [0; 4]);
    let (settled, negative): (Vec<_>, Vec<_>) = nonzero.partition(|(_, tally)| tally.iter().all(|value| *value as i64 >= 0));
    deferred.extend(negative);
    settled.into_iter().map(|(key, tally)| (CountKey::new(key), tally)).collect()
}

fn add(sum: &mut KeyTotals, tally: &KeyTotals) {
    for (sum, value) in sum.iter_mut().zip(tally) {
        *sum = sum.wrapping_add(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 1 << 63 | 5 << 32 | 2 << 16 | 39;
    const PARSED_KEY: CountKey = CountKey { slot: 5, command: 2, event: 39 };

    fn totals(count: u64) -> TotalsByKey {
        TotalsByKey::from([(KEY, [count, 0, 10 * count, 0])])
    }

    #[test]
    fn a_keys_increase_is_its_hash_entry_and_the_growth_of_its_lines() {
        let increases = settle(&totals(7), &totals(3), &totals(4), &mut TotalsByKey::new());
        assert_eq!(increases, [(PARSED_KEY, [6, 0, 60, 0])]);
    }

    #[test]
    fn a_line_that_is_on_its_way_is_counted_at_the_next_reading_and_once() {
        let mut deferred = TotalsByKey::new();
        assert_eq!(settle(&TotalsByKey::new(), &totals(1), &totals(4), &mut deferred), []); // 5 were written back to the hash that is not read yet
        assert_eq!(settle(&totals(5), &totals(2), &totals(1), &mut deferred), [(PARSED_KEY, [3, 0, 30, 0])]);
        assert!(deferred.is_empty());
    }

    #[test]
    fn nothing_grows_where_nothing_is_counted() {
        assert_eq!(settle(&TotalsByKey::new(), &totals(4), &totals(4), &mut TotalsByKey::new()), []);
    }

    #[test]
    fn a_line_is_read_while_both_its_ends_agree() {
        let line: [AtomicU64; LINE_WORDS] = [KEY, 2, 1, 30, 0, 0, 0, KEY].map(AtomicU64::new);
        assert_eq!(read_line(&line), Some((KEY, [2, 1, 30, 0])));
        assert_eq!(read_line(&[const { AtomicU64::new(0) }; LINE_WORDS]), None);
    }
}
