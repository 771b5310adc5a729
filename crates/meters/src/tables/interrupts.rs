//! Interrupts by source: of devices, of the processor's own clock, between processors, and soft ones by kind.

use crate::meter::Meter;
use crate::part::{Context, Part, Span};
use crate::programs::load::Loaded;
use crate::tables::faults::{add_buckets, of_bucket};
use crate::tables::histogram::{BUCKETS, grown};
use crate::tables::kernel_interrupts::{self, Counts, SOFT, Source};
use crate::tables::processors::Processors;
use crate::tables::unclocked_interrupts::{Clocked, Unclocked};
use crate::wanted::{Tier, Wanted};
use aya::maps::{Array, MapData, PerCpuHashMap, PerCpuValues};
use loadgo_core::record::{FaultRow, Lost, Sample};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Interrupts without a device, in the order of `bpf/meters/interrupts.h`.
const VECTORS: [&str; 8] =
    ["local timer", "rescheduling", "function call", "single function call", "work", "thermal", "between processors", ""];

/// `struct interrupt_sums` in numbers of eight bytes.
const SUMS: usize = 2 + BUCKETS / 2;
/// The counts before the sums in `struct interrupt_meter`, of which the last is of interrupts that were not counted.
const HEAD: usize = 3;
type Raw = [u64; HEAD + (VECTORS.len() + SOFT.len()) * SUMS];

/// The sums of one device on each processor.
type OfProcessors = PerCpuValues<[u64; SUMS]>;

/// Interrupts of one source since the meters began, on all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    pub count: u64,
    pub cpu_ns: u64,
    pub buckets: [u32; BUCKETS],
}

const NONE: Sums = Sums { count: 0, cpu_ns: 0, buckets: [0; BUCKETS] };

impl Sums {
    fn add(&mut self, raw: &[u64]) {
        self.count = self.count.wrapping_add(raw[0]);
        self.cpu_ns = self.cpu_ns.wrapping_add(raw[1]);
        add_buckets(&mut self.buckets, &raw[2..SUMS]);
    }

    fn add_sums(&mut self, other: &Sums) {
        self.count = self.count.wrapping_add(other.count);
        self.cpu_ns = self.cpu_ns.wrapping_add(other.cpu_ns);
        for (bucket, more) in self.buckets.iter_mut().zip(other.buckets) {
            *bucket = bucket.wrapping_add(more);
        }
    }
}

type All = BTreeMap<Source, Sums>;

/// Interrupts whose beginning and end were seen, and the others: the kinds of the table `faults`.
const KINDS: [(&str, &str); 2] = [("interrupt", "interrupt unclocked"), ("soft interrupt", "soft interrupt unclocked")];

/// Readings of a span: where processors are never without interrupts, no reading is exact.
const TRIES: u32 = 5;

/// The interrupts as they were last read.
pub(crate) struct Interrupts {
    processors: Processors,
    last: All,
    unclocked: Unclocked,
    last_unclocked: BTreeMap<Source, u64>,
    names: HashMap<u32, Arc<str>>,
    lost: u64,
    newly_lost: u64,
}

/// What the programs have counted.
struct Reading {
    all: All,
    clocked: Clocked,
    /// Interrupts of devices that found no room.
    lost: u64,
}

