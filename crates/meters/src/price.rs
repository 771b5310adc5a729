//! The price of the meters, measured while they meter: random windows in which the kernel clocks each of their programs.
//!
//! A thread waits for an exponential time. Then it lets the kernel count and clock all runs of programs for a short window. So the beginnings of
//! windows are a Poisson sample of the run. The sum of the windows' prices over the sum of their busy times estimates the meters' share.
//! It is a ratio estimator, and the windows' scatter gives its standard error. The analysis computes both.
//!
//! The kernel does not clock the calls of programs. `ticks.rs` measures those at the clock's ticks in each window, and `calibration/calling.rs`
//! all others at the start.

mod ticks;

use crate::calibration::calling::{CallPrice, CallPrices, measure_calls};
use crate::clock::{CLOCK_PROGRAM, period_ns};
use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::price::ticks::ThreadClock;
use crate::programs::hooks::{HookPoint, METER_HOOKS};
use crate::programs::interrupted_load::load_despite_signals;
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::tables::processors::ProcessorMap;
use crate::wanted::MeterRequest;
use aya::programs::{PerfEvent, ProgramFd};
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::{MeterPriceRow, MeterRows};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::program_runs::{ProgramRuns, count_program_runs, program_runs};
use loadgo_sys::scheduling::thread_id;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Length of a window.
const WINDOW_TIME: Duration = Duration::from_millis(40);
/// Mean time from a window to the next. To begin and end one takes half a millisecond of a processor.
const MEAN_GAP: Duration = Duration::from_millis(760);
/// Name of the rows of the profile's records of mappings.
const MAPPING_ROWS: &str = "mapping records";
/// Name of the rows of the program at the clock's ticks.
const CLOCK_ROWS: &str = "clock";

/// How the price is measured, in the words of `loadgo doctor`.
pub(crate) fn method() -> String {
    format!("by random windows of {} ms, in which the kernel clocks the meters' programs", WINDOW_TIME.as_millis())
}

/// Whether the kernel lets this process clock programs.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn check_clocking() -> Result<(), MeterRefusal> {
    match count_program_runs() {
        Ok(_) => Ok(()),
        Err(error) => {
            let refusal = MeterRefusal::from_error(&error).trying("the kernel's clock of programs (BPF_ENABLE_STATS)");
            Err(if refusal.lacks_privilege() { refusal.with_remedy("run as root: it takes CAP_SYS_ADMIN") } else { refusal })
        }
    }
}

/// The part of the meters, with its thread.
pub(crate) struct Price {
    windows: Receiver<Result<Window, MeterRefusal>>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    id: i32,
}

/// Runs of all meters in a window.
struct Window {
    /// The end, in nanoseconds of CLOCK_MONOTONIC.
    end_ns: u64,
    length_ns: u64,
    busy_ns: u64,
    meters: Vec<PricedRuns>,
}

/// The runs of a meter's programs in a window.
#[derive(Clone, Debug, Default, PartialEq)]
struct PricedRuns {
    meter: &'static str,
    runs: ProgramRuns,
    call: Option<CallPrice>,
}

/// The programs that are clocked, and the processors' state.
struct ClockedMeters {
    programs: Vec<ClockedProgram>,
    processors: ProcessorMap,
    ticking: Ticking,
    records: Option<MappingRecords>,
}

/// The records of mappings that the clock profile takes. They are counted when their ring is read, which is later than they come.
struct MappingRecords {
    count: Arc<AtomicU64>,
    each: Option<CallPrice>,
}

/// The ticks of the meters' clock.
enum Ticking {
    /// A program runs at each. The price of a tick is measured with a program that does nothing.
    Program { empty: ProgramFd },
    /// The clock profile takes a sample at each, once in this many nanoseconds of busy time.
    Samples { period_ns: u64 },
    /// There are none.
    No,
}

impl Ticking {
    fn of(loaded: &mut Loaded, wanted: &MeterRequest) -> Result<Ticking, MeterRefusal> {
        if let Some(hz) = wanted.profile_hz {
            return Ok(Ticking::Samples { period_ns: period_ns(hz) });
        }
        if !wanted.counts_activities() {
            return Ok(Ticking::No);
        }
        let program: &mut PerfEvent = loaded.object.program_mut("on_empty_event").ok_or("it is not in the object")?.try_into()?;
        load_despite_signals(|| program.load())?;
        Ok(Ticking::Program { empty: program.fd()?.try_clone()? })
    }

    /// A clock of the calling thread that ticks likewise; None if there are no ticks.
    fn thread_clock(&self) -> Option<io::Result<ThreadClock>> {
        match self {
            Ticking::Program { empty } => Some(ThreadClock::with_program(empty.as_fd().as_raw_fd())),
            Ticking::Samples { .. } => Some(ThreadClock::with_samples()),
            Ticking::No => None,
        }
    }
}

