//! What the meters themselves cost and what they see of each event, found at the start by loads whose price is known.
//!
//! The same loads run before the programs are loaded and after: null system calls, first readings of pages, and two threads that
//! hand a byte to each other. A clock that is read inside the kernel sees less of an event than there is: what lies before the
//! first reading and after the last one lands in `user`, and the programs' own time with it. For each event the loads tell
//! the time without the meters, the time with them, and the time that the meters clocked; `correct.rs` puts each where it belongs.

pub(crate) mod correct;

use crate::programs::load::{Loaded, mapped};
use crate::programs::names::{PRIMITIVES, names};
use crate::tables::faults;
use crate::wanted::{Tier, Wanted};
use loadgo_sys::mapped::MappedWords;
use memmap2::{Advice, MmapMut};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::hint::black_box;
use std::io::{Read, Write, pipe};
use std::os::unix::process::parent_id;
use std::sync::atomic::Ordering::Relaxed;

/// So often each load is measured. The first quartile counts: the rest of the machine can only make them dearer.
const TIMES: usize = 32;
const CALLS: u64 = 500;
const PAGES: usize = 256;
const HANDED: u64 = 50;

/// What one event costs, in nanoseconds of processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Without the meters.
    pub bare_ns: f64,
    /// With them.
    pub metered_ns: f64,
    /// As they clock it.
    pub clocked_ns: f64,
}

impl Price {
    /// What the meters cost.
    pub fn own_ns(&self) -> f64 {
        (self.metered_ns - self.bare_ns).max(0.0)
    }

    /// What is to be added to each that was clocked, so that it is what it would be without the meters; may be negative.
    pub fn correction_ns(&self) -> f64 {
        self.bare_ns - self.clocked_ns
    }

    /// What of each was clocked as something else: the work of users' programs, nearly always.
    pub fn astray_ns(&self) -> f64 {
        (self.metered_ns - self.clocked_ns).max(0.0)
    }
}

/// What the meters cost on this host. `None`: not metered in this tier, or no measurement was good.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    /// A primitive: a null system call.
    pub primitive: Option<Price>,
    /// A page fault: the first reading of a page.
    pub fault: Option<Price>,
    /// What the meters cost at a switch from task to task, the wakeup before it included, in nanoseconds.
    pub switch_ns: Option<f64>,
}

impl fmt::Display for Calibration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let price = |price: &Price| {
            let Price { bare_ns, clocked_ns, .. } = price;
            format!("{bare_ns:.0} ns, of which {clocked_ns:.0} clocked; the meters add {:.0} ns", price.own_ns())
        };
        let said = [
            self.primitive.as_ref().map(|found| format!("a null primitive takes {}", price(found))),
            self.fault.as_ref().map(|found| format!("the shortest page fault takes {}", price(found))),
            self.switch_ns.map(|ns| format!("the meters add {ns:.0} ns to a switch")),
        ];
        out.write_str(&said.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

/// The loads' prices on one processor, however they are metered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    processor: usize,
    call_ns: f64,
    touch_ns: f64,
    handed_ns: f64,
}

/// The prices before the meters are loaded; `None` when they cannot be measured here.
pub(crate) fn bare() -> Option<Prices> {
    let pinned = Pinned::to(sched_getcpu())?;
    touches_ns()?; // the first time, page tables are made
    let (call_ns, ()) = quiet(|| Some((calls_ns(), ())))?;
    let (touch_ns, ()) = quiet(|| Some((touches_ns()?, ())))?;
    let (handed_ns, ()) = quiet(|| Some((handed_ns()?, ())))?;
    Some(Prices { processor: pinned.processor, call_ns, touch_ns, handed_ns })
}

/// The calibration, of the same loads with the meters at work.
pub(crate) fn calibrate(bare: &Prices, loaded: &Loaded, wanted: &Wanted) -> Calibration {
    let Some(_pinned) = Pinned::to(bare.processor) else { return Calibration::default() };
    let exact = wanted.tier == Tier::Exact;
    let primitive = if exact { metered_calls(bare, loaded) } else { None };
    let fault = if exact { metered_touches(bare, loaded) } else { None };
    let calls_ns = primitive.map_or(0.0, |price: Price| 2.0 * price.own_ns()); // one hands the byte over, one takes it
    let handed = quiet(|| Some((handed_ns()?, ())));
    let switch_ns = handed.map(|(handed_ns, ())| (handed_ns - bare.handed_ns - calls_ns).max(0.0));
    Calibration { primitive, fault, switch_ns }
}

