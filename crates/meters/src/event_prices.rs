//! Prices of events: what the meters add to one, and how much of it they clock. `calibration` measures them.

use std::fmt;

/// Processor time of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventPrice {
    /// Time without the meters.
    pub bare_ns: f64,
    /// Time with the meters.
    pub metered_ns: f64,
    /// Time that the meters clock.
    pub clocked_ns: f64,
}

impl EventPrice {
    /// Cost of the meters.
    pub fn meter_cost_ns(&self) -> f64 {
        (self.metered_ns - self.bare_ns).max(0.0)
    }

    /// Correction of a clocked event, to the time without the meters. May be negative.
    pub fn clock_correction_ns(&self) -> f64 {
        self.bare_ns - self.clocked_ns
    }

    /// Time of an event that is clocked in another category, nearly always in `user`.
    pub fn misattributed_ns(&self) -> f64 {
        (self.metered_ns - self.clocked_ns).max(0.0)
    }
}

/// Costs of the meters on this host. None if not metered in this tier, or if no measurement was undisturbed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Cost of a primitive: a null system call.
    pub primitive: Option<EventPrice>,
    /// Cost of a page fault: the first reading of a page.
    pub fault: Option<EventPrice>,
    /// Cost of the meters at a switch between tasks, with the wakeup before it.
    pub switch_ns: Option<f64>,
}

impl fmt::Display for Calibration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let price = |price: &EventPrice| {
            let EventPrice { bare_ns, clocked_ns, .. } = price;
            format!("{bare_ns:.0} ns, of which {clocked_ns:.0} clocked; the meters add {:.0} ns", price.meter_cost_ns())
        };
        let sentences = [
            self.primitive.as_ref().map(|cost| format!("a null primitive takes {}", price(cost))),
            self.fault.as_ref().map(|cost| format!("the shortest page fault takes {}", price(cost))),
            self.switch_ns.map(|ns| format!("the meters add {ns:.0} ns to a switch")),
        ];
        out.write_str(&sentences.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_costs_its_clocked_and_its_misattributed_time() {
        let price = EventPrice { bare_ns: 120.0, metered_ns: 320.0, clocked_ns: 150.0 };
        assert_eq!((price.meter_cost_ns(), price.clock_correction_ns(), price.misattributed_ns()), (200.0, -30.0, 170.0));
        assert_eq!(price.misattributed_ns() + price.clocked_ns, price.bare_ns + price.meter_cost_ns());
    }
}
