//! A number that rises and falls by one, and its integral over time, kept without a multiplication.
//!
//! Each rise at t takes t away, each fall adds its t: the sum is then the integral but for those that are still up, who have each been
//! up until now.

use super::LevelMeter;

/// How many are up, and for how long they have been, all together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    up: u64,
    /// Falls less rises, in wrapping arithmetic.
    sum: u128,
}

impl Level {
    /// One more.
    #[inline]
    pub fn rise(&mut self, now: u64) {
        self.up += 1;
        self.sum = self.sum.wrapping_sub(u128::from(now));
    }

    /// One fewer.
    #[inline]
    pub(crate) fn fall(&mut self, now: u64) {
        debug_assert!(self.up > 0, "a level falls below nothing");
        self.up -= 1;
        self.sum = self.sum.wrapping_add(u128::from(now));
    }

    /// How many are up.
    #[inline]
    pub fn now(&self) -> u64 {
        self.up
    }

    /// The number and its integral at `now`.
    pub fn at(&self, now: u64) -> LevelMeter {
        let up = u128::from(self.up) * u128::from(now);
        LevelMeter { now: self.up, integral_ns: self.sum.wrapping_add(up) }
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn the_integral_is_the_area_under_the_number() {
        let mut level = Level::default();
        level.rise(10);
        level.rise(20);
        level.fall(50);
        assert_eq!((level.at(60).now, level.at(60).integral_ns), (1, 10 + 2 * 30 + 10));
    }
}
