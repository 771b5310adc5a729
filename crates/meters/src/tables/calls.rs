//! Makes rows of system calls: number, errors and time of each.
//!
//! The kernel programs (`bpf/meters/calls.h`) keep totals and a histogram of each system call on each processor. They are read from
//! shared memory if they have grown. A call counts when it returns, or when its process ends.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::load::map_array;
use crate::programs::names::{SYSTEM_CALL_NUMBERS, call_names};
use crate::refusal::MeterRefusal;
use crate::tables::histogram::{HISTOGRAM_BUCKETS, add_buckets, increases};
use crate::wanted::{MeterRequest, Tier};
use loadgo_core::record::{MeterRows, PrimitiveRow};
use loadgo_sys::mapped::MappedWords;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Number of words of `struct primitive`: its totals, and its buckets, two in a word.
pub(crate) const CALL_WORDS: usize = TOTALS + HISTOGRAM_BUCKETS / 2;
/// Number of totals of a system call.
const TOTALS: usize = 5;

/// The system calls at the last reading.
pub(crate) struct CallTable {
    table: MappedWords,
    names: Vec<Arc<str>>,
    last: Vec<CallTotals>,
}

impl CallTable {
    /// Begins the part; None outside of the exact tier.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        if wanted.tier != Tier::Exact {
            return Ok(None);
        }
        let loaded = &context.loaded;
        let table = map_array(loaded, "primitives", loaded.processors as usize * SYSTEM_CALL_NUMBERS * CALL_WORDS * 8)?;
        let last = (0..SYSTEM_CALL_NUMBERS).map(|number| read(&table, number)).collect();
        Ok(Some(Box::new(CallTable { table, names: call_names(), last })))
    }
}

impl MeterPart for CallTable {
    fn rows(&mut self, _: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        for (number, before) in self.last.iter_mut().enumerate() {
            if call_count(&self.table, number) == before.totals[0] {
                continue;
            }
            let now = read(&self.table, number);
            push(&self.names[number], &now, before, span, &mut sample.primitives);
            *before = now;
        }
        Ok(())
    }
}

/// Totals of a system call on all processors, since the programs were loaded.
struct CallTotals {
    /// Count, errors, nanoseconds, nanoseconds off the processor, page faults.
    totals: [u64; TOTALS],
    buckets: [u32; HISTOGRAM_BUCKETS],
}

/// Number of a system call's uses.
fn call_count(table: &MappedWords, number: usize) -> u64 {
    words_by_processor(table, number).map(|words| words[0].load(Relaxed)).sum()
}

fn read(table: &MappedWords, number: usize) -> CallTotals {
    let mut counts = CallTotals { totals: [0; TOTALS], buckets: [0; HISTOGRAM_BUCKETS] };
    for words in words_by_processor(table, number) {
        for (sum, word) in counts.totals.iter_mut().zip(words) {
            *sum = sum.wrapping_add(word.load(Relaxed));
        }
        add_buckets(&mut counts.buckets, words[TOTALS..].iter().map(|word| word.load(Relaxed)));
    }
    counts
}

/// The words of a system call on each processor.
fn words_by_processor(table: &MappedWords, number: usize) -> impl Iterator<Item = &[AtomicU64]> {
    table.words().chunks_exact(CALL_WORDS).skip(number).step_by(SYSTEM_CALL_NUMBERS)
}

fn push(name: &Arc<str>, now: &CallTotals, before: &CallTotals, span: RecordSpan, rows: &mut Vec<PrimitiveRow>) {
    let [count, errors, time_ns, wait_ns, faults] =
        std::array::from_fn(|index| now.totals[index].wrapping_sub(before.totals[index]));
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
    rows.extend(increases(&now.buckets, &before.buckets).map(|(bucket_ns, count)| PrimitiveRow {
        bucket_ns: Some(bucket_ns),
        count,
        errors: None,
        time_ns: None,
        wait_ns: None,
        faults: None,
        ..row.clone()
    }));
}
