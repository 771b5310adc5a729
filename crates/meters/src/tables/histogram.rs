//! Histograms of durations, as `bpf/meters/histogram.h` keeps them: each power of 2 of nanoseconds in four equal steps.
//!
//! A bound is off by at most a quarter of its power. Counts are of 32 bits and go round: a span's are differences.

/// How many buckets a histogram has.
pub const BUCKETS: usize = 128;

const LEAST_POWER: usize = 6;

/// The shortest duration of a bucket, in nanoseconds: the first holds all under 80 ns, the last all from four minutes on.
pub(crate) fn bound_ns(bucket: usize) -> u64 {
    assert!(bucket < BUCKETS, "a histogram has {BUCKETS} buckets");
    if bucket == 0 { 0 } else { (4 + bucket as u64 % 4) << (bucket / 4 + LEAST_POWER - 2) }
}

/// The buckets that grew between two readings of a histogram: their bound and by how much.
pub fn grown<'a>(now: &'a [u32], before: &'a [u32]) -> impl Iterator<Item = (u64, u64)> + 'a {
    let counts = now.iter().zip(before).map(|(now, before)| now.wrapping_sub(*before));
    counts.enumerate().filter(|(_, count)| *count > 0).map(|(bucket, count)| (bound_ns(bucket), u64::from(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `bucket_of` of the kernel's half, in Rust.
    fn bucket_of(ns: u64) -> usize {
        let power = (ns.max(64).ilog2() as usize).min(37);
        if ns >= 1 << 38 { BUCKETS - 1 } else { (power - 6) * 4 + (ns.max(64) as usize >> (power - 2) & 3) }
    }

    #[test]
    fn a_bound_is_the_shortest_duration_of_its_bucket() {
        for bucket in 1..BUCKETS {
            assert_eq!(bucket_of(bound_ns(bucket)), bucket);
            assert_eq!(bucket_of(bound_ns(bucket) - 1), bucket - 1);
        }
    }

    #[test]
    fn a_histogram_that_went_round_has_grown_by_the_difference() {
        assert_eq!(grown(&[5, 1, 0], &[u32::MAX, 1, 0]).collect::<Vec<_>>(), [(0, 6)]);
    }
}
