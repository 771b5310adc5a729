//! Seeded streams: one for each user and purpose, so that user 7 thinks and chooses the same among 10 users or 10,000.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

mod ziggurat;

/// What a stream of random numbers is drawn for; streams of different purposes never disturb each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPurpose {
    /// Think times.
    Think = 1,
    /// Choices among alternatives and random words.
    Choice = 2,
    /// The jitter of a user's start, and arrivals of an open load.
    Start = 3,
    /// What a simulated machine draws for a user's work.
    Work = 4,
    /// What a simulated machine draws for itself: the services of its stores, and whose pages go.
    Machine = 5,
    /// When a user's command misses a page on a simulated machine.
    Misses = 6,
}

/// A stream of random numbers; the same (seed, user, purpose) gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

/// A seed that comes from `seed` and `number`, as far from it as any other.
pub fn derived(seed: u64, number: u64) -> u64 {
    SplitMix64::seed_from_u64(seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).next_u64()
}

impl RandomStream {
    /// The stream of `user` for `purpose` under the run's `seed`.
    pub fn new(seed: u64, user: u32, purpose: StreamPurpose) -> RandomStream {
        let mut mix = SplitMix64::seed_from_u64(seed);
        let key = mix.next_u64() ^ (u64::from(user) << 8 | purpose as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// A number drawn evenly from [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index drawn evenly from 0..`count`; `count` must not be 0.
    pub fn index(&mut self, count: usize) -> usize {
        assert!(count > 0, "nothing to choose from");
        ((self.unit() * count as f64) as usize).min(count - 1)
    }

    /// Drawn from the exponential law with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }

    /// Drawn from the exponential law with mean 1, four times as fast as [`RandomStream::exponential`]; other numbers, by another method.
    #[inline]
    pub fn quick_exponential(&mut self) -> f64 {
        ziggurat::exponential(&mut self.0)
    }

    /// A stream of its own that begins with this one's next number: whoever uses up more or less of it disturbs nothing here.
    pub fn branch(&mut self) -> RandomStream {
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(self.0.next_u64()))
    }

    /// Drawn from the normal law with mean 0 and variance 1 (Box and Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}
