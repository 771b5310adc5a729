//! Time that the programs of the windows add to an event, measured in each window and right after it.
//!
//! The calibration at the start takes the undisturbed moments of that time. On a busy host everything takes longer, the programs too. So their
//! cost is measured again while the run goes on, with the same loads.

use crate::calibration::{calls_ns, touches_ns};
use crate::event_prices::{Calibration, EventPrice};

/// Number of measurements of each load. The middle one counts.
const REPEATS: usize = 3;
/// Number of system calls in a measurement.
const CALLS_PER_REPEAT: u64 = 100;
/// Number of pages touched in a measurement.
const PAGES_PER_REPEAT: usize = 64;
/// Weight of the measurements before in the mean cost of an event.
const MEMORY_SHARE: f64 = 0.9;

/// Times of the loads at a moment, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadTimes {
    call_ns: f64,
    touch_ns: Option<f64>,
}

impl LoadTimes {
    /// Measures in some tenths of a millisecond.
    pub fn measure() -> LoadTimes {
        let calls: Vec<f64> = (0..REPEATS).map(|_| calls_ns(CALLS_PER_REPEAT)).collect();
        let touches: Vec<f64> = (0..REPEATS).filter_map(|_| touches_ns(PAGES_PER_REPEAT)).collect();
        LoadTimes { call_ns: middle(calls).unwrap_or(0.0), touch_ns: middle(touches) }
    }
}

/// Cost of the programs for each event: means over windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EventCosts {
    pub call_ns: f64,
    pub fault_ns: f64,
    pub switch_ns: f64,
    weight: f64,
}

impl EventCosts {
    /// Costs by the calibration at the start.
    pub fn new(calibration: Calibration) -> EventCosts {
        let cost = |price: Option<EventPrice>| price.as_ref().map_or(0.0, EventPrice::meter_cost_ns);
        let (call_ns, fault_ns) = (cost(calibration.primitive), cost(calibration.fault));
        EventCosts { call_ns, fault_ns, switch_ns: calibration.switch_ns.unwrap_or(0.0), weight: 1.0 }
    }

    /// Adds the times of the loads in a window and right after it.
    pub fn add(&mut self, within: LoadTimes, after: LoadTimes) {
        self.weight = self.weight * MEMORY_SHARE + 1.0;
        self.call_ns += ((within.call_ns - after.call_ns).max(0.0) - self.call_ns) / self.weight;
        if let Some((within_ns, after_ns)) = within.touch_ns.zip(after.touch_ns) {
            self.fault_ns += ((within_ns - after_ns).max(0.0) - self.fault_ns) / self.weight;
        }
    }
}

/// The middle value; None without values.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_costs_follow_what_the_windows_measure() {
        let price = EventPrice { bare_ns: 100.0, metered_ns: 300.0, clocked_ns: 150.0 };
        let mut costs = EventCosts::new(Calibration { primitive: Some(price), fault: None, switch_ns: Some(7.0) });
        assert_eq!((costs.call_ns, costs.fault_ns, costs.switch_ns), (200.0, 0.0, 7.0));
        for _ in 0..200 {
            costs.add(LoadTimes { call_ns: 460.0, touch_ns: Some(900.0) }, LoadTimes { call_ns: 160.0, touch_ns: Some(500.0) });
        }
        assert!((costs.call_ns - 300.0).abs() < 1.0 && (costs.fault_ns - 400.0).abs() < 1.0, "{costs:?}");
    }

    #[test]
    fn a_load_that_could_not_be_measured_changes_nothing() {
        let mut costs = EventCosts::new(Calibration::default());
        costs.add(LoadTimes { call_ns: 100.0, touch_ns: None }, LoadTimes { call_ns: 100.0, touch_ns: Some(5.0) });
        assert_eq!((costs.call_ns, costs.fault_ns), (0.0, 0.0));
    }
}