impl Interrupts {
    /// # Errors
    /// In words, when the kernel does not answer.
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        let loaded = &context.loaded;
        if wanted.tier != Tier::Exact || loaded.refusal(Meter::Interrupts).is_some() {
            return Ok(None);
        }
        let mut interrupts = Interrupts {
            processors: Processors::open(loaded)?,
            last: All::new(),
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

    /// Reads until what is unclocked is known exactly, or as well as it can be; `learn` is given each reading between two of the
    /// kernel's.
    fn read_between(
        &mut self,
        loaded: &Loaded,
        learn: fn(&mut Unclocked, &Counts, &Clocked, &Counts) -> bool,
    ) -> Result<Reading, String> {
        let mut before = self.kernels(loaded);
        for _ in 1..TRIES {
            let read = self.read(loaded)?;
            let after = self.kernels(loaded);
            if learn(&mut self.unclocked, &before, &read.clocked, &after) {
                return Ok(read);
            }
            before = after;
        }
        self.read(loaded)
    }

    /// What the kernel itself has counted; nothing where it does not show it, as [`crate::available`] tells.
    fn kernels(&mut self, loaded: &Loaded) -> Counts {
        kernel_interrupts::read(loaded.processors, |number| self.name(number)).unwrap_or_default()
    }

    fn name(&mut self, number: u32) -> Arc<str> {
        self.names.entry(number).or_insert_with(|| name_of(number)).clone()
    }

    fn read(&mut self, loaded: &Loaded) -> Result<Reading, String> {
        let clocked = Clocked { counts: Counts::new(), under_way: self.processors.in_interrupts() };
        let mut read = Reading { all: All::new(), clocked, lost: 0 };
        for number in 0..loaded.processors {
            read.add_fixed(loaded, number)?;
        }
        for (number, of_processors) in devices(loaded)? {
            let source = Source { kind: "interrupt", name: self.name(number) };
            (0..).zip(of_processors.iter()).for_each(|(processor, raw)| read.add(loaded, &source, processor, raw));
        }
        Ok(read)
    }

    /// Adds what was not clocked in the span, which has a count and no time.
    fn add_unclocked(&mut self, span: Span, sample: &mut Sample) {
        let now = self.unclocked.by_source();
        for (clocked, unclocked) in KINDS {
            let grown = now.iter().filter(|(source, _)| source.kind == clocked).filter_map(|(source, count)| {
                let more = count - self.last_unclocked.get(source).unwrap_or(&0);
                (more > 0).then_some((&source.name, more))
            });
            let rows: Vec<FaultRow> = grown.map(|(name, count)| unclocked_row(span, unclocked, Some(name), count)).collect();
            let all = rows.iter().map(|row| row.count).sum();
            sample.faults.extend((all > 0).then(|| unclocked_row(span, unclocked, None, all)));
            sample.faults.extend(rows);
        }
        self.last_unclocked = now;
    }
}

impl Reading {
    /// Adds what has no device, of a processor.
    fn add_fixed(&mut self, loaded: &Loaded, processor: u32) -> Result<(), String> {
        let map = loaded.object.map("interrupts").ok_or("the sums of interrupts are not there")?;
        let array: Array<&MapData, Raw> = Array::try_from(map).map_err(|error| error.to_string())?;
        let raw = array.get(&processor, 0).map_err(|error| error.to_string())?;
        self.lost += raw[HEAD - 1];
        for (index, raw) in raw[HEAD..].chunks_exact(SUMS).enumerate().filter(|(_, raw)| raw[0] > 0) {
            self.add(loaded, &fixed(index), processor as usize, raw);
        }
        Ok(())
    }

    fn add(&mut self, loaded: &Loaded, source: &Source, processor: usize, raw: &[u64]) {
        if raw[0] == 0 {
            return;
        }
        self.all.entry(source.clone()).or_insert(NONE).add(raw);
        let of_kernels = kernel_interrupts::source_of(source);
        let counts = self.clocked.counts.entry(of_kernels).or_insert_with(|| vec![0; loaded.processors as usize]);
        if let Some(count) = counts.get_mut(processor) {
            *count = count.wrapping_add(raw[0] as u32);
        }
    }
}

impl Part for Interrupts {
    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let Reading { all, lost, .. } = self.read_between(&context.loaded, Unclocked::learn)?;
        for (kind, _) in KINDS {
            add_rows(span, kind, None, &sum(&all, kind), &sum(&self.last, kind), sample);
        }
        for (source, now) in &all {
            let before = self.last.get(source).unwrap_or(&NONE);
            add_rows(span, source.kind, Some(&source.name), now, before, sample);
        }
        self.add_unclocked(span, sample);
        self.last = all;
        self.newly_lost += lost - self.lost;
        self.lost = lost;
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: Span) -> Vec<Lost> {
        let count = std::mem::take(&mut self.newly_lost);
        let reason = "interrupts of more devices than are told apart".into();
        if count == 0 { Vec::new() } else { vec![Lost { at: span.at, user: None, what: "record", count, reason }] }
    }
}

