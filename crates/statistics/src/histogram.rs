//! A histogram of nanoseconds whose buckets are at most 0.4 % wide.

use std::borrow::Cow;

/// Buckets for each doubling of the value, as a power of two: 256, which makes buckets of 0.4 %.
const BUCKETS_POWER: u32 = 8;
/// Largest number of values that a histogram lists. A list of 2 KB is smaller than the counts of most histograms.
const MOST_LISTED_VALUES: usize = 1024;

/// Whole numbers in log-linear buckets. Values under 512 have a bucket of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(HistogramValues);

#[derive(Clone, Debug, PartialEq)]
enum HistogramValues {
    /// The bucket of each value, while there are few values.
    Listed(Vec<u16>),
    /// Counts by bucket.
    Counted(BucketCounts),
}

/// Counts of the buckets from number `first` on, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
struct BucketCounts {
    first: usize,
    counts: Vec<u32>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram(HistogramValues::Listed(Vec::new()))
    }
}

impl Histogram {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        match &mut self.0 {
            HistogramValues::Counted(counts) => counts.add(bucket),
            HistogramValues::Listed(listed) => {
                listed.push(bucket as u16);
                if listed.len() > MOST_LISTED_VALUES {
                    self.0 = HistogramValues::Counted(count_buckets(listed));
                }
            }
        }
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        match &self.0 {
            HistogramValues::Listed(listed) => listed.len() as u64,
            HistogramValues::Counted(counts) => counts.total,
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        match (&mut self.0, &other.0) {
            (HistogramValues::Listed(own), HistogramValues::Listed(others)) if own.len() + others.len() <= MOST_LISTED_VALUES => {
                own.extend_from_slice(others)
            }
            (HistogramValues::Counted(own), HistogramValues::Counted(others)) => own.merge(others),
            (HistogramValues::Counted(own), HistogramValues::Listed(others)) => {
                others.iter().for_each(|bucket| own.add(usize::from(*bucket)))
            }
            (HistogramValues::Listed(own), _) => {
                let mut counts = other.counts().into_owned();
                own.iter().for_each(|bucket| counts.add(usize::from(*bucket)));
                self.0 = HistogramValues::Counted(counts);
            }
        }
    }

    /// The value that a share `p` (0 to 1) of the values do not exceed; `None` if the histogram is empty.
    ///
    /// The values of a bucket count as evenly spread over it.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let counts = self.counts();
        let rank = p * counts.total as f64;
        let mut below = 0.0;
        for (low, width, count) in counts.buckets() {
            let after = below + f64::from(count);
            if after >= rank {
                return Some(low + width * (rank - below) / f64::from(count));
            }
            below = after;
        }
        None
    }

    /// The buckets that are not empty, in order: (least value, width, count).
    pub fn buckets(&self) -> Vec<(f64, f64, u32)> {
        self.counts().buckets().collect()
    }

    fn counts(&self) -> Cow<'_, BucketCounts> {
        match &self.0 {
            HistogramValues::Listed(listed) => Cow::Owned(count_buckets(listed)),
            HistogramValues::Counted(counts) => Cow::Borrowed(counts),
        }
    }
}

impl BucketCounts {
    fn add(&mut self, bucket: usize) {
        if bucket < self.first || bucket - self.first >= self.counts.len() {
            self.make_room(bucket, bucket);
        }
        let count = &mut self.counts[bucket - self.first];
        *count = count.saturating_add(1);
        self.total += 1;
    }

