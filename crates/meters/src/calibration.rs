//! Measures at the start what the meters cost for each event, and how much of an event they clock.
//!
//! The same loads run before the programs are loaded and after. They are null system calls, first readings of pages, and two
//! threads that pass a byte to each other. A clock that is read inside the kernel misses a part of each event. The time before the first
//! reading and after the last one counts as `user`, like the programs' own time. So each event has three durations: without the
//! meters, with them, and as the meters clock it. `correct.rs` moves each part to the category where it belongs.

pub(crate) mod calling;
pub(crate) mod correct;

pub use crate::event_prices::{Calibration, EventPrice};

use crate::programs::load::{Loaded, map_array};
use crate::programs::names::SYSTEM_CALL_NUMBERS;
use crate::tables::calls::CALL_WORDS;
use crate::tables::faults;
use crate::wanted::Tier;
use loadgo_sys::mapped::MappedWords;
use memmap2::{Advice, MmapMut};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io::{Read, Write, pipe};
use std::os::unix::process::parent_id;
use std::sync::atomic::Ordering::Relaxed;
use syscalls::Sysno;

/// Number of measurements of each load. The first quartile counts, since other tasks can only make a load slower.
const CALIBRATION_RUNS: usize = 32;
/// Number of system calls in a measurement.
const CALLS_PER_RUN: u64 = 500;
/// Number of pages read in a measurement.
pub(crate) const PAGES_PER_RUN: usize = 256;
/// Number of bytes passed in a measurement, with a switch each.
const SWITCHES_PER_RUN: u64 = 50;

/// Processor times of the loads on one processor, without the meters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadPrices {
    processor: usize,
    switch_ns: f64,
    /// Times of the events that only the exact tier clocks; None in the cheap tier.
    clocked: Option<ClockedPrices>,
}

/// Processor times of the events that the exact tier clocks, without the meters.
#[derive(Clone, Copy, Debug)]
struct ClockedPrices {
    call_ns: f64,
    touch_ns: f64,
}

/// Measures the loads of a tier before the meters are loaded. None if they cannot be measured here.
pub(crate) fn unmetered_prices(tier: Tier) -> Option<LoadPrices> {
    let pinned = PinnedThread::to(sched_getcpu())?;
    let clocked = if tier == Tier::Exact { Some(unmetered_events()?) } else { None };
    let (switch_ns, ()) = first_quartile(|| Some((switch_ns()?, ())))?;
    Some(LoadPrices { processor: pinned.processor, switch_ns, clocked })
}

fn unmetered_events() -> Option<ClockedPrices> {
    touches_ns(PAGES_PER_RUN)?; // the first time also creates page tables
    let (call_ns, ()) = first_quartile(|| Some((calls_ns(CALLS_PER_RUN), ())))?;
    let (touch_ns, ()) = first_quartile(|| Some((touches_ns(PAGES_PER_RUN)?, ())))?;
    Some(ClockedPrices { call_ns, touch_ns })
}

/// Measures the same loads with the meters, and returns the differences.
pub(crate) fn calibrate(bare: &LoadPrices, loaded: &Loaded) -> Calibration {
    let Some(_pinned) = PinnedThread::to(bare.processor) else { return Calibration::default() };
    let primitive = bare.clocked.and_then(|events| metered_calls(bare.processor, events.call_ns, loaded));
    let fault = bare.clocked.and_then(|events| metered_touches(bare.processor, events.touch_ns, loaded));
    let calls_ns = primitive.map_or(0.0, |price: EventPrice| 2.0 * price.meter_cost_ns()); // one call writes the byte, one reads it
    let metered_switch = first_quartile(|| Some((switch_ns()?, ())));
    let switch_ns = metered_switch.map(|(metered_ns, ())| (metered_ns - bare.switch_ns - calls_ns).max(0.0));
    Calibration { primitive, fault, switch_ns }
}

fn metered_calls(processor: usize, bare_ns: f64, loaded: &Loaded) -> Option<EventPrice> {
    let number = Sysno::getppid as usize;
    let table = map_array(loaded, "primitives", loaded.processors as usize * SYSTEM_CALL_NUMBERS * CALL_WORDS * 8).ok()?;
    let read = |table: &MappedWords| {
        let words = &table.words()[(processor * SYSTEM_CALL_NUMBERS + number) * CALL_WORDS..];
        (words[0].load(Relaxed), words[2].load(Relaxed))
    };
    let (metered_ns, clocked_ns) = first_quartile(|| {
        let before = read(&table);
        let ns = calls_ns(CALLS_PER_RUN);
        let after = read(&table);
        (after.0 - before.0 == CALLS_PER_RUN).then_some((ns, (after.1 - before.1) as f64 / CALLS_PER_RUN as f64))
    })?;
    Some(EventPrice { bare_ns, metered_ns, clocked_ns })
}

