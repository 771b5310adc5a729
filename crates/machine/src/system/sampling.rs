//! The engine's meters as rows, span by span: what has come since the span before.
//!
//! Spans are a second of virtual time; after [`SPANS`] of them they become twice as long, and so on, so that a run of any length
//! has few rows. Histograms of durations come at those moments only, where a phase begins, and at the end.

use super::super::engine::Engine;
use super::super::meters::{Category, FaultKind, Meters, Primitive, Tally};
use super::super::spec::Machine;
use super::memory::Memory;
pub(super) use super::span::{End, Span};
use loadgo_core::record::{FaultRow, PrimitiveRow, ProcessRow, QueueRow, Sample, SegmentRow, TimeRow};
use loadgo_core::time::Instant;
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;

/// So many spans have the same length.
const SPANS: u32 = 512;

/// The meters as they were at the last span's end, and when the next one ends.
pub(super) struct Sampling {
    before: Meters,
    /// The meters at the end of the last histogram.
    last_histogram: Meters,
    commands: Vec<Arc<str>>,
    stores: Vec<Arc<str>>,
    processors: Arc<str>,
    memory: Memory,
    period_ns: u64,
    left: u32,
    due: u64,
}

impl Sampling {
    pub(super) fn begin(machine: &Machine, engine: &Engine) -> Sampling {
        let now = engine.meters();
        let stores: Vec<Arc<str>> = machine.stores.iter().map(|store| store.name.as_str().into()).collect();
        Sampling {
            last_histogram: now.clone(),
            due: now.at + SECOND_NS,
            before: now,
            commands: machine.commands.iter().map(|command| command.name.as_str().into()).collect(),
            memory: Memory::new(&stores),
            stores,
            processors: "processors".into(),
            period_ns: SECOND_NS,
            left: SPANS,
        }
    }

    /// When the span in hand ends.
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// The rows of the span that ends now; `None` when no time has passed.
    pub(super) fn sample(&mut self, engine: &Engine, end: End) -> Option<Sample> {
        let now = engine.meters();
        if now.at == self.before.at {
            return None;
        }
        let span = Span { at: Instant(now.at), span_ns: now.at - self.before.at };
        let mut sample = Sample::default();
        self.time(&now, span, &mut sample);
        self.sums(&now, span, &mut sample);
        self.queues(&now, span, &mut sample);
        if let Some(memory) = engine.memory() {
            self.memory.rows(&memory, span, end, &mut sample.memory);
        }
        self.left -= 1;
        if self.left == 0 || end == End::Cut {
            self.histograms(&now, &mut sample);
        }
        if self.left == 0 {
            (self.left, self.period_ns) = (SPANS, self.period_ns * 2);
        }
        self.due = now.at + self.period_ns;
        self.before = now;
        Some(sample)
    }

    fn time(&self, now: &Meters, span: Span, sample: &mut Sample) {
        let Span { at, span_ns } = span;
        let (mut users_ns, mut supervisor_ns) = (0, 0);
        for (processor, (times, before)) in now.time_ns.iter().zip(&self.before.time_ns).enumerate() {
            let mut whole_ns = 0;
            for category in Category::ALL {
                let time_ns = times[category as usize] - before[category as usize];
                whole_ns += time_ns;
                match category {
                    Category::User => users_ns += time_ns,
                    idle if idle.is_idle() => {}
                    _ => supervisor_ns += time_ns,
                }
                if time_ns > 0 {
                    sample.time.push(TimeRow {
                        at,
                        span_ns,
                        processor: Some(processor as u16),
                        category: category.name(),
                        time_ns,
                    });
                }
            }
            assert_eq!(whole_ns, span_ns, "the time of processor {processor} does not add up");
        }
        for (who, cpu_ns) in [("users", users_ns), ("supervisor", supervisor_ns)] {
            let who = who.into();
            sample.processes.push(ProcessRow { at, span_ns, who, cpu_ns, memory_bytes: None, user: None, ready_wait_ns: None });
        }
    }

