//! Page faults by kind: counts, times, and histograms of their durations.

use crate::meter::Meter;
use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::load::Loaded;
use crate::tables::histogram::{BUCKETS, grown};
use crate::wanted::{Tier, Wanted};
use aya::maps::{Array, MapData};
use loadgo_core::record::{FaultRow, Sample};

/// What the kernel programs tell apart, in the order of `enum fault_kind`. The last two are counted by the kernel for the
/// task and told by no event: what a primitive faults in on the task's behalf.
pub const KINDS: [&str; 8] =
    ["minor", "major", "swap-in", "write-protect", "segment", "bound", "minor unclocked", "major unclocked"];

/// So many of them, the first, have a duration.
pub(crate) const CLOCKED: usize = 6;

/// Those.
pub(crate) const CLOCKED_KINDS: &[&str] = KINDS.split_at(CLOCKED).0;

/// The faults of one processor, raw: `struct fault_meter`.
type Raw = [u64; 1 + KINDS.len() * SUMS];
/// `struct fault_sums` in numbers of eight bytes.
const SUMS: usize = 3 + BUCKETS / 2;

/// Faults of one kind since the meters began, on all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    pub count: u64,
    pub cpu_ns: u64,
    pub wait_ns: u64,
    pub buckets: [u32; BUCKETS],
}

impl Default for Sums {
    fn default() -> Sums {
        Sums { count: 0, cpu_ns: 0, wait_ns: 0, buckets: [0; BUCKETS] }
    }
}

impl Sums {
    fn add(&mut self, raw: &[u64]) {
        self.count = self.count.wrapping_add(raw[0]);
        self.cpu_ns = self.cpu_ns.wrapping_add(raw[1]);
        self.wait_ns = self.wait_ns.wrapping_add(raw[2]);
        add_buckets(&mut self.buckets, &raw[3..SUMS]);
    }
}

/// Adds a processor's buckets, of which the kernel has two in eight bytes.
pub(crate) fn add_buckets(buckets: &mut [u32; BUCKETS], raw: &[u64]) {
    for (pair, both) in buckets.chunks_exact_mut(2).zip(raw) {
        pair[0] = pair[0].wrapping_add(*both as u32);
        pair[1] = pair[1].wrapping_add((*both >> 32) as u32);
    }
}

/// The faults as they were last read.
pub(crate) struct Faults {
    last: [Sums; KINDS.len()],
}

impl Faults {
    /// # Errors
    /// In words, when the kernel does not answer.
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        let loaded = &context.loaded;
        if wanted.tier != Tier::Exact || loaded.refusal(Meter::Faults).is_some() {
            return Ok(None);
        }
        Ok(Some(Box::new(Faults { last: read(loaded)? })))
    }
}

impl Part for Faults {
    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let read = read(&context.loaded)?;
        for (index, (now, before)) in read.iter().zip(&self.last).enumerate() {
            if now.count != before.count {
                add_rows(span, index, now, before, sample);
            }
        }
        self.last = read;
        Ok(())
    }
}

fn add_rows(span: Span, kind: usize, now: &Sums, before: &Sums, sample: &mut Sample) {
    let row = FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind: KINDS[kind],
        device: None,
        user: None,
        command: None,
        bucket_ns: None,
        count: now.count.wrapping_sub(before.count),
        cpu_ns: (kind < CLOCKED).then(|| now.cpu_ns.wrapping_sub(before.cpu_ns)),
        wait_ns: (kind < CLOCKED).then(|| now.wait_ns.wrapping_sub(before.wait_ns)),
    };
    let buckets = grown(&now.buckets, &before.buckets).map(|(bound, count)| of_bucket(&row, bound, count));
    sample.faults.extend(buckets);
    sample.faults.push(row);
}

/// The row of a histogram beside the row of its sums.
pub(crate) fn of_bucket(sums: &FaultRow, bound_ns: u64, count: u64) -> FaultRow {
    FaultRow { bucket_ns: Some(bound_ns), count, cpu_ns: None, wait_ns: None, ..sums.clone() }
}

/// How many faults were clocked on one processor, and their processor time in nanoseconds.
pub(crate) fn clocked_on(loaded: &Loaded, processor: u32) -> Result<(u64, u64), String> {
    let mut sums = Sums::default();
    let raw = array(loaded)?.get(&processor, 0).map_err(|error| error.to_string())?;
    raw[1..].chunks_exact(SUMS).take(CLOCKED).for_each(|raw| sums.add(raw));
    Ok((sums.count, sums.cpu_ns))
}

/// The sums of all processors.
fn read(loaded: &Loaded) -> Result<[Sums; KINDS.len()], String> {
    let array = array(loaded)?;
    let mut sums = [Sums::default(); KINDS.len()];
    for number in 0..loaded.processors {
        let raw = array.get(&number, 0).map_err(|error| error.to_string())?;
        for (sums, raw) in sums.iter_mut().zip(raw[1..].chunks_exact(SUMS)) {
            sums.add(raw);
        }
    }
    Ok(sums)
}

fn array(loaded: &Loaded) -> Result<Array<&MapData, Raw>, String> {
    let map = loaded.object.map("faults").ok_or("the sums of faults are not there")?;
    Array::try_from(map).map_err(|error| error.to_string())
}
