//! Histograms of durations, as in `bpf/meters/histogram.h`: each power of 2 of nanoseconds has four equal buckets.
//!
//! A bucket's width is a quarter of its power. Counts have 32 bits and wrap; a span's counts are differences.

/// Number of buckets of a histogram.
pub const HISTOGRAM_BUCKETS: usize = 128;

/// Exponent of the shortest distinguished duration, 2^6 ns.
const LOWEST_POWER: usize = 6;

/// The shortest duration of a bucket in nanoseconds. The first bucket holds durations under 80 ns, the last those from four minutes on.
pub(crate) fn bound_ns(bucket: usize) -> u64 {
    assert!(bucket < HISTOGRAM_BUCKETS, "a histogram has {HISTOGRAM_BUCKETS} buckets");
    if bucket == 0 { 0 } else { (4 + bucket as u64 % 4) << (bucket / 4 + LOWEST_POWER - 2) }
}

/// Adds a processor's buckets, two in each word.
pub(crate) fn add_buckets(buckets: &mut [u32; HISTOGRAM_BUCKETS], words: impl Iterator<Item = u64>) {
    for (pair, word) in buckets.chunks_exact_mut(2).zip(words) {
        pair[0] = pair[0].wrapping_add(word as u32);
        pair[1] = pair[1].wrapping_add((word >> 32) as u32);
    }
}

/// Bounds in nanoseconds of the buckets that grew between two readings, with their increases.
pub fn increases<'a>(now: &'a [u32], before: &'a [u32]) -> impl Iterator<Item = (u64, u64)> + 'a {
    let counts = now.iter().zip(before).map(|(now, before)| now.wrapping_sub(*before));
    counts.enumerate().filter(|(_, count)| *count > 0).map(|(bucket, count)| (bound_ns(bucket), u64::from(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `bucket_of` of the kernel programs, in Rust.
    fn bucket_of(ns: u64) -> usize {
        let power = (ns.max(64).ilog2() as usize).min(37);
        if ns >= 1 << 38 { HISTOGRAM_BUCKETS - 1 } else { (power - 6) * 4 + (ns.max(64) as usize >> (power - 2) & 3) }
    }

    #[test]
    fn a_bound_is_the_shortest_duration_of_its_bucket() {
        for bucket in 1..HISTOGRAM_BUCKETS {
            assert_eq!(bucket_of(bound_ns(bucket)), bucket);
            assert_eq!(bucket_of(bound_ns(bucket) - 1), bucket - 1);
        }
    }

    #[test]
    fn a_wrapped_count_has_grown_by_the_difference() {
        assert_eq!(increases(&[5, 1, 0], &[u32::MAX, 1, 0]).collect::<Vec<_>>(), [(0, 6)]);
    }
}