fn metered_touches(processor: usize, bare_ns: f64, loaded: &Loaded) -> Option<EventPrice> {
    let read = || faults::clocked_faults_on(loaded, processor as u32).ok();
    let (metered_ns, clocked_ns) = first_quartile(|| {
        let before = read()?;
        let ns = touches_ns(PAGES_PER_RUN)?;
        let after = read()?;
        let count = after.0 - before.0;
        let is_undisturbed = (PAGES_PER_RUN as u64..PAGES_PER_RUN as u64 + 4).contains(&count); // no other task faulted on this processor
        is_undisturbed.then_some((ns, (after.1 - before.1) as f64 / count as f64))
    })?;
    Some(EventPrice { bare_ns, metered_ns, clocked_ns })
}

/// Time of a null system call, the mean of `count`.
pub(crate) fn calls_ns(count: u64) -> f64 {
    let began = thread_ns();
    for _ in 0..count {
        black_box(parent_id());
    }
    (thread_ns() - began) as f64 / count as f64
}

/// Time of the first reading of a page, less that of a later one. The page is all zeros and needs no memory, whose varying speed
/// would disturb the measurement.
pub(crate) fn touches_ns(pages: usize) -> Option<f64> {
    let page = rustix::param::page_size();
    let memory = MmapMut::map_anon(pages * page).ok()?;
    let _ = memory.advise(Advice::NoHugePage); // fails on a kernel without huge pages
    let touch = || {
        let began = thread_ns();
        for byte in memory.iter().step_by(page) {
            black_box(*black_box(byte));
        }
        thread_ns() - began
    };
    let (fresh, warm) = (touch(), touch());
    Some(fresh.saturating_sub(warm) as f64 / pages as f64)
}

/// Processor time in which a thread passes a byte to another one on the same processor: a switch and two system calls.
fn switch_ns() -> Option<f64> {
    let (mut from_other, mut to_us) = pipe().ok()?;
    let (mut from_us, mut to_other) = pipe().ok()?;
    std::thread::scope(move |scope| {
        let passing = move || {
            let began = thread_ns();
            for _ in 0..SWITCHES_PER_RUN {
                pass_byte(&mut from_us, &mut to_us)?;
            }
            Some(thread_ns() - began)
        };
        let other = std::thread::Builder::new().spawn_scoped(scope, passing).ok()?;
        let began = thread_ns();
        for _ in 0..SWITCHES_PER_RUN {
            to_other.write_all(&[0]).ok()?;
            from_other.read_exact(&mut [0]).ok()?;
        }
        let ours = thread_ns() - began;
        Some((ours + other.join().ok()??) as f64 / (2 * SWITCHES_PER_RUN) as f64)
    })
}

fn pass_byte(from: &mut impl Read, to: &mut impl Write) -> Option<()> {
    from.read_exact(&mut [0]).ok()?;
    to.write_all(&[0]).ok()
}

/// The first quartile of the measurements, with its second value. None if fewer than a quarter succeed.
fn first_quartile<T: Copy>(mut measure: impl FnMut() -> Option<(f64, T)>) -> Option<(f64, T)> {
    let mut results: Vec<(f64, T)> = (0..CALIBRATION_RUNS).filter_map(|_| measure()).collect();
    results.sort_by(|left, right| left.0.total_cmp(&right.0));
    if results.len() * 4 < CALIBRATION_RUNS { None } else { results.get(results.len() / 4).copied() }
}

/// Processor time of this thread in nanoseconds.
pub(crate) fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Keeps this thread on one processor until dropped.
struct PinnedThread {
    processor: usize,
    before: CpuSet,
}

impl PinnedThread {
    fn to(processor: usize) -> Option<PinnedThread> {
        let before = sched_getaffinity(None).ok()?;
        let mut single = CpuSet::new();
        single.set(processor);
        sched_setaffinity(None, &single).ok()?;
        Some(PinnedThread { processor, before })
    }
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before); // restores this thread's own set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_the_first_quartile_or_none() {
        let mut count = 0;
        let falling = || {
            count += 1;
            Some((f64::from(100 - count), count))
        };
        assert_eq!(first_quartile(falling), Some((76.0, 24)));
        assert_eq!(first_quartile(|| None::<(f64, ())>), None);
    }
}
