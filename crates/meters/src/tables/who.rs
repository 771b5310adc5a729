//! By user and command: primitives and faults of each session, in each of its commands.
//!
//! The kernel's half (`bpf/meters/who.h`) counts into a few lines of each processor, and what must make room there goes into one of two
//! hashes. A reading turns the processors to the other hash, waits until nobody writes to the first, reads the lines, and
//! empties the first. What a key has grown by is what was in the hash, and what its lines hold now, less what they held at the
//! last reading. A line that is written back meanwhile is in neither; it is owed until the next reading, and never counted twice.

use crate::programs::load::{Loaded, mapped};
use aya::maps::{HashMap as KernelHash, MapData, MapError};
use loadgo_sys::mapped::MappedWords;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

/// Words of a line, lines of a processor, words of a processor: `struct lines` in `bpf/meters/who.h`.
const LINE: usize = 8;
const LINES: usize = 64;
const WORDS: usize = LINE * (1 + LINES);

/// What is counted is a fault of a kind, not a primitive: `WHO_FAULT` in `bpf/meters/who.h`.
pub(crate) const FAULT: u16 = 0x200;

/// Whose, in which command, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The session's account; 0: all sessions together.
    pub slot: u32,
    /// The command's number; 0: none.
    pub command: u16,
    /// A primitive's number, or [`FAULT`] and a kind.
    pub what: u16,
}

impl Key {
    fn new(word: u64) -> Key {
        Key { slot: (word >> 32) as u32 & 0x7fff_ffff, command: (word >> 16) as u16, what: word as u16 }
    }
}

/// How often, how often in vain, nanoseconds, and those of them off the processor.
pub(crate) type Tally = [u64; 4];

type Hash = KernelHash<MapData, u64, Tally>;
type Tallies = HashMap<u64, Tally>;

/// The sums as they were last read.
pub(crate) struct Who {
    lines: MappedWords,
    hashes: [Hash; 2],
    half: u64,
    last: Tallies,
    owed: Tallies,
    lost: u64,
}

impl Who {
    pub fn begin(loaded: &mut Loaded) -> Result<Who, String> {
        let lines = mapped(loaded, "who_lines", loaded.processors as usize * WORDS * 8)?;
        let hashes = [hash(loaded, "who_even")?, hash(loaded, "who_odd")?];
        Ok(Who { lines, hashes, half: 0, last: Tallies::new(), owed: Tallies::new(), lost: 0 })
    }

    /// What each key has grown by since the last reading.
    pub fn grown(&mut self) -> Result<Vec<(Key, Tally)>, String> {
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
        let drained = drain(&mut self.hashes[before as usize]).map_err(|error| error.to_string())?;
        let grown = settle(&drained, &now, &self.last, &mut self.owed);
        self.last = now;
        Ok(grown)
    }

    /// How many counts found no room since this was last asked.
    pub fn take_lost(&mut self) -> u64 {
        let lost = self.heads().map(|head| head[2].load(Acquire)).sum();
        lost - std::mem::replace(&mut self.lost, lost)
    }

    fn heads(&self) -> impl Iterator<Item = &[AtomicU64]> {
        self.lines.words().chunks_exact(WORDS)
    }
}

fn hash(loaded: &mut Loaded, name: &str) -> Result<Hash, String> {
    let map = loaded.object.take_map(name).ok_or_else(|| format!("{name} is not there"))?;
    map.try_into().map_err(|error: MapError| format!("{name}: {error}"))
}

/// The sums of all lines that are whole.
fn read_lines(lines: &MappedWords) -> Tallies {
    let mut sums = Tallies::new();
    for line in lines.words().chunks_exact(WORDS).flat_map(|words| words[LINE..].chunks_exact(LINE)) {
        if let Some((key, tally)) = read_line(line) {
            add(sums.entry(key).or_default(), &tally);
        }
    }
    sums
}

/// A line, once both its ends are the same; `None` when it is empty.
fn read_line(line: &[AtomicU64]) -> Option<(u64, Tally)> {
    loop {
        let key = line[0].load(Acquire);
        let tally = std::array::from_fn(|index| line[1 + index].load(Acquire));
        if line[LINE - 1].load(Acquire) == key {
            return (key != 0).then_some((key, tally));
        }
        std::hint::spin_loop();
    }
}

/// Takes all out of a hash that nobody writes to.
fn drain(hash: &mut Hash) -> Result<Tallies, MapError> {
    let all: Tallies = hash.iter().collect::<Result<_, MapError>>()?;
    for key in all.keys() {
        hash.remove(key)?;
    }
    Ok(all)
}

/// What each key has grown by; a key that seems to have shrunk is owed the difference.
fn settle(drained: &Tallies, now: &Tallies, last: &Tallies, owed: &mut Tallies) -> Vec<(Key, Tally)> {
    let mut grown = std::mem::take(owed);
    for (key, tally) in drained.iter().chain(now) {
        add(grown.entry(*key).or_default(), tally);
    }
    for (key, tally) in last {
        let sum = grown.entry(*key).or_default();
        *sum = std::array::from_fn(|index| sum[index].wrapping_sub(tally[index]));
    }
    let other = grown.into_iter().filter(|(_, tally)| *tally != [0; 4]);
    let (settled, negative): (Vec<_>, Vec<_>) = other.partition(|(_, tally)| tally.iter().all(|value| *value as i64 >= 0));
    owed.extend(negative);
    settled.into_iter().map(|(key, tally)| (Key::new(key), tally)).collect()
}

fn add(sum: &mut Tally, tally: &Tally) {
    for (sum, value) in sum.iter_mut().zip(tally) {
        *sum = sum.wrapping_add(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 1 << 63 | 5 << 32 | 2 << 16 | 39;
    const OF: Key = Key { slot: 5, command: 2, what: 39 };

    fn of(count: u64) -> Tallies {
        Tallies::from([(KEY, [count, 0, 10 * count, 0])])
    }

    #[test]
    fn a_key_grows_by_what_was_written_back_and_what_its_lines_hold_more() {
        let grown = settle(&of(7), &of(3), &of(4), &mut Tallies::new());
        assert_eq!(grown, [(OF, [6, 0, 60, 0])]);
    }

    #[test]
    fn a_line_that_is_on_its_way_is_counted_at_the_next_reading_and_once() {
        let mut owed = Tallies::new();
        assert_eq!(settle(&Tallies::new(), &of(1), &of(4), &mut owed), []); // 5 were written back to the hash that is not read yet
        assert_eq!(settle(&of(5), &of(2), &of(1), &mut owed), [(OF, [3, 0, 30, 0])]);
        assert!(owed.is_empty());
    }

    #[test]
    fn nothing_grows_where_nothing_is_counted() {
        assert_eq!(settle(&Tallies::new(), &of(4), &of(4), &mut Tallies::new()), []);
    }

    #[test]
    fn a_line_is_read_while_both_its_ends_agree() {
        let line: [AtomicU64; LINE] = [KEY, 2, 1, 30, 0, 0, 0, KEY].map(AtomicU64::new);
        assert_eq!(read_line(&line), Some((KEY, [2, 1, 30, 0])));
        assert_eq!(read_line(&[const { AtomicU64::new(0) }; LINE]), None);
    }
}