    fn sums(&self, now: &Meters, span: Span, sample: &mut Sample) {
        for kind in FaultKind::ALL {
            let (told, before) = (&now.faults[kind as usize], &self.before.faults[kind as usize]);
            if told.count > before.count {
                let sums = (told.count - before.count, told.cpu_ns - before.cpu_ns, told.wait_ns - before.wait_ns);
                sample.faults.push(fault(span, kind, None, sums));
            }
        }
        for primitive in Primitive::ALL {
            let (told, before) = (&now.primitives[primitive as usize], &self.before.primitives[primitive as usize]);
            if told.count > before.count {
                let sums = (told.count - before.count, told.cpu_ns - before.cpu_ns);
                sample.primitives.push(done(span, primitive, None, sums));
            }
        }
        for (command, (told, before)) in now.command_faults.iter().zip(&self.before.command_faults).enumerate() {
            if told > before {
                let segment = Arc::clone(&self.commands[command]);
                let (faults_minor, faults_major) = (Some(0), Some(told - before));
                let Span { at, span_ns } = span;
                sample.segments.push(SegmentRow { at, span_ns, segment, user: None, faults_minor, faults_major, samples: None });
            }
        }
    }

    fn queues(&self, now: &Meters, span: Span, sample: &mut Sample) {
        let before = &self.before;
        let mut tell = |queue: &Arc<str>, measure, value| {
            sample.queue.push(QueueRow { at: span.at, span_ns: span.span_ns, queue: Arc::clone(queue), measure, value });
        };
        let mean = |now_ns: u128, before_ns: u128| (now_ns - before_ns) as f64 / span.span_ns as f64;
        tell(&self.processors, "ready", mean(now.ready.integral_ns, before.ready.integral_ns));
        tell(&self.processors, "eligible", mean(now.eligible.integral_ns, before.eligible.integral_ns));
        tell(&self.processors, "asking", mean(now.asking.integral_ns, before.asking.integral_ns));
        tell(&self.processors, "switches", (now.dispatches - before.dispatches) as f64);
        tell(&self.processors, "pre-emptions", (now.preemptions - before.preemptions) as f64);
        for (store, (told, before)) in now.stores.iter().zip(&before.stores).enumerate() {
            let name = &self.stores[store];
            tell(name, "length", mean(told.length_ns, before.length_ns));
            tell(name, "requests", (told.requests - before.requests) as f64);
            tell(name, "busy_ns", (told.busy_ns - before.busy_ns) as f64);
            tell(name, "wait_ns", told.wait_ns().saturating_sub(before.wait_ns()) as f64);
        }
    }

    fn histograms(&mut self, now: &Meters, sample: &mut Sample) {
        let before = std::mem::replace(&mut self.last_histogram, now.clone());
        let span = Span { at: Instant(now.at), span_ns: now.at - before.at };
        let buckets = |told: &Tally, before: &Tally| told.durations.since(&before.durations);
        for kind in FaultKind::ALL {
            for (bucket_ns, count) in buckets(&now.faults[kind as usize], &before.faults[kind as usize]).buckets() {
                sample.faults.push(fault(span, kind, Some(bucket_ns), (count, 0, 0)));
            }
        }
        for primitive in Primitive::ALL {
            let place = primitive as usize;
            for (bucket_ns, count) in buckets(&now.primitives[place], &before.primitives[place]).buckets() {
                sample.primitives.push(done(span, primitive, Some(bucket_ns), (count, 0)));
            }
        }
    }
}

/// A row of faults: count, processor time and waits of all, or the count of a bucket.
fn fault(span: Span, kind: FaultKind, bucket_ns: Option<u64>, (count, cpu_ns, wait_ns): (u64, u64, u64)) -> FaultRow {
    FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind: kind.name(),
        device: None,
        user: None,
        command: None,
        bucket_ns,
        count,
        cpu_ns: bucket_ns.is_none().then_some(cpu_ns),
        wait_ns: bucket_ns.is_none().then_some(wait_ns),
    }
}

/// A row of primitives: count and time of all, or the count of a bucket.
fn done(span: Span, primitive: Primitive, bucket_ns: Option<u64>, (count, time_ns): (u64, u64)) -> PrimitiveRow {
    PrimitiveRow {
        at: span.at,
        span_ns: span.span_ns,
        name: primitive.name().into(),
        user: None,
        command: None,
        bucket_ns,
        count,
        errors: None,
        time_ns: bucket_ns.is_none().then_some(time_ns),
        wait_ns: None,
        faults: None,
    }
}
