//! The recent load of the processors: the share of them that was busy, as a mean that forgets exponentially.
//!
//! The demand of a command may depend on it (`cpu_when_busy`). It is brought up to date only when a command begins, so that a
//! machine without such a demand has no work with it. The weight of a nanosecond falls by e in [`MEMORY_NS`].

use super::processor::Processor;
use crate::meters::Category;

/// Time in which a load loses all but 1/e of its weight. Of 0.5, 1, 3, 10 and 30 s, it tells most of processor times on a host
/// (docs/fit.md).
const MEMORY_NS: f64 = 3e9;
/// The exponential is the power 2^10 of one near 1, of sums and products only, so that it is the same bits everywhere.
const DECAY_SQUARINGS: u32 = 10;

/// The recent load.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadMeter {
    /// When the load was brought up to date.
    at: u64,
    /// Idle time of all processors up to then.
    idle_ns: u128,
    /// The load, 0 to 1.
    share: f64,
}

impl LoadMeter {
    /// Brings the load up to `now`, and returns it.
    pub fn update(&mut self, processors: &[Processor], now: u64) -> f64 {
        let span_ns = now - self.at;
        if span_ns > 0 {
            let idle_ns = processors.iter().map(|processor| idle_time(processor, now)).sum();
            let whole_ns = span_ns as f64 * processors.len() as f64;
            let busy_share = (1.0 - (idle_ns - self.idle_ns) as f64 / whole_ns).clamp(0.0, 1.0);
            self.share = busy_share + (self.share - busy_share) * decay(span_ns as f64 / MEMORY_NS);
            (self.at, self.idle_ns) = (now, idle_ns);
        }
        self.share
    }
}

/// The part of a command's demand on idle processors that it has under this `load`, if it has `when_busy` under a full load.
pub(super) fn demand_share(when_busy: f64, load: f64) -> f64 {
    1.0 - load + load * when_busy
}

/// Idle time of a processor up to `now`.
fn idle_time(processor: &Processor, now: u64) -> u128 {
    let closed_ns: u64 = processor.time_ns[Category::IdleZero as usize..].iter().sum();
    let open_ns = if processor.category.is_idle() { now - processor.since } else { 0 };
    u128::from(closed_ns) + u128::from(open_ns)
}

/// The exponential of -`span`, within a millionth.
fn decay(span: f64) -> f64 {
    let part = span / f64::from(1 << DECAY_SQUARINGS);
    (0..DECAY_SQUARINGS).fold(1.0 / (1.0 + part + part * part / 2.0), |value, _| value * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decay_is_the_exponential() {
        for span in [0.0, 1e-9, 0.01, 0.5, 1.0, 3.0, 10.0, 1e6] {
            assert!((decay(span) - (-span).exp()).abs() < 1e-6, "{span}: {} is not {}", decay(span), (-span).exp());
        }
    }

    #[test]
    fn a_load_is_forgotten_with_time() {
        let mut processors = vec![Processor::new(), Processor::new()];
        processors[0].category = Category::User;
        let mut meter = LoadMeter::default();
        assert_eq!(meter.update(&processors, 0), 0.0);
        let after_long = meter.update(&processors, 60_000_000_000);
        assert!((after_long - 0.5).abs() < 1e-6, "one of two processors was busy all the time: {after_long}");
        processors[0].close(60_000_000_000);
        processors[0].category = Category::IdleDiskWait;
        let later = meter.update(&processors, 63_000_000_000);
        assert!((later - 0.5 * (-1f64).exp()).abs() < 1e-6, "after three seconds of idling: {later}");
    }

    #[test]
    fn how_often_a_load_is_read_does_not_matter() {
        let mut processors = vec![Processor::new()];
        processors[0].category = Category::User;
        let (mut seldom, mut often) = (LoadMeter::default(), LoadMeter::default());
        for at in (1..=500).map(|step| step * 4_000_000) {
            often.update(&processors, at);
        }
        let (seldom, often) = (seldom.update(&processors, 2_000_000_000), often.update(&processors, 2_000_000_000));
        assert!((seldom - often).abs() < 1e-6, "{seldom} is not {often}");
    }

    #[test]
    fn a_demand_changes_in_proportion_to_the_load() {
        assert_eq!([0.0, 0.5, 1.0].map(|load| demand_share(0.8, load)), [1.0, 0.9, 0.8]);
    }
}
