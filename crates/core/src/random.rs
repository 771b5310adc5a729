//! Seeded random streams, one for each user and purpose: user 7 thinks and chooses the same among 10 users or 10,000.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

mod ziggurat;

/// The use of a stream of random numbers. Each user has an independent stream for each purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPurpose {
    /// Think times.
    Think = 1,
    /// Choices among alternatives and random words.
    Choice = 2,
    /// The share of the first think time with which a user begins, and arrivals of an open load.
    Start = 3,
    /// A user's work on a simulated machine.
    Work = 4,
    /// Choices of a simulated machine: service times of its stores, and pages to take.
    Machine = 5,
    /// Page faults of a user's command on a simulated machine.
    Misses = 6,
    /// When the periods of a user's quota begin on a simulated machine.
    Period = 7,
}

/// A stream of random numbers. The same seed, user and purpose give the same numbers on every host.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

/// Another seed, derived from `seed` and `number`. It is unrelated to `seed` and to the seeds of other numbers.
pub fn derive_seed(seed: u64, number: u64) -> u64 {
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

    /// A number drawn from the exponential law with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }

    /// A number drawn from the exponential law with mean 1, four times as fast as by [`RandomStream::exponential`].
    ///
    /// It uses another method, so it gives other numbers than that function.
    #[inline]
    pub fn quick_exponential(&mut self) -> f64 {
        ziggurat::exponential(&mut self.0)
    }

    /// A new stream, seeded with the next number of this one. Draws from the new stream do not change this one.
    pub fn branch(&mut self) -> RandomStream {
        RandomStream(Xoshiro256PlusPlus::seed_from_u64(self.0.next_u64()))
    }

    /// A number drawn from the normal law with mean 0 and variance 1 (Box and Muller, the first of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}