/// All sources of a kind together.
fn sum(all: &All, kind: &str) -> Sums {
    let mut sums = NONE;
    all.iter().filter(|(source, _)| source.kind == kind).for_each(|(_, of_source)| sums.add_sums(of_source));
    sums
}

fn add_rows(span: Span, kind: &'static str, device: Option<&Arc<str>>, now: &Sums, before: &Sums, sample: &mut Sample) {
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
    let buckets = grown(&now.buckets, &before.buckets).map(|(bound, count)| of_bucket(&row, bound, count));
    sample.faults.extend(buckets);
    sample.faults.push(row);
}

fn unclocked_row(span: Span, kind: &'static str, device: Option<&Arc<str>>, count: u64) -> FaultRow {
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

fn fixed(index: usize) -> Source {
    match index.checked_sub(VECTORS.len()) {
        None => Source { kind: "interrupt", name: VECTORS[index].into() },
        Some(soft) => Source { kind: "soft interrupt", name: SOFT[soft].into() },
    }
}

/// The devices' interrupts by their numbers.
fn devices(loaded: &Loaded) -> Result<Vec<(u32, OfProcessors)>, String> {
    let map = loaded.object.map("devices").ok_or("the sums of devices are not there")?;
    let hash: PerCpuHashMap<&MapData, u32, [u64; SUMS]> = PerCpuHashMap::try_from(map).map_err(|error| error.to_string())?;
    hash.iter().map(|entry| entry.map_err(|error| error.to_string())).collect()
}

/// What the kernel calls a device's interrupt: those who handle it.
fn name_of(number: u32) -> Arc<str> {
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
    use crate::refused::Refused;
    use aya::programs::BtfTracePoint;
    use loadgo_core::time::Instant;
    use std::io::Write as _;

    const SPAN: Span = Span { at: Instant(0), span_ns: 1, monotonic_ns: 0 };

    fn begun() -> Option<(Context, Box<dyn Part>)> {
        let wanted = Wanted { tier: Tier::Exact, accounts: 1, commands: Vec::new(), profile_hz: None, segments: false };
        let loaded = crate::available::check_kernel_programs().map_err(Refused::from).and_then(|()| load(&wanted));
        match loaded {
            Ok(loaded) => {
                let mut context = Context::new(loaded);
                let part = Interrupts::begin(&mut context, &wanted).expect("the kernel answers").expect("interrupts are metered");
                Some((context, part))
            }
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "not tried: interrupts that no program sees: {why}");
                None
            }
        }
    }

    fn count(sample: &Sample, kind: &str) -> u64 {
        let rows = sample.faults.iter().filter(|row| row.kind == kind && row.device.is_none() && row.bucket_ns.is_none());
        rows.map(|row| row.count).sum()
    }

    /// Soft interrupts that the kernel has counted.
    fn soft_interrupts(loaded: &Loaded) -> u64 {
        let counts =
            kernel_interrupts::read(loaded.processors, |number| number.to_string().into()).expect("the kernel shows them");
        let soft = counts.iter().filter(|(source, _)| source.kind == "soft interrupt");
        soft.flat_map(|(_, counts)| counts).map(|count| u64::from(*count)).sum()
    }

    #[test]
    fn what_no_program_sees_is_counted_and_has_no_time() {
        let Some((mut context, mut part)) = begun() else { return };
        for name in ["on_soft", "after_soft"] {
            let program = context.loaded.object.program_mut(name).expect("it is in the object");
            let program: &mut BtfTracePoint = program.try_into().expect("it is one");
            program.unload().expect("it is ours");
        }
        part.rows(&mut context, SPAN, &mut Sample::default()).expect("the kernel answers");
        let (began, mut sample) = (soft_interrupts(&context.loaded), Sample::default());
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
