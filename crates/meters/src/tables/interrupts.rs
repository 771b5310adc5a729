//! Interrupts by source: of devices, of the processor's own clock, between processors, and soft ones by kind.

use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::load::Loaded;
use crate::tables::faults::{add_buckets, of_bucket};
use crate::tables::histogram::{BUCKETS, grown};
use crate::wanted::{Tier, Wanted};
use aya::maps::{Array, MapData, PerCpuHashMap};
use loadgo_core::record::{FaultRow, Lost, Sample};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Interrupts without a device, in the order of `bpf/meters/interrupts.h`.
const VECTORS: [&str; 8] =
    ["local timer", "rescheduling", "function call", "single function call", "work", "thermal", "between processors", ""];
/// Soft interrupts, in the order of the kernel's `softirq_to_name`.
const SOFT: [&str; 16] =
    ["high", "timer", "net-tx", "net-rx", "block", "poll", "tasklet", "sched", "hrtimer", "rcu", "", "", "", "", "", ""];

/// `struct interrupt_sums` in numbers of eight bytes.
const SUMS: usize = 2 + BUCKETS / 2;
/// The counts before the sums in `struct interrupt_meter`, of which the last is of interrupts that were not counted.
const HEAD: usize = 3;
type Raw = [u64; HEAD + (VECTORS.len() + SOFT.len()) * SUMS];

/// Which source: a kind of the table `faults`, and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    pub kind: &'static str,
    pub name: Arc<str>,
}

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

/// The interrupts as they were last read.
pub(crate) struct Interrupts {
    last: All,
    names: HashMap<u32, Arc<str>>,
    lost: u64,
}

impl Interrupts {
    /// # Errors
    /// In words, when the kernel does not answer.
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        let loaded = &context.loaded;
        if wanted.tier != Tier::Exact || loaded.why_not("interrupts").is_some() {
            return Ok(None);
        }
        let mut interrupts = Interrupts { last: All::new(), names: HashMap::new(), lost: 0 };
        (interrupts.last, interrupts.lost) = interrupts.read(loaded)?;
        Ok(Some(Box::new(interrupts)))
    }

    /// All sums, and how many interrupts were not counted.
    fn read(&mut self, loaded: &Loaded) -> Result<(All, u64), String> {
        let mut all = All::new();
        let lost = add_fixed(loaded, &mut all)?;
        for (number, sums) in devices(loaded)? {
            let source = Source { kind: "interrupt", name: self.names.entry(number).or_insert_with(|| name_of(number)).clone() };
            all.entry(source).or_insert(NONE).add_sums(&sums);
        }
        Ok((all, lost))
    }
}

impl Part for Interrupts {
    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let (read, _) = self.read(&context.loaded)?;
        for kind in ["interrupt", "soft interrupt"] {
            add_rows(span, kind, None, &sum(&read, kind), &sum(&self.last, kind), sample);
        }
        for (source, now) in &read {
            let before = self.last.get(source).unwrap_or(&NONE);
            add_rows(span, source.kind, Some(&source.name), now, before, sample);
        }
        self.last = read;
        Ok(())
    }

    fn take_lost(&mut self, context: &Context, span: Span) -> Vec<Lost> {
        let mut none = All::new();
        let now = add_fixed(&context.loaded, &mut none).unwrap_or(self.lost);
        let count = now - self.lost;
        self.lost = now;
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

/// Adds what has no device; how many interrupts of devices were not counted.
fn add_fixed(loaded: &Loaded, all: &mut All) -> Result<u64, String> {
    let map = loaded.object.map("interrupts").ok_or("the sums of interrupts are not there")?;
    let array: Array<&MapData, Raw> = Array::try_from(map).map_err(|error| error.to_string())?;
    let mut lost = 0;
    for number in 0..loaded.processors {
        let raw = array.get(&number, 0).map_err(|error| error.to_string())?;
        lost += raw[HEAD - 1];
        for (index, raw) in raw[HEAD..].chunks_exact(SUMS).enumerate().filter(|(_, raw)| raw[0] > 0) {
            all.entry(fixed(index)).or_insert(NONE).add(raw);
        }
    }
    Ok(lost)
}

fn fixed(index: usize) -> Source {
    match index.checked_sub(VECTORS.len()) {
        None => Source { kind: "interrupt", name: VECTORS[index].into() },
        Some(soft) => Source { kind: "soft interrupt", name: SOFT[soft].into() },
    }
}

/// The devices' interrupts by their numbers.
fn devices(loaded: &Loaded) -> Result<Vec<(u32, Sums)>, String> {
    let map = loaded.object.map("devices").ok_or("the sums of devices are not there")?;
    let hash: PerCpuHashMap<&MapData, u32, [u64; SUMS]> = PerCpuHashMap::try_from(map).map_err(|error| error.to_string())?;
    let mut devices = Vec::new();
    for entry in hash.iter() {
        let (number, processors) = entry.map_err(|error| error.to_string())?;
        let mut sums = NONE;
        processors.iter().for_each(|raw| sums.add(raw));
        devices.push((number, sums));
    }
    Ok(devices)
}

/// What the kernel calls a device's interrupt: those who handle it.
fn name_of(number: u32) -> Arc<str> {
    let handlers = std::fs::read_to_string(format!("/sys/kernel/irq/{number}/actions")).unwrap_or_default();
    match handlers.trim() {
        "" => format!("interrupt {number}").into(),
        handlers => handlers.into(),
    }
}
