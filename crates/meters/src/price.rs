//! The price of the meters, measured while they meter: random windows in which the kernel clocks each of their programs.
//!
//! A thread waits for an exponential time, lets the kernel count and clock all runs of programs for a short window, and notes what came in it,
//! with the processors' busy time. So the beginnings of windows are a Poisson sample of the run: the sum of the windows' prices over the sum of
//! their busy times estimates the share that the meters took (a ratio estimator), and the windows' scatter gives its standard error.
//! The analysis does both. `calibration/calling.rs` measures the price of a call, which the kernel does not clock.

use crate::calibration::calling::{CallPrice, CallPrices, measure_calls};
use crate::clock::{CLOCK_HZ, CLOCK_PROGRAM, period_ns};
use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::hooks::{HookPoint, METER_HOOKS};
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::tables::processors::ProcessorMap;
use crate::wanted::MeterRequest;
use aya::programs::ProgramFd;
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::{MeterPriceRow, MeterRows};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::program_runs::{ProgramRuns, count_program_runs, program_runs};
use loadgo_sys::scheduling::thread_id;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Length of a window.
const WINDOW_TIME: Duration = Duration::from_millis(40);
/// Mean time from a window to the next. To begin and end one takes half a millisecond of a processor.
const MEAN_GAP: Duration = Duration::from_millis(760);
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

/// The runs of a program so far, as the kernel counted them.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn runs_of(program: &ProgramFd) -> Result<ProgramRuns, MeterRefusal> {
    Ok(program_runs(program.as_fd())?)
}

/// The part of the meters, with its thread.
pub(crate) struct Price {
    windows: Receiver<Result<Window, MeterRefusal>>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    id: i32,
}

/// What came in a window.
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
struct Clocked {
    programs: Vec<ClockedProgram>,
    processors: ProcessorMap,
    /// Price of a sample of the clock profile, if there is one and its price is known.
    sample: Option<(u64, Option<CallPrice>)>,
}

struct ClockedProgram {
    descriptor: ProgramFd,
    meter: &'static str,
    call: Option<CallPrice>,
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
        let clocked = Clocked::of(&context.loaded, wanted, calls)?;
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
fn clock_windows(clocked: &Clocked, windows: &Sender<Result<Window, MeterRefusal>>, stopped: &Receiver<()>) {
    let mut random = RandomStream::new(monotonic_ns(), 0, StreamPurpose::Choice);
    let is_over = |time: Duration| stopped.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
    loop {
        if is_over(MEAN_GAP.mul_f64(random.exponential())) {
            return;
        }
        let window = clocked.window(|| is_over(WINDOW_TIME));
        let is_refused = window.is_err();
        if windows.send(window).is_err() || is_refused {
            return;
        }
    }
}

impl Clocked {
    fn of(loaded: &Loaded, wanted: &MeterRequest, calls: CallPrices) -> Result<Clocked, MeterRefusal> {
        let hooks = METER_HOOKS.iter().filter(|hook| (hook.when)(wanted)).map(|hook| match hook.point {
            HookPoint::Tracepoint(_) => (hook.program, hook.meter.name(), calls.tracepoint),
            HookPoint::Event(_) => (hook.program, hook.meter.name(), calls.event),
        });
        let clock = wanted.counts_activities().then_some((CLOCK_PROGRAM, CLOCK_ROWS, calls.tick));
        let mut programs = Vec::new();
        for (name, meter, call) in hooks.chain(clock) {
            let Some(Ok(descriptor)) = loaded.object.program(name).map(|program| program.fd()) else { continue }; // it is not loaded
            programs.push(ClockedProgram { descriptor: descriptor.try_clone()?, meter, call });
        }
        let sample = wanted.profile_hz.map(|hz| (period_ns(hz.min(CLOCK_HZ)), calls.sample));
        Ok(Clocked { programs, processors: ProcessorMap::open(loaded)?, sample })
    }

    /// Clocks a window, which lasts as long as `wait`.
    fn window(&self, wait: impl FnOnce() -> bool) -> Result<Window, MeterRefusal> {
        let counting = count_program_runs()?;
        let before = self.counts()?;
        wait();
        let after = self.counts()?;
        drop(counting);
        let runs = after.runs.iter().zip(&before.runs).map(|(after, before)| after.since(*before));
        let mut meters = by_meter(self.programs.iter().zip(runs).map(|(program, runs)| (program.meter, runs, program.call)));
        let busy_ns = after.busy_ns.saturating_sub(before.busy_ns);
        meters.extend(self.sample.map(|(period_ns, call)| samples_of_profile(busy_ns / period_ns, call)));
        Ok(Window { end_ns: after.at_ns, length_ns: after.at_ns - before.at_ns, busy_ns, meters })
    }

