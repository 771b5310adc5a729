//! A histogram of durations with log-linear buckets. Each power of two has eight equal buckets, so a bound is off by 1/8 at most.

/// Buckets for each doubling of the duration, as a power of two: 8.
const BUCKETS_POWER: u32 = 3;
const BUCKETS: usize = 62 << BUCKETS_POWER;

/// Counts of durations by bucket. An empty histogram has no memory, so meters that count nothing are read at no cost.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Durations(Option<Box<[u64; BUCKETS]>>);

impl std::fmt::Debug for Durations {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_map().entries(self.buckets()).finish()
    }
}

impl Durations {
    /// Adds a duration.
    pub fn add(&mut self, duration_ns: u64) {
        self.0.get_or_insert_with(|| Box::new([0; BUCKETS]))[bucket(duration_ns)] += 1;
    }

    /// The least duration and the count of each bucket that is not empty.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter()
            .flat_map(|counts| counts.iter())
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(bucket, count)| (least(bucket), *count))
    }

    /// The durations that were added since `earlier`.
    pub fn since(&self, earlier: &Durations) -> Durations {
        let mut later = self.clone();
        if let (Some(counts), Some(before)) = (&mut later.0, &earlier.0) {
            counts.iter_mut().zip(before.iter()).for_each(|(count, before)| *count -= before);
        }
        later
    }
}

fn bucket(value: u64) -> usize {
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(BUCKETS_POWER);
    ((octave as usize) << BUCKETS_POWER) + (value >> octave) as usize
}

fn least(bucket: usize) -> u64 {
    let octave = (bucket >> BUCKETS_POWER).saturating_sub(1);
    ((bucket - (octave << BUCKETS_POWER)) as u64) << octave
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Durations, bucket, least};

    #[test]
    fn every_duration_is_in_the_bucket_that_begins_at_or_before_it() {
        let mut value = 0u64;
        while value < u64::MAX / 2 {
            let bucket = bucket(value);
            assert!(least(bucket) <= value && (bucket + 1 == BUCKETS || value < least(bucket + 1)), "{value}");
            value += value / 9 + 1;
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn what_came_since_is_the_difference() {
        let mut durations = Durations::default();
        durations.add(100);
        let earlier = durations.clone();
        durations.add(100);
        durations.add(5_000);
        assert_eq!(durations.since(&earlier).buckets().map(|(_, count)| count).collect::<Vec<_>>(), [1, 1]);
    }
}
