//! Measures what the kernel takes to call one of its programs, beyond the time that it clocks in the program.
//!
//! The kernel clocks a program between two readings of its clock (`loadgo_sys::program_runs`). Before and after them, it comes to the
//! tracepoint or takes a tick's interrupt, and returns. Here a program that does nothing runs at events that this thread makes: what the
//! events then take longer, less the time that the kernel clocks in this program, is the price of a call.

use super::{PinnedThread, thread_ns, touches_ns};
use crate::price::runs_of;
use crate::programs::interrupted_load::load_despite_signals;
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, Tier};
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{Program, RawTracePoint};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::program_runs::count_program_runs;
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag};
use rustix::process::{WaitOptions, getpid, waitpid};
use rustix::thread::sched_getcpu;
use std::hint::black_box;
use std::time::Duration;

/// Number of measurements of the events in each state.
const ROUNDS: usize = 24;
/// Number of events at the tracepoint in a measurement.
const WAITS_PER_ROUND: u32 = 200;
/// Time between two ticks of the clock that is measured. Ten times as many ticks as the meters' own make a short measurement exact.
const TICK_PERIOD: Duration = Duration::from_micros(100);
/// Time in which ticks are looked for.
const TICKING_TIME: Duration = Duration::from_millis(6);
/// Smallest number of ticks that make a figure.
const FEWEST_TICKS: usize = 16;
/// Size of the ring of the samples that are measured. It may be full at the end, which makes no sample cheaper.
const RING_BYTES: usize = 64 << 10;
/// The tracepoint of [`WAITS_PER_ROUND`].
const WAIT_TRACEPOINT: &str = "sched_process_wait";

/// Price of a call: the median, or another middle value, of its measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallPrice {
    /// Processor time of a call, beyond the time that the kernel clocks in the program.
    pub each_ns: f64,
    /// Standard error of `each_ns`.
    pub error_ns: f64,
}

/// Prices of the kinds of calls on this host; None where one could not be measured, or is not wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallPrices {
    /// A program at a tracepoint.
    pub tracepoint: Option<CallPrice>,
    /// A program at a software event, such as a page fault's end.
    pub event: Option<CallPrice>,
    /// A program at a tick of the clock, with the tick's interrupt.
    pub tick: Option<CallPrice>,
    /// A sample of the clock profile, with the tick's interrupt; no program runs there.
    pub sample: Option<CallPrice>,
}

/// Measures the calls that a request needs, in some 20 ms.
pub(crate) fn measure_calls(loaded: &mut Loaded, wanted: &MeterRequest) -> CallPrices {
    let Some(_pinned) = PinnedThread::to(sched_getcpu()) else { return CallPrices::default() };
    CallPrices {
        tracepoint: tracepoint_call(loaded).ok(),
        event: (wanted.tier == Tier::Exact).then(|| event_call(loaded).ok()).flatten(),
        tick: wanted.counts_activities().then(|| tick_call(loaded).ok()).flatten(),
        sample: wanted.profile_hz.and_then(|_| sample_call().ok()),
    }
}

fn tracepoint_call(loaded: &mut Loaded) -> Result<CallPrice, MeterRefusal> {
    let program = loaded.object.program_mut("on_nothing").ok_or("it is not in the object")?;
    let tracepoint: &mut RawTracePoint = (&mut *program).try_into()?;
    load_despite_signals(|| tracepoint.load())?;
    let mut bare = measurements(|| Some(waits_ns()));
    let link = tracepoint.attach(WAIT_TRACEPOINT)?;
    let called = measurements(|| Some(waits_ns()));
    let clocked_ns = clocked_ns(program, || _ = measurements(|| Some(waits_ns())))?;
    let tracepoint: &mut RawTracePoint = program.try_into()?;
    tracepoint.detach(link)?;
    bare.extend(measurements(|| Some(waits_ns())));
    tracepoint.unload()?;
    Ok(difference(bare, called, clocked_ns).ok_or("it was disturbed")?)
}

fn event_call(loaded: &mut Loaded) -> Result<CallPrice, MeterRefusal> {
    let program = loaded.object.program_mut("on_empty_event").ok_or("it is not in the object")?;
    let event: &mut PerfEvent = (&mut *program).try_into()?;
    load_despite_signals(|| event.load())?;
    let mut bare = measurements(touches_ns);
    let faults = PerfEventConfig::Software(SoftwareEvent::PageFaultsMin);
    let link = event.attach(faults, PerfEventScope::CallingProcess { cpu: None }, SamplePolicy::Period(1), false)?;
    let called = measurements(touches_ns);
    let clocked_ns = clocked_ns(program, || _ = measurements(touches_ns))?;
    let event: &mut PerfEvent = program.try_into()?;
    event.detach(link)?;
    bare.extend(measurements(touches_ns));
    event.unload()?;
    Ok(difference(bare, called, clocked_ns).ok_or("it was disturbed")?)
}

fn tick_call(loaded: &mut Loaded) -> Result<CallPrice, MeterRefusal> {
    let program = loaded.object.program_mut("on_empty_event").ok_or("it is not in the object")?;
    let event: &mut PerfEvent = (&mut *program).try_into()?;
    load_despite_signals(|| event.load())?;
    let clock = PerfEventConfig::Software(SoftwareEvent::CpuClock);
    let period = SamplePolicy::Period(TICK_PERIOD.as_nanos() as u64);
    let link = event.attach(clock, PerfEventScope::CallingProcess { cpu: None }, period, false)?;
    let gaps = gaps_of_spinning();
    let clocked_ns = clocked_ns(program, || _ = gaps_of_spinning())?;
    let event: &mut PerfEvent = program.try_into()?;
    event.detach(link)?;
    event.unload()?;
    Ok(gap_price(gaps, clocked_ns).ok_or("too few ticks came")?)
}

