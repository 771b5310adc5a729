//! Makes rows of interrupts by source: devices, the processor's clock, other processors, and soft interrupts by kind.

use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::tables::faults::bucket_row;
use crate::tables::histogram::{HISTOGRAM_BUCKETS, add_buckets, increases};
use crate::tables::kernel_interrupts::{self, CountsBySource, InterruptSource, SOFT_INTERRUPT_NAMES};
use crate::tables::processors::ProcessorMap;
use crate::tables::unclocked_interrupts::{Clocked, Unclocked};
use crate::wanted::{MeterRequest, Tier};
use aya::maps::{Array, MapData, PerCpuHashMap, PerCpuValues};
use loadgo_core::record::{FaultRow, LostRow, MeterRows};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Names of interrupts without a device, in the order of `bpf/meters/interrupts.h`.
const VECTOR_NAMES: [&str; 8] =
    ["local timer", "rescheduling", "function call", "single function call", "work", "thermal", "between processors", ""];

/// Number of words of `struct interrupt_sums`.
const TOTALS_WORDS: usize = 2 + HISTOGRAM_BUCKETS / 2;
/// Number of words before the totals in `struct interrupt_meter`. The last of them counts device interrupts that found no room.
const HEAD_WORDS: usize = 3;
type RawInterrupts = [u64; HEAD_WORDS + (VECTOR_NAMES.len() + SOFT_INTERRUPT_NAMES.len()) * TOTALS_WORDS];

/// The totals of one device on each processor.
type TotalsByProcessor = PerCpuValues<[u64; TOTALS_WORDS]>;

/// Totals of one source of interrupts since the meters began, on all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InterruptTotals {
    pub count: u64,
    pub cpu_ns: u64,
    pub buckets: [u32; HISTOGRAM_BUCKETS],
}

const NO_INTERRUPTS: InterruptTotals = InterruptTotals { count: 0, cpu_ns: 0, buckets: [0; HISTOGRAM_BUCKETS] };

impl InterruptTotals {
    fn add(&mut self, raw: &[u64]) {
        self.count = self.count.wrapping_add(raw[0]);
        self.cpu_ns = self.cpu_ns.wrapping_add(raw[1]);
        add_buckets(&mut self.buckets, raw[2..TOTALS_WORDS].iter().copied());
    }

    fn add_totals(&mut self, other: &InterruptTotals) {
        self.count = self.count.wrapping_add(other.count);
        self.cpu_ns = self.cpu_ns.wrapping_add(other.cpu_ns);
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets) {
            *bucket = bucket.wrapping_add(more);
        }
    }
}

type TotalsBySource = BTreeMap<InterruptSource, InterruptTotals>;

/// Kinds of the table `faults`: that of clocked interrupts, and that of interrupts without a time.
const CLOCKED_AND_UNCLOCKED_KINDS: [(&str, &str); 2] =
    [("interrupt", "interrupt unclocked"), ("soft interrupt", "soft interrupt unclocked")];

/// Largest number of readings in a span. On processors that always have interrupts, no reading is exact.
const READING_TRIES: u32 = 5;

/// The interrupts at the last reading.
pub(crate) struct InterruptTable {
    processors: ProcessorMap,
    last: TotalsBySource,
    unclocked: Unclocked,
    last_unclocked: BTreeMap<InterruptSource, u64>,
    names: HashMap<u32, Arc<str>>,
    lost: u64,
    newly_lost: u64,
}

/// One reading of the programs' counts.
struct InterruptReading {
    all: TotalsBySource,
    clocked: Clocked,
    /// Number of device interrupts for which there was no room.
    lost: u64,
}

