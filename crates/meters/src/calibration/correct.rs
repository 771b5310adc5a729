//! Moves the meter programs' own time into the category `meters`, and misattributed time to the category where it belongs.
//!
//! The total of each processor's time does not change. A category never loses more time than it has.

use crate::calibration::Calibration;
use crate::tables::faults::CLOCKED_KINDS;
use loadgo_core::record::{MeterRows, TimeRow};
use std::collections::BTreeMap;

/// The category of the meter programs' own time.
pub const METERS_CATEGORY: &str = "meters";

/// Numbers of events in a span, on all processors or on one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SpanEvents {
    calls: f64,
    faults: f64,
    switches: f64,
    interrupts: f64,
}

/// Nanoseconds by category.
type TimesByName = BTreeMap<&'static str, u64>;

/// Corrects the rows of `time` in a sample by the numbers of events in its other rows.
pub(crate) fn correct_time_rows(calibration: &Calibration, exact: bool, sample: &mut MeterRows) {
    let events = count_events(sample);
    let Some(span) = sample.time.first().cloned() else { return };
    let mut processors: BTreeMap<Option<u16>, TimesByName> = BTreeMap::new();
    for row in &sample.time {
        *processors.entry(row.processor).or_default().entry(row.category).or_default() += row.time_ns;
    }
    let all_shares = proportional_times(&processors.values().fold(TimesByName::new(), |sums, times| add(sums, times)));
    for times in processors.values_mut() {
        let own_events = events.part(&proportional_times(times), &all_shares);
        correct_processor(calibration, exact, own_events, times);
    }
    sample.time = processors.into_iter().flat_map(|(processor, times)| rows(&span, processor, times)).collect();
}

/// The times in nanoseconds to which numbers of events are proportional. Switches are proportional to all busy time.
fn proportional_times(times: &TimesByName) -> SpanEvents {
    let sum = |names: &[&str]| names.iter().filter_map(|name| times.get(name)).sum::<u64>() as f64;
    let faults = sum(&["page fault", "segment fault", "bound fault"]);
    let interrupts = sum(&["interrupt", "soft interrupt"]);
    let calls = sum(&["primitive"]);
    SpanEvents { calls, faults, interrupts, switches: calls + faults + interrupts + sum(&["user", "kernel thread"]) }
}

fn add(mut sums: TimesByName, times: &TimesByName) -> TimesByName {
    for (category, ns) in times {
        *sums.entry(category).or_default() += ns;
    }
    sums
}

fn count_events(sample: &MeterRows) -> SpanEvents {
    let calls = sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none());
    let faults = sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none());
    let all = faults.filter(|row| row.device.is_none());
    let (clocked, others): (Vec<_>, Vec<_>) = all.partition(|row| CLOCKED_KINDS.contains(&row.kind));
    let interrupts = others.iter().filter(|row| ["interrupt", "soft interrupt"].contains(&row.kind));
    SpanEvents {
        calls: calls.map(|row| row.count).sum::<u64>() as f64,
        faults: clocked.iter().map(|row| row.count).sum::<u64>() as f64,
        switches: sample.queue.iter().filter(|row| row.measure == "switches").map(|row| row.value).sum(),
        interrupts: interrupts.map(|row| row.count).sum::<u64>() as f64,
    }
}

impl SpanEvents {
    /// The events of one processor: in proportion to its `own` times among `all` times.
    fn part(self, own: &SpanEvents, all: &SpanEvents) -> SpanEvents {
        let part = |count: f64, own: f64, all: f64| if all > 0.0 { count * own / all } else { 0.0 };
        SpanEvents {
            calls: part(self.calls, own.calls, all.calls),
            faults: part(self.faults, own.faults, all.faults),
            switches: part(self.switches, own.switches, all.switches),
            interrupts: part(self.interrupts, own.interrupts, all.interrupts),
        }
    }
}

fn correct_processor(calibration: &Calibration, exact: bool, events: SpanEvents, times: &mut TimesByName) {
    let mut freed = 0;
    if let Some(price) = calibration.primitive {
        freed += take_time(times, "user", events.calls * price.misattributed_ns());
        freed += take_time(times, "primitive", -events.calls * price.clock_correction_ns());
        let inside = events.interrupts * price.meter_cost_ns() / 2.0; // two programs, as for a system call, of which one runs inside
        freed += take_time(times, "interrupt", inside);
    }
    if let Some(price) = calibration.fault {
        freed += take_time(times, "user", events.faults * price.misattributed_ns());
        freed += take_time(times, "page fault", -events.faults * price.clock_correction_ns());
    }
    let around = if exact { "primitive" } else { "user" }; // the category in which a task gives up the processor
    freed += take_time(times, around, events.switches * calibration.switch_ns.unwrap_or(0.0));
    if freed < 0 {
        freed += take_time(times, "page fault", freed.unsigned_abs() as f64); // more was added than could be taken
    }
    if freed < 0 {
        freed += take_time(times, "primitive", freed.unsigned_abs() as f64);
    }
    *times.entry(METERS_CATEGORY).or_default() += u64::try_from(freed).expect("added time has been taken back");
}

/// Takes up to `ns` from a category, or adds it if negative. Returns the nanoseconds taken.
fn take_time(times: &mut TimesByName, category: &'static str, ns: f64) -> i64 {
    let time_ns = times.entry(category).or_default();
    let taken = (ns.round() as i64).min(*time_ns as i64);
    *time_ns = time_ns.wrapping_add_signed(-taken);
    taken
}

fn rows(span: &TimeRow, processor: Option<u16>, times: TimesByName) -> impl Iterator<Item = TimeRow> {
    let (at, span_ns) = (span.at, span.span_ns);
    let present = times.into_iter().filter(|(_, time_ns)| *time_ns > 0);
    present.map(move |(category, time_ns)| TimeRow { at, span_ns, processor, category, time_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::EventPrice;

    const PRICE: EventPrice = EventPrice { bare_ns: 120.0, metered_ns: 320.0, clocked_ns: 150.0 };

    fn calibration() -> Calibration {
        Calibration { primitive: Some(PRICE), fault: None, switch_ns: None }
    }

    #[test]
    fn a_loop_of_calls_has_its_true_time_and_the_meters_theirs() {
        let mut times = TimesByName::from([("user", 170_000), ("primitive", 150_000)]);
        let events = SpanEvents { calls: 1000.0, ..SpanEvents::default() };
        correct_processor(&calibration(), true, events, &mut times);
        assert_eq!(times, TimesByName::from([("user", 0), ("primitive", 120_000), ("interrupt", 0), ("meters", 200_000)]));
    }

    #[test]
    fn no_more_is_moved_than_is_there() {
        let fault = EventPrice { bare_ns: 1200.0, metered_ns: 1500.0, clocked_ns: 1000.0 };
        let calibration = Calibration { fault: Some(fault), ..Calibration::default() };
        let mut times = TimesByName::from([("user", 100), ("page fault", 1000)]);
        correct_processor(&calibration, true, SpanEvents { faults: 1.0, ..SpanEvents::default() }, &mut times);
        assert_eq!(times.values().sum::<u64>(), 1100);
    }
}
