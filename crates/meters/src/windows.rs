//! The sampled tier: the exact programs run in short windows at random times, and each window stands for the time around it.
//!
//! A thread divides the run into stretches, and puts a window into each, at a time that is drawn evenly. So every moment is metered with a known
//! probability (Horvitz and Thompson, 1952). In a window programs are slower, and those that only compute do less there. So the analysis scales
//! the events of each name of processes by their processor time, without what the window itself took, and not by time.
//! The standard error follows from the differences between neighbours (python/loadgo/measures/window_sample.py).
//!
//! The stretches are so long that the windows cost a hundredth of the host's busy time. That is what the programs add to the events that
//! they see, and what the thread uses to attach, read and detach them.

mod by_process;
mod event_costs;
mod programs;

use crate::calibration::{calibrate, thread_ns, unmetered_prices};
use crate::event_prices::Calibration;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::processor;
use crate::refusal::MeterRefusal;
use crate::tables::processors::ProcessorMap;
use crate::wanted::{MeterRequest, Tier};
use crate::windows::by_process::EventsByProcess;
use crate::windows::event_costs::{EventCosts, LoadTimes};
use crate::windows::programs::WindowPrograms;
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::{MeterRows, MeterWindowRow};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Length of a window, without the time in which its programs are attached.
const WINDOW_TIME: Duration = Duration::from_millis(50);
/// Shortest and longest stretch for which a window stands.
const STRETCH_TIMES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
/// Largest share of the host's busy time that the windows may cost.
const MOST_PRICE_SHARE: f64 = 0.01;
/// Weight of the windows before in the mean cost of a window.
const MEMORY_SHARE: f64 = 0.8;

/// How the sampled tier measures, in the words of `loadgo doctor`.
pub(crate) fn method() -> String {
    format!("in random windows of {} ms, each of which stands for a stretch of a second or more", WINDOW_TIME.as_millis())
}

/// The part of the meters, with its thread.
pub(crate) struct Windows {
    rows: Receiver<Result<MeterRows, MeterRefusal>>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    id: i32,
}

impl Windows {
    /// Begins the part; None outside of the sampled tier. The time of an event is calibrated here.
    ///
    /// # Errors
    /// The kernel's refusal of a program.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        if wanted.tier != Tier::Sampled {
            return Ok(None);
        }
        let unmetered = unmetered_prices(Tier::Exact);
        let mut programs = WindowPrograms::load(context.loaded.switch_tells_state)?;
        programs.attach()?;
        let calibration = unmetered.map_or_else(Calibration::default, |unmetered| calibrate(&unmetered, programs.loaded()));
        programs.detach()?;
        context.window_programs = programs.descriptors()?;
        context.window_calibration = Some(calibration);
        let by_process = EventsByProcess::begin(context, wanted, &mut programs)?;
        let processors = ProcessorMap::open(&context.loaded)?;
        let event_costs = EventCosts::new(calibration);
        let sampler = Sampler { programs, by_process, processors, event_costs, costs: Costs::default() };
        let (row_sender, rows) = channel();
        let (stop, stopped) = channel();
        let (id_sender, id_receiver) = sync_channel(1);
        let run = move || {
            let _ = id_sender.send(thread_id());
            sampler.run(&row_sender, &stopped);
        };
        let thread = thread::Builder::new().name("loadgo-windows".into()).spawn(run)?;
        let id = id_receiver.recv().map_err(|_| "the thread of the windows did not begin")?;
        Ok(Some(Box::new(Windows { rows, stop: Some(stop), thread: Some(thread), id })))
    }
}

impl MeterPart for Windows {
    fn thread(&self) -> Option<i32> {
        Some(self.id)
    }

