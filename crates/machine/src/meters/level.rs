//! A count that rises and falls by one, with its integral over time, which takes no multiplication.
//!
//! Each rise at t subtracts t from a sum, and each fall adds its t. The sum is then the integral, but for processes that are
//! still counted. Each of these has been counted until now.

use super::LevelMeter;

/// A count of processes, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimedCount {
    count: u64,
    /// Sum of the times of falls less those of rises, in wrapping arithmetic.
    sum: u128,
}

impl TimedCount {
    /// Adds one to the count.
    #[inline]
    pub fn rise(&mut self, now: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_sub(u128::from(now));
    }

    /// Subtracts one from the count.
    #[inline]
    pub(crate) fn fall(&mut self, now: u64) {
        debug_assert!(self.count > 0, "a count falls below 0");
        self.count -= 1;
        self.sum = self.sum.wrapping_add(u128::from(now));
    }

    /// The present count.
    #[inline]
    pub fn now(&self) -> u64 {
        self.count
    }

    /// The count and its integral at `now`.
    pub fn at(&self, now: u64) -> LevelMeter {
        let up = u128::from(self.count) * u128::from(now);
        LevelMeter { now: self.count, integral_ns: self.sum.wrapping_add(up) }
    }
}

#[cfg(test)]
mod tests {
    use super::TimedCount;

    #[test]
    fn the_integral_is_the_area_under_the_number() {
        let mut level = TimedCount::default();
        level.rise(10);
        level.rise(20);
        level.fall(50);
        assert_eq!((level.at(60).now, level.at(60).integral_ns), (1, 10 + 2 * 30 + 10));
    }
}
