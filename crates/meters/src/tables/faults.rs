//! Makes rows of page faults by kind: counts, times, and histograms of durations.

use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::tables::histogram::{HISTOGRAM_BUCKETS, add_buckets, increases};
use crate::wanted::{MeterRequest, Tier};
use aya::maps::{Array, MapData};
use loadgo_core::record::{FaultRow, MeterRows};

/// Kinds of faults, in the order of `enum fault_kind`. The kernel counts faults of the last two for the task, but no event reports
/// them: the kernel itself causes them in a system call.
pub const FAULT_KINDS: [&str; 8] =
    ["minor", "major", "swap-in", "write-protect", "segment", "bound", "minor unclocked", "major unclocked"];

/// Number of kinds with a duration, which come first.
pub(crate) const CLOCKED_KINDS_COUNT: usize = 6;

/// Kinds of faults with a duration.
pub(crate) const CLOCKED_KINDS: &[&str] = FAULT_KINDS.split_at(CLOCKED_KINDS_COUNT).0;

/// The faults of one processor as words of `struct fault_meter`.
type RawFaults = [u64; 1 + FAULT_KINDS.len() * TOTALS_WORDS];
/// Number of words of `struct fault_sums`.
const TOTALS_WORDS: usize = 3 + HISTOGRAM_BUCKETS / 2;

/// Totals of one kind of faults since the meters began, on all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultTotals {
    pub count: u64,
    pub cpu_ns: u64,
    pub wait_ns: u64,
    pub buckets: [u32; HISTOGRAM_BUCKETS],
}

impl Default for FaultTotals {
    fn default() -> FaultTotals {
        FaultTotals { count: 0, cpu_ns: 0, wait_ns: 0, buckets: [0; HISTOGRAM_BUCKETS] }
    }
}

impl FaultTotals {
    fn add(&mut self, raw: &[u64]) {
        self.count = self.count.wrapping_add(raw[0]);
        self.cpu_ns = self.cpu_ns.wrapping_add(raw[1]);
        self.wait_ns = self.wait_ns.wrapping_add(raw[2]);
        add_buckets(&mut self.buckets, raw[3..TOTALS_WORDS].iter().copied());
    }
}

/// The faults at the last reading.
pub(crate) struct FaultTable {
    last: [FaultTotals; FAULT_KINDS.len()],
}

impl FaultTable {
    /// Begins the part; None if faults are not metered.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        let loaded = &context.loaded;
        if wanted.tier != Tier::Exact || loaded.refusal(Meter::Faults).is_some() {
            return Ok(None);
        }
        Ok(Some(Box::new(FaultTable { last: read(loaded)? })))
    }
}

impl MeterPart for FaultTable {
    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
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

fn add_rows(span: RecordSpan, kind: usize, now: &FaultTotals, before: &FaultTotals, sample: &mut MeterRows) {
    let row = FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind: FAULT_KINDS[kind],
        device: None,
        user: None,
        command: None,
        bucket_ns: None,
        count: now.count.wrapping_sub(before.count),
        cpu_ns: (kind < CLOCKED_KINDS_COUNT).then(|| now.cpu_ns.wrapping_sub(before.cpu_ns)),
        wait_ns: (kind < CLOCKED_KINDS_COUNT).then(|| now.wait_ns.wrapping_sub(before.wait_ns)),
    };
    let buckets = increases(&now.buckets, &before.buckets).map(|(bound, count)| bucket_row(&row, bound, count));
    sample.faults.extend(buckets);
    sample.faults.push(row);
}

/// The row of a histogram's bucket, which accompanies the row of totals.
pub(crate) fn bucket_row(totals: &FaultRow, bound_ns: u64, count: u64) -> FaultRow {
    FaultRow { bucket_ns: Some(bound_ns), count, cpu_ns: None, wait_ns: None, ..totals.clone() }
}

/// Number of clocked faults on one processor, and their processor time in nanoseconds.
pub(crate) fn clocked_faults_on(loaded: &Loaded, processor: u32) -> Result<(u64, u64), MeterRefusal> {
    let mut sums = FaultTotals::default();
    let raw = array(loaded)?.get(&processor, 0)?;
    raw[1..].chunks_exact(TOTALS_WORDS).take(CLOCKED_KINDS_COUNT).for_each(|raw| sums.add(raw));
    Ok((sums.count, sums.cpu_ns))
}

/// The totals of all processors.
fn read(loaded: &Loaded) -> Result<[FaultTotals; FAULT_KINDS.len()], MeterRefusal> {
    let array = array(loaded)?;
    let mut sums = [FaultTotals::default(); FAULT_KINDS.len()];
    for number in 0..loaded.processors {
        let raw = array.get(&number, 0)?;
        for (sums, raw) in sums.iter_mut().zip(raw[1..].chunks_exact(TOTALS_WORDS)) {
            sums.add(raw);
        }
    }
    Ok(sums)
}

fn array(loaded: &Loaded) -> Result<Array<&MapData, RawFaults>, MeterRefusal> {
    let map = loaded.object.map("faults").ok_or("the sums of faults are not there")?;
    Ok(Array::try_from(map)?)
}