impl InterruptTable {
    /// Begins the part; None if interrupts are not metered.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        let loaded = &context.loaded;
        if wanted.tier != Tier::Exact || loaded.refusal(Meter::Interrupts).is_some() {
            return Ok(None);
        }
        let mut interrupts = InterruptTable {
            processors: ProcessorMap::open(loaded)?,
            last: TotalsBySource::new(),
            unclocked: Unclocked::default(),
            last_unclocked: BTreeMap::new(),
            names: HashMap::new(),
            lost: 0,
            newly_lost: 0,
        };
        let read = interrupts.read_between(loaded, Unclocked::begin)?;
        (interrupts.last, interrupts.lost) = (read.all, read.lost);
        Ok(Some(Box::new(interrupts)))
    }

    /// Reads until the unclocked interrupts are known exactly, or [`READING_TRIES`] times. `learn` gets each reading, with the kernel's
    /// counts before and after it.
    fn read_between(
        &mut self,
        loaded: &Loaded,
        learn: fn(&mut Unclocked, &CountsBySource, &Clocked, &CountsBySource) -> bool,
    ) -> Result<InterruptReading, MeterRefusal> {
        let mut before = self.kernel_counts(loaded);
        for _ in 1..READING_TRIES {
            let read = self.read(loaded)?;
            let after = self.kernel_counts(loaded);
            if learn(&mut self.unclocked, &before, &read.clocked, &after) {
                return Ok(read);
            }
            before = after;
        }
        self.read(loaded)
    }

    /// The kernel's own counts; empty if it does not show them.
    fn kernel_counts(&mut self, loaded: &Loaded) -> CountsBySource {
        kernel_interrupts::read(loaded.processors, |number| self.name(number)).unwrap_or_default()
    }

    fn name(&mut self, number: u32) -> Arc<str> {
        self.names.entry(number).or_insert_with(|| read_device_name(number)).clone()
    }

    fn read(&mut self, loaded: &Loaded) -> Result<InterruptReading, MeterRefusal> {
        let clocked = Clocked { counts: CountsBySource::new(), under_way: self.processors.in_interrupts() };
        let mut read = InterruptReading { all: TotalsBySource::new(), clocked, lost: 0 };
        for number in 0..loaded.processors {
            read.add_fixed_sources(loaded, number)?;
        }
        for (number, by_processor) in read_devices(loaded)? {
            let source = InterruptSource { kind: "interrupt", name: self.name(number) };
            (0..).zip(by_processor.iter()).for_each(|(processor, raw)| read.add(loaded, &source, processor, raw));
        }
        Ok(read)
    }

    /// Adds rows of unclocked interrupts in the span, which have a count and no time.
    fn add_unclocked(&mut self, span: RecordSpan, sample: &mut MeterRows) {
        let now = self.unclocked.by_source();
        for (clocked, unclocked) in CLOCKED_AND_UNCLOCKED_KINDS {
            let increases = now.iter().filter(|(source, _)| source.kind == clocked).filter_map(|(source, count)| {
                let more = count - self.last_unclocked.get(source).unwrap_or(&0);
                (more > 0).then_some((&source.name, more))
            });
            let rows: Vec<FaultRow> = increases.map(|(name, count)| unclocked_row(span, unclocked, Some(name), count)).collect();
            let all = rows.iter().map(|row| row.count).sum();
            sample.faults.extend((all > 0).then(|| unclocked_row(span, unclocked, None, all)));
            sample.faults.extend(rows);
        }
        self.last_unclocked = now;
    }
}

impl InterruptReading {
    /// Adds interrupts without a device on one processor.
    fn add_fixed_sources(&mut self, loaded: &Loaded, processor: u32) -> Result<(), MeterRefusal> {
        let map = loaded.object.map("interrupts").ok_or("the sums of interrupts are not there")?;
        let array: Array<&MapData, RawInterrupts> = Array::try_from(map)?;
        let raw = array.get(&processor, 0)?;
        self.lost += raw[HEAD_WORDS - 1];
        for (index, raw) in raw[HEAD_WORDS..].chunks_exact(TOTALS_WORDS).enumerate().filter(|(_, raw)| raw[0] > 0) {
            self.add(loaded, &fixed_source(index), processor as usize, raw);
        }
        Ok(())
    }

    fn add(&mut self, loaded: &Loaded, source: &InterruptSource, processor: usize, raw: &[u64]) {
        if raw[0] == 0 {
            return;
        }
        self.all.entry(source.clone()).or_insert(NO_INTERRUPTS).add(raw);
        let kernel_source = kernel_interrupts::kernel_source(source);
        let counts = self.clocked.counts.entry(kernel_source).or_insert_with(|| vec![0; loaded.processors as usize]);
        if let Some(count) = counts.get_mut(processor) {
            *count = count.wrapping_add(raw[0] as u32);
        }
    }
}

impl MeterPart for InterruptTable {
    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let InterruptReading { all, lost, .. } = self.read_between(&context.loaded, Unclocked::learn)?;
        for (kind, _) in CLOCKED_AND_UNCLOCKED_KINDS {
            add_rows(span, kind, None, &sum(&all, kind), &sum(&self.last, kind), sample);
        }
        for (source, now) in &all {
            let before = self.last.get(source).unwrap_or(&NO_INTERRUPTS);
            add_rows(span, source.kind, Some(&source.name), now, before, sample);
        }
        self.add_unclocked(span, sample);
        self.last = all;
        self.newly_lost += lost - self.lost;
        self.lost = lost;
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let count = std::mem::take(&mut self.newly_lost);
        let reason = "interrupts of more devices than the meters can distinguish".into();
        if count == 0 { Vec::new() } else { vec![LostRow { at: span.at, user: None, what: "record", count, reason }] }
    }
}

/// Totals of all sources of a kind.
fn sum(all: &TotalsBySource, kind: &str) -> InterruptTotals {
    let mut sums = NO_INTERRUPTS;
    all.iter().filter(|(source, _)| source.kind == kind).for_each(|(_, source_totals)| sums.add_totals(source_totals));
    sums
}

fn add_rows(
    span: RecordSpan,
    kind: &'static str,
    device: Option<&Arc<str>>,
    now: &InterruptTotals,
    before: &InterruptTotals,
    sample: &mut MeterRows,
) {
    let count = now.count.wrapping_sub(before.count);
    if count == 0 {
        return;
    }
    let row = FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind,
        device: device.cloned(),
        user: None,
        command: None,
        bucket_ns: None,
        count,
        cpu_ns: Some(now.cpu_ns.wrapping_sub(before.cpu_ns)),
        wait_ns: None,
    };
    let buckets = increases(&now.buckets, &before.buckets).map(|(bound, count)| bucket_row(&row, bound, count));
    sample.faults.extend(buckets);
    sample.faults.push(row);
}