    fn rows(&mut self, _: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let origin_ns = span.monotonic_ns - span.at.0;
        for rows in self.rows.try_iter() {
            let mut rows = rows?;
            shift(&mut rows, origin_ns);
            sample.primitives.append(&mut rows.primitives);
            sample.faults.append(&mut rows.faults);
            sample.meter_windows.append(&mut rows.meter_windows);
            sample.window_events.append(&mut rows.window_events);
        }
        Ok(())
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Moves rows from the kernel's clock to the run's, which began at `origin_ns`.
fn shift(rows: &mut MeterRows, origin_ns: u64) {
    let moved = |at: Instant| Instant(at.0.saturating_sub(origin_ns));
    rows.primitives.iter_mut().for_each(|row| row.at = moved(row.at));
    rows.faults.iter_mut().for_each(|row| row.at = moved(row.at));
    rows.meter_windows.iter_mut().for_each(|row| row.at = moved(row.at));
    rows.window_events.iter_mut().for_each(|row| row.at = moved(row.at));
}

/// The thread's state.
struct Sampler {
    programs: WindowPrograms,
    by_process: EventsByProcess,
    /// The processors by the programs that run at all times.
    processors: ProcessorMap,
    event_costs: EventCosts,
    costs: Costs,
}

/// The state of the host at a moment.
#[derive(Clone, Copy)]
struct Moment {
    at_ns: u64,
    busy_ns: u64,
    switches: u64,
    own_ns: u64,
}

impl Sampler {
    /// Meters windows until the other end of `stopped` is dropped, or the kernel refuses.
    fn run(mut self, rows: &Sender<Result<MeterRows, MeterRefusal>>, stopped: &Receiver<()>) {
        let mut random = RandomStream::new(monotonic_ns(), 1, StreamPurpose::Choice);
        let is_over = |time: Duration| stopped.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
        loop {
            let (began, stretch) = (std::time::Instant::now(), self.costs.stretch());
            if is_over(stretch.saturating_sub(WINDOW_TIME).mul_f64(random.unit())) {
                return;
            }
            let mut ended = false;
            let window = self.meter_window(stretch, || ended = is_over(WINDOW_TIME));
            let is_refused = window.is_err();
            if ended || rows.send(window).is_err() || is_refused || is_over(stretch.saturating_sub(began.elapsed())) {
                return; // a window that the end of the run cuts does not count
            }
        }
    }

    fn meter_window(&mut self, stretch: Duration, wait: impl FnOnce()) -> Result<MeterRows, MeterRefusal> {
        let own_before_ns = thread_ns();
        let attached = self.programs.attach();
        let metered = attached.and_then(|()| self.read_window(wait));
        let within = self.programs.count_thread(true).map(|()| LoadTimes::measure());
        self.programs.detach()?;
        let (mut rows, before, after) = metered?;
        self.event_costs.add(within?, LoadTimes::measure());
        let own_ns = thread_ns() - own_before_ns;
        let added_ns = added_ns(&rows, self.event_costs, after.switches.wrapping_sub(before.switches)) as u64;
        let others_ns = (after.busy_ns.saturating_sub(before.busy_ns)).saturating_sub(after.own_ns - before.own_ns);
        let span_ns = after.at_ns - before.at_ns;
        let window = MeterWindowRow {
            at: Instant(after.at_ns),
            span_ns,
            stretch_ns: stretch.as_nanos() as u64,
            busy_ns: others_ns.saturating_sub(added_ns),
            cost_ns: own_ns + added_ns.min(others_ns),
        };
        self.costs.add(window.cost_ns as f64, window.busy_ns as f64 / span_ns.max(1) as f64);
        rows.meter_windows = vec![window];
        Ok(rows)
    }

    /// Reads the counts of a window, which begins when all programs are attached.
    fn read_window(&mut self, wait: impl FnOnce()) -> Result<(MeterRows, Moment, Moment), MeterRefusal> {
        self.programs.count_thread(false)?;
        let before = self.moment();
        self.rows_until(before.at_ns, 0)?; // counts so far belong to no window
        wait();
        let after = self.moment();
        let rows = self.rows_until(after.at_ns, after.at_ns - before.at_ns)?;
        Ok((rows, before, after))
    }

    fn rows_until(&mut self, at_ns: u64, span_ns: u64) -> Result<MeterRows, MeterRefusal> {
        let (mut rows, span) = (MeterRows::default(), RecordSpan { at: Instant(at_ns), span_ns, monotonic_ns: at_ns });
        for table in &mut self.programs.tables {
            table.rows(&mut self.programs.context, span, &mut rows)?;
        }
        rows.window_events = self.by_process.rows(&mut self.programs.context, span, self.event_costs)?;
        Ok(rows)
    }

    fn moment(&self) -> Moment {
        let at_ns = monotonic_ns();
        let mut moment = Moment { at_ns, busy_ns: 0, switches: 0, own_ns: thread_ns() };
        for words in self.processors.read() {
            moment.busy_ns += words.busy_until(at_ns);
            moment.switches = moment.switches.wrapping_add(words.at(processor::SWITCHES));
        }
        moment
    }
}

/// Processor time that the programs added to the events of a window.
fn added_ns(rows: &MeterRows, costs: EventCosts, switches: u64) -> f64 {
    let calls: u64 = rows.primitives.iter().filter(|row| row.bucket_ns.is_none()).map(|row| row.count).sum();
    let totals = rows.faults.iter().filter(|row| row.bucket_ns.is_none() && row.device.is_none());
    let (interrupts, faults): (Vec<_>, Vec<_>) = totals.partition(|row| row.kind.contains("interrupt"));
    let sum = |rows: Vec<&loadgo_core::record::FaultRow>| rows.iter().map(|row| row.count).sum::<u64>() as f64;
    calls as f64 * costs.call_ns
        + sum(faults) * costs.fault_ns
        + sum(interrupts) * costs.call_ns
        + switches as f64 * costs.switch_ns
}

/// Mean cost of a window, and how busy the host was in windows.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    weight: f64,
    cost_ns: f64,
    busy_processors: f64,
}

impl Costs {
    /// Adds a window's cost, and the mean number of busy processors in it.
    fn add(&mut self, cost_ns: f64, busy_processors: f64) {
        self.weight = self.weight * MEMORY_SHARE + 1.0;
        self.cost_ns += (cost_ns - self.cost_ns) / self.weight;
        self.busy_processors += (busy_processors - self.busy_processors) / self.weight;
    }

    /// The length of the next stretch. It follows from the windows before it alone, so that the estimates have no bias.
    fn stretch(&self) -> Duration {
        let [shortest, longest] = STRETCH_TIMES;
        let allowed = MOST_PRICE_SHARE * self.busy_processors;
        if allowed <= 0.0 {
            return if self.weight > 0.0 { longest } else { shortest };
        }
        Duration::from_nanos((self.cost_ns / allowed).min(longest.as_nanos() as f64) as u64).clamp(shortest, longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_so_long_that_the_windows_cost_a_hundredth_of_the_busy_time() {
        let mut costs = Costs::default();
        assert_eq!(costs.stretch(), STRETCH_TIMES[0]);
        costs.add(40e6, 1.6);
        assert_eq!(costs.stretch(), Duration::from_millis(2500)); // 40 ms of 1.6 processors for 2.5 s
    }

    #[test]
    fn a_stretch_has_bounds() {
        let (mut cheap, mut idle) = (Costs::default(), Costs::default());
        cheap.add(1e6, 2.0);
        idle.add(1e6, 0.0);
        assert_eq!([cheap.stretch(), idle.stretch()], STRETCH_TIMES);
    }
}
