//! Puts the time that the meters themselves took into a category of its own, `meters`, and what went astray where it belongs.
//!
//! Each processor's time stays what it was; only its parts change. What is moved is never more than is there.

use crate::calibration::Calibration;
use crate::tables::faults::CLOCKED_KINDS;
use loadgo_core::record::{Sample, TimeRow};
use std::collections::BTreeMap;

/// The category of the instrument's own time.
pub const METERS: &str = "meters";

/// Events of a span on all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Events {
    calls: f64,
    faults: f64,
    switches: f64,
    interrupts: f64,
}

type Times = BTreeMap<&'static str, u64>;

/// Corrects the rows of `time` in a sample by what its other rows count.
pub(crate) fn correct(calibration: &Calibration, exact: bool, sample: &mut Sample) {
    let events = events(sample);
    let Some(span) = sample.time.first().cloned() else { return };
    let mut processors: BTreeMap<Option<u16>, Times> = BTreeMap::new();
    for row in &sample.time {
        *processors.entry(row.processor).or_default().entry(row.category).or_default() += row.time_ns;
    }
    let whole = shares(&processors.values().fold(Times::new(), |sums, times| add(sums, times)));
    for times in processors.values_mut() {
        let here = events.part(&shares(times), &whole);
        correct_one(calibration, exact, here, times);
    }
    sample.time = processors.into_iter().flat_map(|(processor, times)| rows(&span, processor, times)).collect();
}

/// Times that events are in proportion to: primitives, faults, all busy time, interrupts.
fn shares(times: &Times) -> Events {
    let of = |names: &[&str]| names.iter().filter_map(|name| times.get(name)).sum::<u64>() as f64;
    let faults = of(&["page fault", "segment fault", "bound fault"]);
    let interrupts = of(&["interrupt", "soft interrupt"]);
    let calls = of(&["primitive"]);
    Events { calls, faults, interrupts, switches: calls + faults + interrupts + of(&["user", "kernel thread"]) }
}

fn add(mut sums: Times, times: &Times) -> Times {
    for (category, ns) in times {
        *sums.entry(category).or_default() += ns;
    }
    sums
}

fn events(sample: &Sample) -> Events {
    let calls = sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none());
    let faults = sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none());
    let all = faults.filter(|row| row.device.is_none());
    let (clocked, others): (Vec<_>, Vec<_>) = all.partition(|row| CLOCKED_KINDS.contains(&row.kind));
    let interrupts = others.iter().filter(|row| ["interrupt", "soft interrupt"].contains(&row.kind));
    Events {
        calls: calls.map(|row| row.count).sum::<u64>() as f64,
        faults: clocked.iter().map(|row| row.count).sum::<u64>() as f64,
        switches: sample.queue.iter().filter(|row| row.measure == "switches").map(|row| row.value).sum(),
        interrupts: interrupts.map(|row| row.count).sum::<u64>() as f64,
    }
}

impl Events {
    /// The part of the events that a processor had, by its shares of the times that they are in proportion to.
    fn part(self, here: &Events, whole: &Events) -> Events {
        let part = |count: f64, here: f64, whole: f64| if whole > 0.0 { count * here / whole } else { 0.0 };
        Events {
            calls: part(self.calls, here.calls, whole.calls),
            faults: part(self.faults, here.faults, whole.faults),
            switches: part(self.switches, here.switches, whole.switches),
            interrupts: part(self.interrupts, here.interrupts, whole.interrupts),
        }
    }
}

fn correct_one(calibration: &Calibration, exact: bool, events: Events, times: &mut Times) {
    let mut freed = 0;
    if let Some(price) = calibration.primitive {
        freed += take(times, "user", events.calls * price.astray_ns());
        freed += take(times, "primitive", -events.calls * price.correction_ns());
        let inside = events.interrupts * price.own_ns() / 2.0; // two programs as there, of which one runs inside
        freed += take(times, "interrupt", inside);
    }
    if let Some(price) = calibration.fault {
        freed += take(times, "user", events.faults * price.astray_ns());
        freed += take(times, "page fault", -events.faults * price.correction_ns());
    }
    let around = if exact { "primitive" } else { "user" }; // where a task is that gives the processor up
    freed += take(times, around, events.switches * calibration.switch_ns.unwrap_or(0.0));
    if freed < 0 {
        freed += take(times, "page fault", freed.unsigned_abs() as f64); // more was given than could be taken
    }
    if freed < 0 {
        freed += take(times, "primitive", freed.unsigned_abs() as f64);
    }
    *times.entry(METERS).or_default() += u64::try_from(freed).expect("what was given has been taken back");
}

/// Takes from a category what is there, or gives it what is below zero; how much was taken.
fn take(times: &mut Times, category: &'static str, ns: f64) -> i64 {
    let has = times.entry(category).or_default();
    let taken = (ns.round() as i64).min(*has as i64);
    *has = has.wrapping_add_signed(-taken);
    taken
}

fn rows(span: &TimeRow, processor: Option<u16>, times: Times) -> impl Iterator<Item = TimeRow> {
    let (at, span_ns) = (span.at, span.span_ns);
    let had = times.into_iter().filter(|(_, time_ns)| *time_ns > 0);
    had.map(move |(category, time_ns)| TimeRow { at, span_ns, processor, category, time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Price;

    const PRICE: Price = Price { bare_ns: 120.0, metered_ns: 320.0, clocked_ns: 150.0 };

    fn calibration() -> Calibration {
        Calibration { primitive: Some(PRICE), fault: None, switch_ns: None }
    }

    #[test]
    fn a_loop_of_calls_has_its_true_time_and_the_meters_theirs() {
        let mut times = Times::from([("user", 170_000), ("primitive", 150_000)]);
        let events = Events { calls: 1000.0, ..Events::default() };
        correct_one(&calibration(), true, events, &mut times);
        assert_eq!(times, Times::from([("user", 0), ("primitive", 120_000), ("interrupt", 0), ("meters", 200_000)]));
    }

    #[test]
    fn no_more_is_moved_than_is_there() {
        let fault = Price { bare_ns: 1200.0, metered_ns: 1500.0, clocked_ns: 1000.0 };
        let calibration = Calibration { fault: Some(fault), ..Calibration::default() };
        let mut times = Times::from([("user", 100), ("page fault", 1000)]);
        correct_one(&calibration, true, Events { faults: 1.0, ..Events::default() }, &mut times);
        assert_eq!(times.values().sum::<u64>(), 1100);
    }
}
