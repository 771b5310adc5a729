//! Arrivals over the day: a rate for each part of the day, and the instants that follow from it.
//!
//! The next arrival of a Poisson stream comes when the integral of its rate has grown by an exponential amount.
//! Source: Çınlar, Introduction to Stochastic Processes, 1975, chapter 4.7.

use crate::time::Span;

const HOUR_NS: f64 = 3.6e12;
const DAY_NS: u64 = 86_400_000_000_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// The rate of arrivals from a time of the day until the next such time, which may be on the next day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayRate {
    /// The time of the day, in minutes since midnight.
    pub minute: u32,
    /// Arrivals an hour.
    pub per_hour: f64,
}

/// The rates of a day, and the time of the day at which a load begins.
#[derive(Clone, Debug, PartialEq)]
pub struct DayOfArrivals {
    /// The rates in the order of their times, one of them over 0.
    pub rates: Vec<DayRate>,
    /// The time of the day at which the load begins, in minutes since midnight.
    pub from_minute: u32,
}

impl DayOfArrivals {
    /// The time of an arrival since the beginning of the load: `amount` arrivals are expected between `before` and it.
    pub fn arrival(&self, before: Span, amount: f64) -> Span {
        let began = u64::from(self.from_minute) * MINUTE_NS;
        let mut now = began.saturating_add(before.0);
        let mut left = amount;
        let a_day = self.expected_a_day();
        if left > a_day {
            let days = (left / a_day).floor();
            left -= days * a_day;
            now = now.saturating_add(DAY_NS.saturating_mul(days as u64));
        }
        while now < u64::MAX - DAY_NS {
            let (per_hour, end) = self.piece(now);
            let expected = per_hour * (end - now) as f64 / HOUR_NS;
            if left < expected {
                return Span(now + (left / per_hour * HOUR_NS).round() as u64 - began);
            }
            left -= expected;
            now = end;
        }
        Span(u64::MAX)
    }

    /// The rate at an instant since midnight, and the next instant at which the rate may change.
    fn piece(&self, now: u64) -> (f64, u64) {
        let midnight = now - now % DAY_NS;
        let begin = |rate: &DayRate| midnight + u64::from(rate.minute) * MINUTE_NS;
        let next = self.rates.partition_point(|rate| begin(rate) <= now);
        let current = next.checked_sub(1).unwrap_or(self.rates.len() - 1);
        (self.rates[current].per_hour, self.rates.get(next).map_or(midnight + DAY_NS, begin))
    }

    fn expected_a_day(&self) -> f64 {
        let (mut sum, mut now) = (0.0, 0);
        while now < DAY_NS {
            let (per_hour, end) = self.piece(now);
            sum += per_hour * (end - now) as f64 / HOUR_NS;
            now = end;
        }
        sum
    }
}
