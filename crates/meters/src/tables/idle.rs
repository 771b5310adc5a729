//! Divides present idle time by cause, as `bpf/meters/idle.h` divides it when it ends.

use crate::programs::layout::{IDLE_CAUSES, WHOLE_SHIFT, category, processor, waiting};

/// Integrals of the waits that make processors idle, by cause.
pub(crate) struct WaitIntegrals([u64; waiting::WORDS]);

impl WaitIntegrals {
    pub fn new(words: [u64; waiting::WORDS]) -> WaitIntegrals {
        WaitIntegrals(words)
    }

    fn weight(&self, cause: usize) -> u64 {
        let half = waiting::WEIGHTS_HALF + cause;
        self.0[half / 2] >> (32 * (half % 2)) & 0xffff_ffff
    }

    fn integral_at(&self, cause: usize, now: u64) -> u64 {
        let span = now.saturating_sub(self.0[waiting::SINCE]);
        self.0[waiting::INTEGRAL + cause].wrapping_add(span.wrapping_mul(self.weight(cause)))
    }

    /// Divides a processor's idle time up to `now` by cause, and adds it to `times`.
    pub(crate) fn divide(&self, state: &[u64; processor::WORDS], now: u64, times: &mut [u64]) {
        let mut remaining = now.saturating_sub(state[processor::LAST]);
        for cause in IDLE_CAUSES {
            let grown = self.integral_at(cause, now).wrapping_sub(state[processor::IDLE_INTEGRAL + cause]) as i64;
            let part = ((grown >> WHOLE_SHIFT).max(0) as u64).min(remaining);
            times[category::IDLE_ZERO + cause] += part;
            remaining -= part;
        }
        times[category::IDLE_ZERO] += remaining;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::layout::CATEGORY_NAMES;

    const DISK_WAIT: usize = 5;

    fn waiting(since: u64, integral: u64, weight: u64) -> WaitIntegrals {
        let mut words = [0; waiting::WORDS];
        words[waiting::SINCE] = since;
        words[waiting::INTEGRAL + DISK_WAIT] = integral;
        let half = waiting::WEIGHTS_HALF + DISK_WAIT;
        words[half / 2] = weight << (32 * (half % 2));
        WaitIntegrals::new(words)
    }

    fn idle_since(last: u64) -> [u64; processor::WORDS] {
        let mut state = [0; processor::WORDS];
        state[processor::LAST] = last;
        state
    }

    #[test]
    fn a_cause_has_its_weight_of_the_time_since_the_integral() {
        let mut times = [0; CATEGORY_NAMES.len()];
        waiting(1000, 0, 1 << (WHOLE_SHIFT - 1)).divide(&idle_since(500), 2000, &mut times);
        assert_eq!((times[category::IDLE_ZERO + DISK_WAIT], times[category::IDLE_ZERO]), (500, 1000));
    }

    #[test]
    fn idle_adds_up_though_the_integral_is_ahead_of_the_reading() {
        let mut times = [0; CATEGORY_NAMES.len()];
        waiting(3000, 5000 << WHOLE_SHIFT, 1 << WHOLE_SHIFT).divide(&idle_since(500), 2000, &mut times);
        assert_eq!(times.iter().sum::<u64>(), 1500);
    }
}