struct ClockedProgram {
    descriptor: ProgramFd,
    meter: &'static str,
    call: Call,
}

/// The price of a program's calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    /// Measured at the start; None if it could not be.
    Known(Option<CallPrice>),
    /// The price of a tick, which is measured in each window.
    Tick,
}

/// The number of mappings that were recorded until a moment.
#[derive(Clone, Copy, Default)]
struct Recorded {
    at_ns: u64,
    count: u64,
}

/// Counts at a moment.
struct Counts {
    at_ns: u64,
    busy_ns: u64,
    runs: Vec<ProgramRuns>,
}

impl Price {
    /// Begins as the last part of the meters, so that all programs are loaded.
    ///
    /// # Errors
    /// The kernel does not clock programs, for the reason given.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        check_clocking()?;
        let calls = measure_calls(&mut context.loaded, wanted);
        let ticking = Ticking::of(&mut context.loaded, wanted)?;
        let mut clocked = ClockedMeters::of(&context.loaded, wanted, calls, ticking)?;
        for (descriptor, meter) in std::mem::take(&mut context.window_programs) {
            let kind = if meter == Meter::Faults.name() { calls.event.or(calls.tracepoint) } else { calls.tracepoint };
            clocked.programs.push(ClockedProgram { descriptor, meter, call: Call::Known(kind) });
        }
        let records = |count: &Arc<AtomicU64>| MappingRecords { count: count.clone(), each: calls.mapping };
        clocked.records = context.recorded_mappings.as_ref().map(records);
        let (window_sender, windows) = channel();
        let (stop, stopped) = channel();
        let (id_sender, id_receiver) = sync_channel(1);
        let run = move || {
            let _ = id_sender.send(thread_id());
            clock_windows(&clocked, &window_sender, &stopped);
        };
        let thread = thread::Builder::new().name("loadgo-price".into()).spawn(run)?;
        let id = id_receiver.recv().map_err(|_| "the thread of the price did not begin")?;
        Ok(Some(Box::new(Price { windows, stop: Some(stop), thread: Some(thread), id })))
    }
}

impl MeterPart for Price {
    fn thread(&self) -> Option<i32> {
        Some(self.id)
    }

    fn rows(&mut self, _: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let origin_ns = span.monotonic_ns - span.at.0;
        for window in self.windows.try_iter() {
            sample.meter_price.extend(window?.rows(origin_ns));
        }
        Ok(())
    }
}

impl Drop for Price {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Clocks windows until the other end of `stopped` is dropped, or the kernel refuses.
fn clock_windows(clocked: &ClockedMeters, windows: &Sender<Result<Window, MeterRefusal>>, stopped: &Receiver<()>) {
    let mut random = RandomStream::new(monotonic_ns(), 0, StreamPurpose::Choice);
    let mut thread_clock = clocked.ticking.thread_clock().and_then(Result::ok);
    let mut tick_ns = None; // the latest, where the next one is disturbed
    let mut recorded = clocked.recorded();
    let is_over = |time: Duration| stopped.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
    loop {
        if is_over(MEAN_GAP.mul_f64(random.exponential())) {
            return;
        }
        let counted = clocked.count(|| is_over(WINDOW_TIME));
        tick_ns = thread_clock.as_mut().and_then(ThreadClock::tick_ns).or(tick_ns);
        let mut window = counted.map(|counted| clocked.window(counted, tick_ns));
        if let (Ok(window), Some(now)) = (&mut window, clocked.recorded()) {
            window.meters.extend(clocked.records_in(window.length_ns, recorded.unwrap_or_default(), now));
            recorded = Some(now);
        }
        let is_refused = window.is_err();
        if windows.send(window).is_err() || is_refused {
            return;
        }
    }
}

impl ClockedMeters {
    fn of(loaded: &Loaded, wanted: &MeterRequest, calls: CallPrices, ticking: Ticking) -> Result<ClockedMeters, MeterRefusal> {
        let hooks = METER_HOOKS.iter().filter(|hook| (hook.when)(wanted)).map(|hook| match hook.point {
            HookPoint::Tracepoint(_) => (hook.program, hook.meter.name(), Call::Known(calls.tracepoint)),
            HookPoint::Event(_) => (hook.program, hook.meter.name(), Call::Known(calls.event)),
        });
        let clock = wanted.counts_activities().then_some((CLOCK_PROGRAM, CLOCK_ROWS, Call::Tick));
        let mut programs = Vec::new();
        for (name, meter, call) in hooks.chain(clock) {
            let Some(Ok(descriptor)) = loaded.object.program(name).map(|program| program.fd()) else { continue }; // it is not loaded
            programs.push(ClockedProgram { descriptor: descriptor.try_clone()?, meter, call });
        }
        Ok(ClockedMeters { programs, processors: ProcessorMap::open(loaded)?, ticking, records: None })
    }

