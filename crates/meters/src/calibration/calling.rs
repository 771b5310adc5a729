//! Measures what the kernel takes to call one of its programs, beyond the time that it clocks in the program.
//!
//! The kernel clocks a program between two readings of its clock (`loadgo_sys::program_runs`). Before and after them, it comes to the
//! program from a tracepoint or an event, and returns. Here a program that does nothing runs at events of this
//! thread. The events then take longer. This difference, less the time that the kernel clocks in the program, is the price of a call.

use super::{PAGES_PER_RUN, PinnedThread, thread_ns, touches_ns};
use crate::programs::interrupted_load::load_despite_signals;
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, Tier};
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{Program, RawTracePoint};
use loadgo_sys::mapped_file::MappedFile;
use loadgo_sys::program_runs::{count_program_runs, program_runs};
use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag};
use rustix::process::{WaitOptions, getpid, waitpid};
use rustix::thread::sched_getcpu;
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsFd;

/// Number of measurements of the events in each state.
const ROUNDS: usize = 24;
/// Number of events at the tracepoint in a measurement.
const WAITS_PER_ROUND: u32 = 200;
/// Number of mappings in a measurement.
const MAPPINGS_PER_ROUND: u32 = 20;
/// Size of the ring of the mappings' records, with room for all that are measured.
const RING_BYTES: usize = 256 << 10;
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
    /// The record of a mapping of a file, for the clock profile; no program runs there.
    pub mapping: Option<CallPrice>,
}

/// Measures the calls that a request needs, in some 10 ms.
pub(crate) fn measure_calls(loaded: &mut Loaded, wanted: &MeterRequest) -> CallPrices {
    let Some(_pinned) = PinnedThread::to(sched_getcpu()) else { return CallPrices::default() };
    CallPrices {
        tracepoint: tracepoint_call(loaded).ok(),
        event: (wanted.tier != Tier::Cheap).then(|| event_call(loaded).ok()).flatten(),
        mapping: wanted.profile_hz.and_then(|_| mapping_record().ok()),
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
    let mut bare = measurements(|| touches_ns(PAGES_PER_RUN));
    let faults = PerfEventConfig::Software(SoftwareEvent::PageFaultsMin);
    let link = event.attach(faults, PerfEventScope::CallingProcess { cpu: None }, SamplePolicy::Period(1), false)?;
    let called = measurements(|| touches_ns(PAGES_PER_RUN));
    let clocked_ns = clocked_ns(program, || _ = measurements(|| touches_ns(PAGES_PER_RUN)))?;
    let event: &mut PerfEvent = program.try_into()?;
    event.detach(link)?;
    bare.extend(measurements(|| touches_ns(PAGES_PER_RUN)));
    event.unload()?;
    Ok(difference(bare, called, clocked_ns).ok_or("it was disturbed")?)
}

/// The records are those of the calling thread, with what the profile's records have.
fn mapping_record() -> Result<CallPrice, MeterRefusal> {
    let file = File::open("/proc/self/exe")?;
    let mut bare = measurements(|| mappings_ns(&file));
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.observe_self().any_cpu().clockid(Clock::MONOTONIC).sample_id_all(true).wakeup_watermark(RING_BYTES);
    builder.sample(SampleFlag::TID).sample(SampleFlag::TIME).sample(SampleFlag::CPU);
    builder.mmap(true).mmap_data(true).mmap2(true).build_id(true);
    let mut ring = builder.build()?.sampled(RING_BYTES)?;
    ring.enable()?;
    let recorded = measurements(|| mappings_ns(&file));
    ring.disable()?;
    bare.extend(measurements(|| mappings_ns(&file)));
    Ok(difference(bare, recorded, 0.0).ok_or("it was disturbed")?)
}

/// Processor time of mapping a page of `file`, and of ending that.
fn mappings_ns(file: &File) -> Option<f64> {
    let began = thread_ns();
    for _ in 0..MAPPINGS_PER_ROUND {
        black_box(MappedFile::map(file.as_fd(), rustix::param::page_size()).ok()?);
    }
    Some((thread_ns() - began) as f64 / f64::from(MAPPINGS_PER_ROUND))
}

/// Processor time of an event at the tracepoint: a process asks whether it is its own child, which it never is.
fn waits_ns() -> f64 {
    let own_process = getpid();
    let began = thread_ns();
    for _ in 0..WAITS_PER_ROUND {
        let _ = black_box(waitpid(Some(own_process), WaitOptions::NOHANG));
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
    let before = program_runs(program.as_fd())?;
    work();
    let counted = program_runs(program.as_fd())?.since(before);
    drop(counting);
    Ok(counted.run_ns as f64 / counted.runs.max(1) as f64)
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
}
