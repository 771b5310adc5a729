//! Makes rows of waits for locks, by kind, place and command.
//!
//! The kernel programs (`bpf/meters/locks.h`) keep sums in an array that is read from shared memory. A wait counts when it ends.

use crate::kallsyms::Kallsyms;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::{counter, lock_sums};
use crate::programs::load::map_array;
use crate::programs::map_sizes::lock_sum_entries;
use crate::refusal::MeterRefusal;
use crate::wanted::MeterRequest;
use loadgo_core::record::{LockWaitRow, LostRow, MeterRows};
use loadgo_sys::mapped::MappedWords;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Bits of a kind, as the kernel's tracepoint gives them (`include/trace/events/lock.h`), and three of the programs' own.
mod kind_bits {
    pub const SPIN: u32 = 1;
    pub const READ: u32 = 2;
    pub const WRITE: u32 = 4;
    pub const REAL_TIME: u32 = 8;
    pub const PER_PROCESSOR: u32 = 16;
    pub const MUTEX: u32 = 32;
    pub const OF_MEMORY: u32 = 64;
    pub const FLOCK: u32 = 128;
    pub const FCNTL: u32 = 256;
}
/// Number of bits of a kind in a key. The command follows.
const KIND_BITS: u32 = 9;

/// Kind, place and command of waits.
type WaitKey = (Arc<str>, Option<Arc<str>>, Option<Arc<str>>);

/// Number of waits, their time, and the longest.
type WaitTotals = [u64; 3];

/// The waits for locks at the last reading.
pub(crate) struct LockTable {
    sums: MappedWords,
    counters: MappedWords,
    commands: Vec<Arc<str>>,
    places: Places,
    /// Number of waits and their time in each of `sums`.
    last: Vec<[u64; 2]>,
    lost: u64,
}

impl LockTable {
    /// Begins the part; None if locks are not metered.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        if !wanted.locks {
            return Ok(None);
        }
        let entries = lock_sum_entries(wanted) as usize;
        Ok(Some(Box::new(LockTable {
            sums: map_array(&context.loaded, "lock_sums", entries * lock_sums::WORDS * 8)?,
            counters: map_array(&context.loaded, "counters", counter::WORDS * 8)?,
            commands: wanted.commands.clone(),
            places: Places::default(),
            last: vec![[0; 2]; entries],
            lost: 0,
        })))
    }

    /// Waits since the last reading in the sums at `index`; None if there were none.
    fn increase(&mut self, index: usize) -> Option<(WaitKey, WaitTotals)> {
        let words = &self.sums.words()[index * lock_sums::WORDS..][..lock_sums::WORDS];
        let key = words[lock_sums::KEY].load(Relaxed);
        let now = [lock_sums::COUNT, lock_sums::WAIT].map(|word| words[word].load(Relaxed));
        let before = std::mem::replace(&mut self.last[index], now);
        if key == 0 || now[0] == before[0] {
            self.last[index][1] = before[1]; // time without its count is of a wait that is being added
            return None;
        }
        let longest = words[lock_sums::LONGEST].swap(0, Relaxed);
        let place = self.places.name(key as u32, words[lock_sums::PLACE].load(Relaxed));
        let command = command_number(key).checked_sub(1).and_then(|number| self.commands.get(number)).cloned();
        let totals = [now[0].wrapping_sub(before[0]), now[1].wrapping_sub(before[1]), longest];
        Some(((kind_name(key as u32 & ((1 << KIND_BITS) - 1)).into(), place, command), totals))
    }
}