fn unclocked_row(span: RecordSpan, kind: &'static str, device: Option<&Arc<str>>, count: u64) -> FaultRow {
    FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind,
        device: device.cloned(),
        user: None,
        command: None,
        bucket_ns: None,
        count,
        cpu_ns: None,
        wait_ns: None,
    }
}

fn fixed_source(index: usize) -> InterruptSource {
    match index.checked_sub(VECTOR_NAMES.len()) {
        None => InterruptSource { kind: "interrupt", name: VECTOR_NAMES[index].into() },
        Some(soft) => InterruptSource { kind: "soft interrupt", name: SOFT_INTERRUPT_NAMES[soft].into() },
    }
}

/// Reads the totals of device interrupts, by the interrupt's number.
fn read_devices(loaded: &Loaded) -> Result<Vec<(u32, TotalsByProcessor)>, MeterRefusal> {
    let map = loaded.object.map("devices").ok_or("the sums of devices are not there")?;
    let hash: PerCpuHashMap<&MapData, u32, [u64; TOTALS_WORDS]> = PerCpuHashMap::try_from(map)?;
    Ok(hash.iter().collect::<Result<_, _>>()?)
}

/// The name of a device's interrupt: the names of its handlers.
fn read_device_name(number: u32) -> Arc<str> {
    let handlers = std::fs::read_to_string(format!("/sys/kernel/irq/{number}/actions")).unwrap_or_default();
    match handlers.trim() {
        "" => format!("interrupt {number}").into(),
        handlers => handlers.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::load::load;
    use aya::programs::BtfTracePoint;
    use loadgo_core::time::Instant;
    use std::io::Write as _;

    const SPAN: RecordSpan = RecordSpan { at: Instant(0), span_ns: 1, monotonic_ns: 0 };

    fn begin_part() -> Option<(Context, Box<dyn MeterPart>)> {
        let wanted = MeterRequest { tier: Tier::Exact, accounts: 1, commands: Vec::new(), locks: false, profile_hz: None };
        let loaded = crate::available::check_kernel_programs().and_then(|()| load(&wanted));
        match loaded {
            Ok(loaded) => {
                let mut context = Context::new(loaded);
                let part =
                    InterruptTable::begin(&mut context, &wanted).expect("the kernel answers").expect("interrupts are metered");
                Some((context, part))
            }
            Err(refusal) => {
                let _ = writeln!(std::io::stderr(), "not tried: interrupts that no program sees: {refusal}");
                None
            }
        }
    }

    fn count(sample: &MeterRows, kind: &str) -> u64 {
        let rows = sample.faults.iter().filter(|row| row.kind == kind && row.device.is_none() && row.bucket_ns.is_none());
        rows.map(|row| row.count).sum()
    }

    /// Number of soft interrupts that the kernel has counted.
    fn soft_interrupts(loaded: &Loaded) -> u64 {
        let counts =
            kernel_interrupts::read(loaded.processors, |number| number.to_string().into()).expect("the kernel shows them");
        let soft = counts.iter().filter(|(source, _)| source.kind == "soft interrupt");
        soft.flat_map(|(_, counts)| counts).map(|count| u64::from(*count)).sum()
    }

    #[test]
    fn interrupts_that_no_program_sees_are_counted_and_have_no_time() {
        let Some((mut context, mut part)) = begin_part() else { return };
        for name in ["on_soft", "after_soft"] {
            let program = context.loaded.object.program_mut(name).expect("it is in the object");
            let program: &mut BtfTracePoint = program.try_into().expect("it is one");
            program.unload().expect("it is ours");
        }
        part.rows(&mut context, SPAN, &mut MeterRows::default()).expect("the kernel answers");
        let (began, mut sample) = (soft_interrupts(&context.loaded), MeterRows::default());
        while soft_interrupts(&context.loaded) < began + 300 {
            std::thread::yield_now();
        }
        let least = soft_interrupts(&context.loaded) - began;
        part.rows(&mut context, SPAN, &mut sample).expect("the kernel answers");
        let most = soft_interrupts(&context.loaded) - began;
        let unclocked = count(&sample, "soft interrupt unclocked");
        assert_eq!(count(&sample, "soft interrupt"), 0);
        // Of each kind one may come between the two readings of a processor.
        let between = 10 * u64::from(context.loaded.processors);
        assert!((least - between..=most + between).contains(&unclocked), "{unclocked} of {least}..={most}");
        let rows = sample.faults.iter().filter(|row| row.kind == "soft interrupt unclocked");
        assert!(rows.clone().all(|row| (row.cpu_ns, row.wait_ns, row.bucket_ns) == (None, None, None)));
        assert_eq!(rows.filter(|row| row.device.is_some()).map(|row| row.count).sum::<u64>(), unclocked);
    }
}