    /// Counts from now on for as long as `wait` takes. Returns the counts before and after.
    fn count(&self, wait: impl FnOnce() -> bool) -> Result<[Counts; 2], MeterRefusal> {
        let counting = count_program_runs()?;
        let before = self.counts()?;
        wait();
        let after = self.counts()?;
        drop(counting);
        Ok([before, after])
    }

    /// The window between two counts. A tick took `tick_ns` beside its program; None: this is not known.
    fn window(&self, [before, after]: [Counts; 2], tick_ns: Option<f64>) -> Window {
        let tick = tick_ns.map(|each_ns| CallPrice { each_ns, error_ns: 0.0 }); // measured anew in each window, so their scatter has its error
        let runs = after.runs.iter().zip(&before.runs).map(|(after, before)| after.since(*before));
        let price_of = |call| if let Call::Known(price) = call { price } else { tick };
        let priced = self.programs.iter().zip(runs).map(|(program, runs)| (program.meter, runs, price_of(program.call)));
        let mut meters = by_meter(priced);
        let busy_ns = after.busy_ns.saturating_sub(before.busy_ns);
        if let Ticking::Samples { period_ns } = self.ticking {
            meters.push(samples_of_profile(busy_ns / period_ns, tick));
        }
        Window { end_ns: after.at_ns, length_ns: after.at_ns - before.at_ns, busy_ns, meters }
    }

    /// The present time, and the number of mappings recorded so far; None without a profile.
    fn recorded(&self) -> Option<Recorded> {
        let records = self.records.as_ref()?;
        Some(Recorded { at_ns: monotonic_ns(), count: records.count.load(Relaxed) })
    }

    /// The records of a window: those between two moments, in proportion to its length.
    fn records_in(&self, length_ns: u64, before: Recorded, now: Recorded) -> Option<PricedRuns> {
        let passed_ns = (now.at_ns - before.at_ns).max(1) as f64;
        let runs = ((now.count - before.count) as f64 * length_ns as f64 / passed_ns).round() as u64;
        let call = self.records.as_ref()?.each.map(|each| times(each, runs));
        Some(PricedRuns { meter: MAPPING_ROWS, runs: ProgramRuns { runs, run_ns: 0 }, call })
    }

    fn counts(&self) -> Result<Counts, MeterRefusal> {
        let at_ns = monotonic_ns();
        let busy_ns = self.processors.read().map(|processor| processor.busy_until(at_ns)).sum();
        let runs = self.programs.iter().map(|program| program_runs(program.descriptor.as_fd())).collect::<Result<_, _>>()?;
        Ok(Counts { at_ns, busy_ns, runs })
    }
}

/// The samples of the clock profile. No program runs at them, so all of their price is that of a call.
fn samples_of_profile(samples: u64, call: Option<CallPrice>) -> PricedRuns {
    PricedRuns {
        meter: Meter::ClockProfile.name(),
        runs: ProgramRuns { runs: samples, run_ns: 0 },
        call: call.map(|call| times(call, samples)),
    }
}

/// Sums by meter, in the order of names. The calls of a meter with a call of unknown price have no price.
fn by_meter(programs: impl Iterator<Item = (&'static str, ProgramRuns, Option<CallPrice>)>) -> Vec<PricedRuns> {
    let mut sums: BTreeMap<&'static str, PricedRuns> = BTreeMap::new();
    for (meter, runs, call) in programs {
        let none = || PricedRuns { meter, call: Some(CallPrice::default()), ..PricedRuns::default() };
        let sum = sums.entry(meter).or_insert_with(none);
        sum.runs = ProgramRuns { runs: sum.runs.runs + runs.runs, run_ns: sum.runs.run_ns + runs.run_ns };
        sum.call = sum.call.zip(call.map(|call| times(call, runs.runs))).map(|(sum, call)| CallPrice {
            each_ns: sum.each_ns + call.each_ns,
            error_ns: sum.error_ns + call.error_ns, // all calls of a kind have the same error
        });
    }
    sums.into_values().collect()
}

/// The price of `count` calls.
fn times(call: CallPrice, count: u64) -> CallPrice {
    CallPrice { each_ns: call.each_ns * count as f64, error_ns: call.error_ns * count as f64 }
}

impl Window {
    fn rows(self, origin_ns: u64) -> impl Iterator<Item = MeterPriceRow> {
        let (at, span_ns, busy_ns) = (Instant(self.end_ns.saturating_sub(origin_ns)), self.length_ns, self.busy_ns);
        self.meters.into_iter().map(move |PricedRuns { meter, runs, call }| MeterPriceRow {
            at,
            span_ns,
            busy_ns,
            meter,
            runs: runs.runs,
            run_ns: runs.run_ns,
            call_ns: call.map(|call| call.each_ns.round() as u64),
            call_error_ns: call.map(|call| call.error_ns.round() as u64),
        })
    }
}

#[cfg(test)]
mod tests;
