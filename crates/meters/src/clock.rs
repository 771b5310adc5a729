//! The sampling clock of the cheap tier: a program in the kernel counts what each busy processor does at its ticks.
//!
//! The program finds the innermost kernel function that shows an activity, in a table that is made of the kernel's symbols here. So no
//! sample leaves the kernel, and no thread reads any.

use crate::kallsyms::Kallsyms;
use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::interrupted_load::load_despite_signals;
use crate::programs::load::{Loaded, MissingProgram, map_array};
use crate::refusal::MeterRefusal;
use crate::shares::ActivityCounts;
use crate::wanted::MeterRequest;
use aya::programs::PerfEvent;
use loadgo_core::record::MeterRows;
use loadgo_sys::mapped::MappedWords;
use perf_event::events::Software;
use perf_event::{Builder, Counter};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::Ordering::Relaxed;

/// Name of the kernel program.
pub(crate) const CLOCK_PROGRAM: &str = "on_clock";
/// Number of words of `struct functions`.
const MOST_FUNCTIONS: usize = 8192;
/// Number of words of `struct activity_counts`.
const ACTIVITIES: usize = 8;

/// The clock on all processors, and its counts at the last reading.
pub(crate) struct Clock {
    counts: MappedWords,
    last: Vec<[u64; ACTIVITIES]>,
    /// The clocks; dropping them stops them.
    _events: Vec<Counter>,
}

/// Begins the clock as a part of the meters; None if it is not wanted. It comes before `total time`, which divides busy time by its counts.
///
/// # Errors
/// The program is noted as missing, with the host's refusal; then busy time is not divided.
pub(crate) fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
    let Some(hz) = wanted.clock_hz().filter(|_| wanted.counts_activities()) else { return Ok(None) };
    match Clock::begin(&mut context.loaded, hz) {
        Ok(clock) => Ok(Some(Box::new(clock))),
        Err(refusal) => {
            context.loaded.missing.push(MissingProgram { meter: None, program: CLOCK_PROGRAM, refusal });
            Ok(None)
        }
    }
}

/// Samples per second of each busy processor, after all parts have begun; 0 without a clock.
pub(crate) fn rate(loaded: &Loaded, wanted: &MeterRequest) -> u32 {
    let lacks_clock = |missing: &MissingProgram| missing.program == CLOCK_PROGRAM || missing.meter == Some(Meter::ClockProfile);
    if loaded.missing.iter().any(lacks_clock) { 0 } else { wanted.clock_hz().unwrap_or(0) }
}

impl Clock {
    fn begin(loaded: &mut Loaded, hz: u32) -> Result<Clock, MeterRefusal> {
        let program = load_clock_program(loaded)?;
        let clock = |processor| start_clock(processor, program, hz).map_err(MeterRefusal::from);
        let events = aya::util::online_cpus()?.into_iter().map(clock).collect::<Result<_, MeterRefusal>>()?;
        let counts = map_counts(loaded)?;
        let last = read_counts(&counts).collect();
        Ok(Clock { counts, last, _events: events })
    }
}

impl MeterPart for Clock {
    fn rows(&mut self, context: &mut Context, _: RecordSpan, _: &mut MeterRows) -> Result<(), MeterRefusal> {
        let now: Vec<[u64; ACTIVITIES]> = read_counts(&self.counts).collect();
        let increases = now.iter().zip(&self.last).map(|(now, last)| {
            ActivityCounts::from_words(std::array::from_fn(|activity| now[activity].wrapping_sub(last[activity])))
        });
        context.shares = (0..).zip(increases).collect();
        self.last = now;
        Ok(())
    }
}

/// Loads the program and gives it the kernel's functions, with those of the programs that are loaded already. Returns its descriptor.
pub(crate) fn load_clock_program(loaded: &mut Loaded) -> Result<RawFd, MeterRefusal> {
    let program: &mut PerfEvent = loaded.object.program_mut(CLOCK_PROGRAM).ok_or("it is not in the object")?.try_into()?;
    load_despite_signals(|| program.load())?;
    let descriptor = program.fd()?.as_fd().as_raw_fd();
    let kallsyms = Kallsyms::read(false)?;
    let table = map_array(loaded, "functions", MOST_FUNCTIONS * 8)?;
    let words: Vec<u64> = kallsyms.activity_words().collect();
    if words.len() > MOST_FUNCTIONS {
        return Err(format!("the kernel has {} functions that show an activity, of at most {MOST_FUNCTIONS}", words.len()).into());
    }
    for (place, word) in table.words().iter().zip(words.into_iter().chain(std::iter::repeat(u64::MAX))) {
        place.store(word, Relaxed);
    }
    Ok(descriptor)
}

/// Maps the counts of all processors.
pub(crate) fn map_counts(loaded: &Loaded) -> Result<MappedWords, MeterRefusal> {
    map_array(loaded, "activity_counts", loaded.processors as usize * ACTIVITIES * 8)
}

/// The counts of all processors, by number.
pub(crate) fn read_counts(counts: &MappedWords) -> impl Iterator<Item = [u64; ACTIVITIES]> {
    let processors = counts.words().chunks_exact(ACTIVITIES);
    processors.map(|words| std::array::from_fn(|activity| words[activity].load(Relaxed)))
}

fn start_clock(processor: u32, program: RawFd, hz: u32) -> io::Result<Counter> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.one_cpu(processor as usize).any_pid().exclude_idle(true).exclude_kernel(false).exclude_hv(false);
    let mut clock = builder.sample_period(period_ns(hz)).build()?;
    clock.set_bpf(program)?;
    clock.enable()?;
    Ok(clock)
}

/// The sampling period, 0.3 % longer than `hz` asks. So it does not beat with the kernel's clock ticks (100, 250, 300 or 1000 Hz).
pub(crate) fn period_ns(hz: u32) -> u64 {
    let period = 1_000_000_000 / u64::from(hz.max(1));
    period + period / 331
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wanted::Tier;

    #[test]
    fn a_period_is_a_little_longer_than_requested_and_does_not_beat_with_ticks() {
        assert_eq!(period_ns(1000), 1_003_021);
        assert_ne!(4_000_000 % period_ns(1000), 0);
    }

    /// The kernel's ticks of 100, 250, 300 and 1000 Hz, and programs that work every 20 ms.
    const TIMER_PERIODS_US: [f64; 5] = [10_000.0, 4_000.0, 10_000.0 / 3.0, 1_000.0, 20_000.0];

    #[test]
    fn ticks_that_divide_busy_time_soon_meet_every_moment_of_the_periods_of_timers() {
        let wanted = MeterRequest { tier: Tier::Cheap, accounts: 0, commands: Vec::new(), locks: false, profile_hz: None };
        let period_us = period_ns(wanted.clock_hz().expect("the cheap tier has a clock")) as f64 / 1000.0;
        for timer_us in TIMER_PERIODS_US {
            let mut met: Vec<f64> = (0..64).map(|tick| f64::from(tick) * period_us % timer_us / timer_us).collect();
            met.sort_by(f64::total_cmp);
            let largest_gap = met.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0 - met[63], f64::max);
            assert!(largest_gap < 0.04, "a timer of {timer_us} µs is not met in {largest_gap} of its period");
        }
    }
}