    fn counts(&self) -> Result<Counts, MeterRefusal> {
        let at_ns = monotonic_ns();
        let busy_ns = self.processors.read().map(|processor| processor.busy_until(at_ns)).sum();
        let runs = self.programs.iter().map(|program| runs_of(&program.descriptor)).collect::<Result<_, _>>()?;
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
mod tests {
    use super::*;
    use crate::programs::load::load;
    use crate::wanted::Tier;
    use loadgo_sys::clock::thread_cpu_ns;

    const CALL: CallPrice = CallPrice { each_ns: 50.0, error_ns: 2.0 };

    #[test]
    fn runs_are_summed_by_meter_with_the_price_of_their_calls() {
        let runs = |runs, run_ns| ProgramRuns { runs, run_ns };
        let sums = by_meter(
            [("queue", runs(3, 900), Some(CALL)), ("faults", runs(1, 200), None), ("queue", runs(1, 100), Some(CALL))]
                .into_iter(),
        );
        let calls = CallPrice { each_ns: 200.0, error_ns: 8.0 };
        assert_eq!(
            sums,
            [
                PricedRuns { meter: "faults", runs: runs(1, 200), call: None },
                PricedRuns { meter: "queue", runs: runs(4, 1000), call: Some(calls) }
            ]
        );
    }

    #[test]
    fn a_window_has_a_row_for_each_meter_on_the_clock_of_the_run() {
        let meters = vec![PricedRuns { meter: "queue", runs: ProgramRuns { runs: 4, run_ns: 1000 }, call: Some(CALL) }];
        let window = Window { end_ns: 5_000, length_ns: 40, busy_ns: 70, meters };
        let row = MeterPriceRow {
            at: Instant(4_000),
            span_ns: 40,
            busy_ns: 70,
            meter: "queue",
            runs: 4,
            run_ns: 1000,
            call_ns: Some(50),
            call_error_ns: Some(2),
        };
        assert_eq!(window.rows(1_000).collect::<Vec<_>>(), [row]);
    }

    /// The meters of a tier, whose windows the test clocks itself. These tests need root.
    fn clocked(tier: Tier, profile_hz: Option<u32>) -> (Loaded, Clocked) {
        let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), profile_hz };
        let mut loaded = load(&wanted).unwrap_or_else(|refusal| panic!("this test needs root: {refusal}"));
        let calls = measure_calls(&mut loaded, &wanted);
        let clocked = Clocked::of(&loaded, &wanted, calls).unwrap();
        (loaded, clocked)
    }

    #[test]
    fn a_window_clocks_every_run_within_it_and_the_busy_time() {
        const RENAMES: u64 = 1000;
        let (_loaded, clocked) = clocked(Tier::Cheap, None);
        let name = rustix::thread::name().unwrap();
        let mut own_ns = 0;
        let rename = || {
            let began = thread_cpu_ns();
            (0..RENAMES).for_each(|_| rustix::thread::set_name(&name).unwrap());
            own_ns = thread_cpu_ns() - began;
            false
        };
        let window = clocked.window(rename).unwrap();
        let of_processes = window.meters.iter().find(|meter| meter.meter == "processes").unwrap();
        assert!(of_processes.runs.runs >= RENAMES, "{of_processes:?}");
        assert!(of_processes.runs.run_ns > 0 && of_processes.call.is_some_and(|call| call.each_ns > 0.0), "{of_processes:?}");
        assert!(window.busy_ns >= own_ns, "busy {} ns, of which {own_ns} are ours", window.busy_ns);
        let before = clocked.counts().unwrap();
        rustix::thread::set_name(&name).unwrap();
        let uncounted = clocked.counts().unwrap();
        assert_eq!(before.runs, uncounted.runs, "the kernel counts only in windows");
    }

    #[test]
    fn every_meter_of_a_tier_has_a_price_with_its_calls() {
        let expected: [(Tier, Option<u32>, &[&str]); 3] = [
            (Tier::Cheap, None, &["processes", "queue", "total time", "waits by user"]),
            (Tier::Cheap, Some(CLOCK_HZ), &["clock profile", "processes", "queue", "segments", "total time", "waits by user"]),
            (
                Tier::Exact,
                Some(CLOCK_HZ),
                &["clock profile", "faults", "interrupts", "primitives", "processes", "queue", "total time", "waits by user"],
            ),
        ];
        for (tier, profile_hz, names) in expected {
            let (_loaded, clocked) = clocked(tier, profile_hz);
            let mut window = clocked.window(|| false).unwrap();
            assert!(window.meters.iter().all(|meter| meter.call.is_some()), "{:?}", window.meters);
            window.meters.sort_by_key(|meter| meter.meter);
            assert_eq!(window.meters.iter().map(|meter| meter.meter).collect::<Vec<_>>(), names);
        }
    }
}