fn sample_call() -> Result<CallPrice, MeterRefusal> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.observe_self().any_cpu().clockid(Clock::MONOTONIC).exclude_kernel(false).exclude_hv(false);
    builder.sample(SampleFlag::IP).sample(SampleFlag::CALLCHAIN);
    builder.sample(SampleFlag::TID).sample(SampleFlag::TIME).sample(SampleFlag::CPU);
    builder.sample_period(TICK_PERIOD.as_nanos() as u64).wakeup_watermark(RING_BYTES);
    let mut ring = builder.build()?.sampled(RING_BYTES)?;
    ring.enable()?;
    let gaps = gaps_of_spinning();
    ring.disable()?;
    Ok(gap_price(gaps, 0.0).ok_or("too few ticks came")?)
}

/// Processor time of an event at the tracepoint: a process asks whether it is its own child, which it never is.
fn waits_ns() -> f64 {
    let own_process = getpid();
    let began = thread_ns();
    for _ in 0..WAITS_PER_ROUND {
        let _ = black_box(waitpid(Some(own_process), WaitOptions::NOHANG)); // it has no such child
    }
    (thread_ns() - began) as f64 / f64::from(WAITS_PER_ROUND)
}

fn measurements(measure: impl Fn() -> Option<f64>) -> Vec<f64> {
    (0..ROUNDS).filter_map(|_| measure()).collect()
}

/// Mean time that the kernel clocks in a run of `program` during `work`, which lets it run.
fn clocked_ns(program: &Program, work: impl FnOnce()) -> Result<f64, MeterRefusal> {
    let program = program.fd()?;
    let counting = count_program_runs()?;
    let before = runs_of(program)?;
    work();
    let counted = runs_of(program)?.since(before);
    drop(counting);
    Ok(counted.run_ns as f64 / counted.runs.max(1) as f64)
}

/// Interruptions of a loop that reads the clock: how long each took, in nanoseconds.
fn gaps_of_spinning() -> Vec<f64> {
    const READINGS: u64 = 1000;
    let began = monotonic_ns();
    let mut last = began;
    for _ in 0..READINGS {
        last = monotonic_ns();
    }
    let usual_ns = (last - began) / READINGS;
    let end = last + TICKING_TIME.as_nanos() as u64;
    let mut gaps = Vec::new();
    while last < end {
        let now = monotonic_ns();
        if now - last > 4 * usual_ns + 200 {
            gaps.push((now - last - usual_ns) as f64); // no tick takes less than 200 ns
        }
        last = now;
    }
    gaps
}

/// The price of a tick, of which the kernel clocks `clocked_ns` in the program. Other interruptions are few, and the median leaves them out.
fn gap_price(mut gaps: Vec<f64>, clocked_ns: f64) -> Option<CallPrice> {
    if gaps.len() < FEWEST_TICKS {
        return None;
    }
    let (median_ns, error_ns) = quantile(&mut gaps, 0.5)?;
    Some(CallPrice { each_ns: (median_ns - clocked_ns).max(0.0), error_ns })
}

/// The price of a call, by times of the same event without the program and with it. As in [`super::first_quartile`], other tasks can only make
/// an event slower.
fn difference(mut bare: Vec<f64>, mut called: Vec<f64>, clocked_ns: f64) -> Option<CallPrice> {
    let ((bare_ns, bare_error_ns), (called_ns, error_ns)) = (quantile(&mut bare, 0.25)?, quantile(&mut called, 0.25)?);
    let each_ns = (called_ns - bare_ns - clocked_ns).max(0.0);
    Some(CallPrice { each_ns, error_ns: bare_error_ns.hypot(error_ns) })
}

/// A quantile, at most the median, and its standard error, by the distance of the quartiles as for a normal law. None with fewer than 8 values.
fn quantile(values: &mut [f64], share: f64) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[(values.len() as f64 * share) as usize];
    (values.len() >= 8).then(|| (at(share), (at(0.75) - at(0.25)) / (values.len() as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_what_an_event_takes_longer_beyond_the_clocked_time() {
        let bare: Vec<f64> = (0..48).map(|number| 200.0 + f64::from(number % 4)).collect();
        let called: Vec<f64> = bare.iter().map(|ns| ns + 90.0).collect();
        let price = difference(bare, called, 30.0).unwrap();
        assert_eq!(price.each_ns, 60.0);
        assert!(price.error_ns > 0.0 && price.error_ns < 1.0, "{price:?}");
        assert_eq!(difference(vec![5.0; 7], vec![9.0; 24], 0.0), None);
    }

    #[test]
    fn a_tick_is_the_middle_gap_and_few_gaps_are_none() {
        let mut gaps = vec![2500.0; 40];
        gaps.extend([90_000.0, 4_000_000.0, 800.0]); // another task, a hypervisor, another interrupt
        assert_eq!(gap_price(gaps, 40.0), Some(CallPrice { each_ns: 2460.0, error_ns: 0.0 }));
        assert_eq!(gap_price(vec![2500.0; FEWEST_TICKS - 1], 40.0), None);
    }
}
