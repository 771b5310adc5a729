//! The engine's meters as rows, span by span: counts and times since the span before.
//!
//! A span is a second of virtual time. After each [`SPANS_OF_A_LENGTH`] spans, the length doubles, so a run of any length has few
//! rows. Histograms of durations are written only at these moments, at the beginning of a phase, and at the end.

use super::super::engine::Engine;
use super::super::meters::{Category, EventTally, FaultKind, MachineMeters, Primitive};
use super::super::spec::Machine;
use super::limit_costs::LimitCostReporter;
use super::memory::MemoryReporter;
pub(super) use super::span::{SampledSpan, SpanEnd};
use loadgo_core::record::{FaultRow, MeterRows, PrimitiveRow, ProcessRow, QueueRow, SegmentRow, TimeRow};
use loadgo_core::time::Instant;
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;

/// Number of spans after which their length doubles.
const SPANS_OF_A_LENGTH: u32 = 512;

/// The meters at the end of the last span, and the end of the next one.
pub(super) struct SpanSampler {
    before: MachineMeters,
    /// The meters at the end of the last histogram.
    last_histogram: MachineMeters,
    commands: Vec<Arc<str>>,
    stores: Vec<Arc<str>>,
    processors: Arc<str>,
    memory: MemoryReporter,
    limits: LimitCostReporter,
    period_ns: u64,
    left: u32,
    due: u64,
}

impl SpanSampler {
    pub(super) fn begin(machine: &Machine, engine: &Engine) -> SpanSampler {
        let now = engine.meters();
        let stores: Vec<Arc<str>> = machine.stores.iter().map(|store| store.name.as_str().into()).collect();
        SpanSampler {
            last_histogram: now.clone(),
            due: now.at + SECOND_NS,
            limits: LimitCostReporter::begin(Instant(now.at)),
            before: now,
            commands: machine.commands.iter().map(|command| command.name.as_str().into()).collect(),
            memory: MemoryReporter::new(&stores),
            stores,
            processors: "processors".into(),
            period_ns: SECOND_NS,
            left: SPANS_OF_A_LENGTH,
        }
    }

    /// When the current span ends.
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// The rows of the span that ends now; `None` if no time has passed.
    pub(super) fn sample(&mut self, engine: &Engine, end: SpanEnd) -> Option<MeterRows> {
        let now = engine.meters();
        if now.at == self.before.at {
            return None;
        }
        let span = SampledSpan { at: Instant(now.at), span_ns: now.at - self.before.at };
        let mut sample = MeterRows::default();
        self.time(&now, span, &mut sample);
        self.sums(&now, span, &mut sample);
        self.queues(&now, span, &mut sample);
        if let Some(memory) = engine.memory() {
            self.memory.rows(&memory, span, end, &mut sample.memory);
        }
        self.limits.rows(&engine.limit_costs(), span, end, &mut sample.user_limits);
        self.left -= 1;
        if self.left == 0 || end == SpanEnd::Cut {
            self.histograms(&now, &mut sample);
        }
        if self.left == 0 {
            (self.left, self.period_ns) = (SPANS_OF_A_LENGTH, self.period_ns * 2);
        }
        self.due = now.at + self.period_ns;
        self.before = now;
        Some(sample)
    }

    fn time(&self, now: &MachineMeters, span: SampledSpan, sample: &mut MeterRows) {
        let SampledSpan { at, span_ns } = span;
        let (mut users_ns, mut supervisor_ns) = (0, 0);
        for (processor, (times, before)) in now.time_ns.iter().zip(&self.before.time_ns).enumerate() {
            let mut total_ns = 0;
            for category in Category::ALL {
                let time_ns = times[category as usize] - before[category as usize];
                total_ns += time_ns;
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
            assert_eq!(total_ns, span_ns, "the time of processor {processor} does not add up");
        }
        for (who, cpu_ns) in [("users", users_ns), ("supervisor", supervisor_ns)] {
            let who = who.into();
            sample.processes.push(ProcessRow { at, span_ns, who, cpu_ns, memory_bytes: None, user: None, ready_wait_ns: None });
        }
    }

    fn sums(&self, now: &MachineMeters, span: SampledSpan, sample: &mut MeterRows) {
        for kind in FaultKind::ALL {
            let (now_meter, before) = (&now.faults[kind as usize], &self.before.faults[kind as usize]);
            if now_meter.count > before.count {
                let sums = (now_meter.count - before.count, now_meter.cpu_ns - before.cpu_ns, now_meter.wait_ns - before.wait_ns);
                sample.faults.push(fault(span, kind, None, sums));
            }
        }
        for primitive in Primitive::ALL {
            let (now_meter, before) = (&now.primitives[primitive as usize], &self.before.primitives[primitive as usize]);
            if now_meter.count > before.count {
                let sums = (now_meter.count - before.count, now_meter.cpu_ns - before.cpu_ns);
                sample.primitives.push(done(span, primitive, None, sums));
            }
        }
        for (command, (now_meter, before)) in now.command_faults.iter().zip(&self.before.command_faults).enumerate() {
            if now_meter > before {
                let segment = Arc::clone(&self.commands[command]);
                let (faults_minor, faults_major) = (Some(0), Some(now_meter - before));
                let SampledSpan { at, span_ns } = span;
                sample.segments.push(SegmentRow { at, span_ns, segment, user: None, faults_minor, faults_major, samples: None });
            }
        }
    }

    fn queues(&self, now: &MachineMeters, span: SampledSpan, sample: &mut MeterRows) {
        let before = &self.before;
        let mut push = |queue: &Arc<str>, measure, value| {
            sample.queue.push(QueueRow { at: span.at, span_ns: span.span_ns, queue: Arc::clone(queue), measure, value });
        };
        let mean = |now_ns: u128, before_ns: u128| (now_ns - before_ns) as f64 / span.span_ns as f64;
        push(&self.processors, "ready", mean(now.ready.integral_ns, before.ready.integral_ns));
        push(&self.processors, "eligible", mean(now.eligible.integral_ns, before.eligible.integral_ns));
        push(&self.processors, "asking", mean(now.asking.integral_ns, before.asking.integral_ns));
        push(&self.processors, "switches", (now.dispatches - before.dispatches) as f64);
        push(&self.processors, "pre-emptions", (now.preemptions - before.preemptions) as f64);
        for (store, (now_meter, before)) in now.stores.iter().zip(&before.stores).enumerate() {
            let name = &self.stores[store];
            push(name, "length", mean(now_meter.length_ns, before.length_ns));
            push(name, "requests", (now_meter.requests - before.requests) as f64);
            push(name, "busy_ns", (now_meter.busy_ns - before.busy_ns) as f64);
            push(name, "wait_ns", now_meter.wait_ns().saturating_sub(before.wait_ns()) as f64);
        }
    }

    fn histograms(&mut self, now: &MachineMeters, sample: &mut MeterRows) {
        let before = std::mem::replace(&mut self.last_histogram, now.clone());
        let span = SampledSpan { at: Instant(now.at), span_ns: now.at - before.at };
        let buckets = |now_meter: &EventTally, before: &EventTally| now_meter.durations.since(&before.durations);
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
fn fault(span: SampledSpan, kind: FaultKind, bucket_ns: Option<u64>, (count, cpu_ns, wait_ns): (u64, u64, u64)) -> FaultRow {
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
fn done(span: SampledSpan, primitive: Primitive, bucket_ns: Option<u64>, (count, time_ns): (u64, u64)) -> PrimitiveRow {
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
