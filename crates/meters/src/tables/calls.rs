//! Primitives: how often each system call was made, how often it failed, and how long it took.
//!
//! The kernel's half (`bpf/meters/calls.h`) keeps sums and a histogram of each primitive on each processor; they are read from shared
//! memory, and only those that grew. A call counts when it returns, or when the process that made it is gone.

use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::load::mapped;
use crate::programs::names::{PRIMITIVES, names};
use crate::tables::histogram::{BUCKETS, grown};
use crate::wanted::{Tier, Wanted};
use loadgo_core::record::{PrimitiveRow, Sample};
use loadgo_sys::mapped::MappedWords;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Words of `struct primitive`: its sums, and its buckets, two a word.
const WORDS: usize = SUMS + BUCKETS / 2;
const SUMS: usize = 5;

/// The primitives as they were last read.
pub(crate) struct Calls {
    table: MappedWords,
    names: Vec<Arc<str>>,
    last: Vec<Counts>,
}

impl Calls {
    /// Begins; `None` in the cheap tier.
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        if wanted.tier == Tier::Cheap {
            return Ok(None);
        }
        let loaded = &context.loaded;
        let table = mapped(loaded, "primitives", loaded.processors as usize * PRIMITIVES * WORDS * 8)?;
        let last = (0..PRIMITIVES).map(|number| read(&table, number)).collect();
        Ok(Some(Box::new(Calls { table, names: names(), last })))
    }
}

impl Part for Calls {
    fn rows(&mut self, _: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        for (number, before) in self.last.iter_mut().enumerate() {
            if called(&self.table, number) == before.sums[0] {
                continue;
            }
            let now = read(&self.table, number);
            push(&self.names[number], &now, before, span, &mut sample.primitives);
            *before = now;
        }
        Ok(())
    }
}

/// A primitive on all processors together, since the programs were loaded.
struct Counts {
    /// Count, errors, nanoseconds, those of them off the processor, page faults.
    sums: [u64; SUMS],
    buckets: [u32; BUCKETS],
}

/// How often it was called.
fn called(table: &MappedWords, number: usize) -> u64 {
    everywhere(table, number).map(|words| words[0].load(Relaxed)).sum()
}

fn read(table: &MappedWords, number: usize) -> Counts {
    let mut counts = Counts { sums: [0; SUMS], buckets: [0; BUCKETS] };
    for words in everywhere(table, number) {
        for (sum, word) in counts.sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(word.load(Relaxed));
        }
        for (pair, word) in counts.buckets.chunks_exact_mut(2).zip(&words[SUMS..]) {
            let both = word.load(Relaxed);
            pair[0] = pair[0].wrapping_add(both as u32);
            pair[1] = pair[1].wrapping_add((both >> 32) as u32);
        }
    }
    counts
}

/// The words of a primitive, on each processor.
fn everywhere(table: &MappedWords, number: usize) -> impl Iterator<Item = &[AtomicU64]> {
    table.words().chunks_exact(WORDS).skip(number).step_by(PRIMITIVES)
}

fn push(name: &Arc<str>, now: &Counts, before: &Counts, span: Span, rows: &mut Vec<PrimitiveRow>) {
    let [count, errors, time_ns, wait_ns, faults] = std::array::from_fn(|index| now.sums[index].wrapping_sub(before.sums[index]));
    let row = PrimitiveRow {
        at: span.at,
        span_ns: span.span_ns,
        name: Arc::clone(name),
        user: None,
        command: None,
        bucket_ns: None,
        count,
        errors: Some(errors),
        time_ns: Some(time_ns),
        wait_ns: Some(wait_ns),
        faults: Some(faults),
    };
    rows.push(row.clone());
    rows.extend(grown(&now.buckets, &before.buckets).map(|(bucket_ns, count)| PrimitiveRow {
        bucket_ns: Some(bucket_ns),
        count,
        errors: None,
        time_ns: None,
        wait_ns: None,
        faults: None,
        ..row.clone()
    }));
}