impl MeterPart for LockTable {
    fn rows(&mut self, _: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let mut waits: BTreeMap<WaitKey, WaitTotals> = BTreeMap::new();
        for index in 0..self.last.len() {
            let Some((key, [count, wait_ns, longest_ns])) = self.increase(index) else { continue };
            let totals = waits.entry(key).or_default(); // a function may want a lock at several addresses
            *totals = [totals[0] + count, totals[1] + wait_ns, totals[2].max(longest_ns)];
        }
        sample.lock_waits.extend(waits.into_iter().map(|((kind, place, command), [count, wait_ns, longest_ns])| LockWaitRow {
            at: span.at,
            span_ns: span.span_ns,
            kind,
            place,
            command,
            count,
            wait_ns,
            longest_ns,
        }));
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let lost = self.counter(counter::LOCK_WAITS_LOST);
        let count = lost - std::mem::replace(&mut self.lost, lost);
        let reason = "waits for locks at more places than there is room for".to_string();
        if count == 0 { Vec::new() } else { vec![LostRow { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

impl LockTable {
    fn counter(&self, index: usize) -> u64 {
        let counters: &[AtomicU64] = self.counters.words();
        counters[index].load(Relaxed)
    }
}

/// Names of the functions at addresses. The kernel's list is read when the first address comes.
#[derive(Default)]
struct Places {
    functions: Option<Kallsyms>,
    names: HashMap<u64, Option<Arc<str>>>,
}

impl Places {
    /// The file of a lock on a file, else the function from which a call returns to `address`; None if it is not known.
    fn name(&mut self, kind: u32, address: u64) -> Option<Arc<str>> {
        if address == 0 {
            return None;
        }
        if kind & (kind_bits::FLOCK | kind_bits::FCNTL) != 0 {
            return Some(file_name(address).into());
        }
        let functions = self.functions.get_or_insert_with(|| Kallsyms::read(true).unwrap_or_default());
        self.names.entry(address).or_insert_with(|| functions.name(address - 1).map(Arc::from)).clone()
    }
}

/// A file by its device and its number there, as in `/proc/locks`; `find -inum` finds its path.
fn file_name(place: u64) -> String {
    let (device, number) = (place >> 32, place as u32);
    format!("file {:02x}:{:02x}:{number}", device >> 20, device & 0xf_ffff)
}

/// The command's number in the key of sums; 0 for none.
fn command_number(key: u64) -> usize {
    usize::from((key >> KIND_BITS) as u16)
}

/// The name of a kind of lock and of wait.
fn kind_name(bits: u32) -> String {
    let has = |bit: u32| bits & bit != 0;
    let lock = match () {
        () if has(kind_bits::FLOCK) => return "flock".into(),
        () if has(kind_bits::FCNTL) => return "fcntl".into(),
        () if has(kind_bits::OF_MEMORY) => "mmap_lock",
        () if has(kind_bits::MUTEX) => "mutex",
        () if has(kind_bits::PER_PROCESSOR) => "percpu_rwsem",
        () if has(kind_bits::SPIN) && has(kind_bits::READ | kind_bits::WRITE) => "rwlock",
        () if has(kind_bits::SPIN) => "spinlock",
        () if has(kind_bits::REAL_TIME) => "rt_mutex",
        () if has(kind_bits::READ | kind_bits::WRITE) => "rwsem",
        () => "semaphore",
    };
    match () {
        () if has(kind_bits::READ) => format!("{lock} read"),
        () if has(kind_bits::WRITE) => format!("{lock} write"),
        () => lock.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_by_the_kernels_flags() {
        let names = [0, 1, 1 | 2, 1 | 4, 2, 4, 8, 16 | 2, 32, 64 | 4, 64 | 2, 128, 256].map(kind_name);
        let expected = [
            "semaphore",
            "spinlock",
            "rwlock read",
            "rwlock write",
            "rwsem read",
            "rwsem write",
            "rt_mutex",
            "percpu_rwsem read",
            "mutex",
            "mmap_lock write",
            "mmap_lock read",
            "flock",
            "fcntl",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_file_is_named_as_in_proc_locks() {
        assert_eq!(file_name((253 << 20 | 16) << 32 | 4711), "file fd:10:4711");
    }

    #[test]
    fn a_key_holds_the_command() {
        let key = 0x8123_4567 << 32 | 1 << 31 | 0xfffe << KIND_BITS | 4;
        assert_eq!(command_number(key), 0xfffe);
        assert_eq!(command_number(1 << 31 | 4), 0);
    }
}