fn metered_calls(bare: &Prices, loaded: &Loaded) -> Option<Price> {
    const WORDS: usize = 5 + crate::tables::histogram::BUCKETS / 2; // `struct primitive`
    let number = names().iter().position(|name| &**name == "getppid")?;
    let table = mapped(loaded, "primitives", loaded.processors as usize * PRIMITIVES * WORDS * 8).ok()?;
    let read = |table: &MappedWords| {
        let words = &table.words()[(bare.processor * PRIMITIVES + number) * WORDS..];
        (words[0].load(Relaxed), words[2].load(Relaxed))
    };
    let (metered_ns, clocked_ns) = quiet(|| {
        let before = read(&table);
        let ns = calls_ns();
        let after = read(&table);
        (after.0 - before.0 == CALLS).then_some((ns, (after.1 - before.1) as f64 / CALLS as f64))
    })?;
    Some(Price { bare_ns: bare.call_ns, metered_ns, clocked_ns })
}

fn metered_touches(bare: &Prices, loaded: &Loaded) -> Option<Price> {
    let read = || faults::clocked_on(loaded, bare.processor as u32).ok();
    let (metered_ns, clocked_ns) = quiet(|| {
        let before = read()?;
        let ns = touches_ns()?;
        let after = read()?;
        let count = after.0 - before.0;
        let alone = (PAGES as u64..PAGES as u64 + 4).contains(&count); // nobody else faulted on this processor
        alone.then_some((ns, (after.1 - before.1) as f64 / count as f64))
    })?;
    Some(Price { bare_ns: bare.touch_ns, metered_ns, clocked_ns })
}

/// A null system call.
fn calls_ns() -> f64 {
    let began = thread_ns();
    for _ in 0..CALLS {
        black_box(parent_id());
    }
    (thread_ns() - began) as f64 / CALLS as f64
}

/// The first reading of a page, less a later one. It is all zeros, and no memory is taken for it: what the memory's own
/// speed does from one moment to the next would be more than what is looked for.
fn touches_ns() -> Option<f64> {
    let page = rustix::param::page_size();
    let memory = MmapMut::map_anon(PAGES * page).ok()?;
    let _ = memory.advise(Advice::NoHugePage); // a kernel without huge pages knows no such advice
    let touch = || {
        let began = thread_ns();
        for byte in memory.iter().step_by(page) {
            black_box(*black_box(byte));
        }
        thread_ns() - began
    };
    let (fresh, warm) = (touch(), touch());
    Some(fresh.saturating_sub(warm) as f64 / PAGES as f64)
}

/// A byte that a thread hands to another one on the same processor: a switch and two system calls.
fn handed_ns() -> Option<f64> {
    let (mut from_other, mut to_us) = pipe().ok()?;
    let (mut from_us, mut to_other) = pipe().ok()?;
    std::thread::scope(move |scope| {
        let other = scope.spawn(move || {
            let began = thread_ns();
            for _ in 0..HANDED {
                hand(&mut from_us, &mut to_us)?;
            }
            Some(thread_ns() - began)
        });
        let began = thread_ns();
        for _ in 0..HANDED {
            to_other.write_all(&[0]).ok()?;
            from_other.read_exact(&mut [0]).ok()?;
        }
        let ours = thread_ns() - began;
        Some((ours + other.join().ok()??) as f64 / (2 * HANDED) as f64)
    })
}

fn hand(from: &mut impl Read, to: &mut impl Write) -> Option<()> {
    from.read_exact(&mut [0]).ok()?;
    to.write_all(&[0]).ok()
}

/// The first quartile of what can be measured, with what was found beside it; `None` when hardly anything can.
fn quiet<T: Copy>(mut measure: impl FnMut() -> Option<(f64, T)>) -> Option<(f64, T)> {
    let mut found: Vec<(f64, T)> = (0..TIMES).filter_map(|_| measure()).collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    if found.len() * 4 < TIMES { None } else { found.get(found.len() / 4).copied() }
}

/// Processor time of this thread.
fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// This thread stays on one processor as long as this lives.
struct Pinned {
    processor: usize,
    before: CpuSet,
}

impl Pinned {
    fn to(processor: usize) -> Option<Pinned> {
        let before = sched_getaffinity(None).ok()?;
        let mut one = CpuSet::new();
        one.set(processor);
        sched_setaffinity(None, &one).ok()?;
        Some(Pinned { processor, before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.before); // it was ours before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_costs_what_it_is_clocked_and_what_is_astray() {
        let price = Price { bare_ns: 120.0, metered_ns: 320.0, clocked_ns: 150.0 };
        assert_eq!((price.own_ns(), price.correction_ns(), price.astray_ns()), (200.0, -30.0, 170.0));
        assert_eq!(price.astray_ns() + price.clocked_ns, price.bare_ns + price.own_ns());
    }

    #[test]
    fn a_price_is_the_first_quartile_or_none() {
        let mut count = 0;
        let falling = || {
            count += 1;
            Some((f64::from(100 - count), count))
        };
        assert_eq!(quiet(falling), Some((76.0, 24)));
        assert_eq!(quiet(|| None::<(f64, ())>), None);
    }
}