    fn merge(&mut self, other: &BucketCounts) {
        if other.total == 0 {
            return;
        }
        self.make_room(other.first, other.first + other.counts.len() - 1);
        let offset = other.first - self.first;
        for (count, added) in self.counts[offset..].iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*added);
        }
        self.total += other.total;
    }

    fn buckets(&self) -> impl Iterator<Item = (f64, f64, u32)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(offset, &count)| {
            let (low, width) = bounds(self.first + offset);
            (low, width, count)
        })
    }

    /// Adds counts for the buckets from `low` to `high`, and for some around them, so that a new extreme seldom moves all counts.
    fn make_room(&mut self, low: usize, high: usize) {
        if self.counts.is_empty() {
            self.first = low;
        }
        if low < self.first {
            let added = (self.first - low).next_multiple_of(1 << BUCKETS_POWER).min(self.first);
            self.counts.splice(0..0, std::iter::repeat_n(0, added));
            self.first -= added;
        }
        if high - self.first >= self.counts.len() {
            self.counts.resize((high - self.first + 1).next_multiple_of(1 << BUCKETS_POWER), 0);
        }
    }
}

fn count_buckets(listed: &[u16]) -> BucketCounts {
    let mut counts = BucketCounts::default();
    if let (Some(low), Some(high)) = (listed.iter().min(), listed.iter().max()) {
        counts.make_room(usize::from(*low), usize::from(*high));
    }
    listed.iter().for_each(|bucket| counts.add(usize::from(*bucket)));
    counts
}

/// The number of the bucket of `value`.
fn bucket(value: u64) -> usize {
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(BUCKETS_POWER);
    ((octave as usize) << BUCKETS_POWER) + (value >> octave) as usize
}

/// The least value of a bucket, and the bucket's width.
fn bounds(bucket: usize) -> (f64, f64) {
    let octave = (bucket >> BUCKETS_POWER).saturating_sub(1);
    let width = libm::ldexp(1.0, octave as i32);
    ((bucket - (octave << BUCKETS_POWER)) as f64 * width, width)
}

#[cfg(test)]
mod tests {
    use super::{Histogram, bounds, bucket};

    #[test]
    fn a_value_lies_in_its_bucket_and_no_bucket_is_wider_than_half_a_percent() {
        let mut value = 0u64;
        while value < u64::MAX / 5 {
            let (low, width) = bounds(bucket(value));
            assert!(low <= value as f64 && value as f64 <= low + width, "{value} in {low} + {width}");
            assert!(width <= 1.0 || width / low <= 0.005, "{width} wide at {low}");
            assert!(value == 0 || bucket(value - 1) <= bucket(value));
            value += value / 7 + 1;
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values_to_half_a_percent() {
        let mut histogram = Histogram::default();
        let values: Vec<u64> = (1..=100_000u64).rev().map(|i| i * i).collect();
        values.iter().for_each(|value| histogram.add(*value));
        for p in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let exact = (p * 100_000.0) * (p * 100_000.0);
            let quantile = histogram.quantile(p).unwrap();
            assert!((quantile / exact - 1.0).abs() < 0.005, "p {p}: {quantile} for {exact}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn few_values_and_many_are_merged_alike_in_any_order() {
        let with_values = |count: u64| {
            let mut histogram = Histogram::default();
            (0..count).for_each(|value| histogram.add(value * 12_345));
            histogram
        };
        for (left, right) in [(10, 20), (700, 700), (10, 5_000), (5_000, 10), (5_000, 5_000), (0, 5_000), (5_000, 0)] {
            let (mut left_first, mut right_first) = (with_values(left), with_values(right));
            left_first.merge(&with_values(right));
            right_first.merge(&with_values(left));
            assert_eq!((left_first.total(), left_first.buckets()), (left + right, right_first.buckets()), "{left} and {right}");
            assert_eq!(left_first.quantile(0.9), right_first.quantile(0.9));
        }
    }

    #[test]
    fn merged_histograms_are_the_histogram_of_all_values() {
        let (mut low, mut high, mut both) = (Histogram::default(), Histogram::default(), Histogram::default());
        for value in 0..5_000u64 {
            if value % 3 == 0 { &mut low } else { &mut high }.add(value * 977);
            both.add(value * 977);
        }
        high.add(u64::MAX);
        both.add(u64::MAX);
        low.merge(&high);
        assert_eq!(low.buckets(), both.buckets());
        assert_eq!(low.total(), both.total());
    }
}
