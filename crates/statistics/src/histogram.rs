//! A histogram of nanoseconds whose buckets are at most 0.4 % wide: a list of buckets while values are few, then counts.

use std::borrow::Cow;

/// Buckets for each doubling of the value, as a power of two: 256.
const FINENESS: u32 = 8;
/// So many values are listed before they are counted.
const FEW: usize = 1024;

/// Whole numbers by log-linear buckets; values under 512 are exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(Values);

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// The bucket of each, in the order of coming.
    Listed(Vec<u16>),
    /// Counts by bucket.
    Counted(Counts),
}

/// Counts of the buckets from `first` on, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    first: usize,
    counts: Vec<u32>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram(Values::Listed(Vec::new()))
    }
}

impl Histogram {
    /// One more `value`.
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        match &mut self.0 {
            Values::Counted(counts) => counts.add(bucket),
            Values::Listed(listed) => {
                listed.push(bucket as u16);
                if listed.len() > FEW {
                    self.0 = Values::Counted(counted(listed));
                }
            }
        }
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        match &self.0 {
            Values::Listed(listed) => listed.len() as u64,
            Values::Counted(counts) => counts.total,
        }
    }

    /// Takes in all that `other` holds.
    pub fn merge(&mut self, other: &Histogram) {
        match (&mut self.0, &other.0) {
            (Values::Listed(own), Values::Listed(others)) if own.len() + others.len() <= FEW => own.extend_from_slice(others),
            (Values::Counted(own), Values::Counted(others)) => own.merge(others),
            (Values::Counted(own), Values::Listed(others)) => others.iter().for_each(|bucket| own.add(usize::from(*bucket))),
            (Values::Listed(own), _) => {
                let mut counts = other.counts().into_owned();
                own.iter().for_each(|bucket| counts.add(usize::from(*bucket)));
                self.0 = Values::Counted(counts);
            }
        }
    }

    /// The value that a share `p` (0 to 1) of the values do not exceed, evenly spread within its bucket; `None` when there are none.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let counts = self.counts();
        let wanted = p * counts.total as f64;
        let mut below = 0.0;
        for (low, width, count) in counts.buckets() {
            let after = below + f64::from(count);
            if after >= wanted {
                return Some(low + width * (wanted - below) / f64::from(count));
            }
            below = after;
        }
        None
    }

    /// The buckets that hold something, in order: (least value, width, count).
    pub fn buckets(&self) -> Vec<(f64, f64, u32)> {
        self.counts().buckets().collect()
    }

    fn counts(&self) -> Cow<'_, Counts> {
        match &self.0 {
            Values::Listed(listed) => Cow::Owned(counted(listed)),
            Values::Counted(counts) => Cow::Borrowed(counts),
        }
    }
}

impl Counts {
    fn add(&mut self, bucket: usize) {
        if bucket < self.first || bucket - self.first >= self.counts.len() {
            self.make_room(bucket, bucket);
        }
        let count = &mut self.counts[bucket - self.first];
        *count = count.saturating_add(1);
        self.total += 1;
    }

    fn merge(&mut self, other: &Counts) {
        if other.total == 0 {
            return;
        }
        self.make_room(other.first, other.first + other.counts.len() - 1);
        let at = other.first - self.first;
        for (count, more) in self.counts[at..].iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total += other.total;
    }

    fn buckets(&self) -> impl Iterator<Item = (f64, f64, u32)> + '_ {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(offset, &count)| {
            let (low, width) = bounds(self.first + offset);
            (low, width, count)
        })
    }

    /// Room for the buckets from `low` to `high`, and for some around, so that a new extreme seldom moves everything.
    fn make_room(&mut self, low: usize, high: usize) {
        if self.counts.is_empty() {
            self.first = low;
        }
        if low < self.first {
            let more = (self.first - low).next_multiple_of(1 << FINENESS).min(self.first);
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first -= more;
        }
        if high - self.first >= self.counts.len() {
            self.counts.resize((high - self.first + 1).next_multiple_of(1 << FINENESS), 0);
        }
    }
}

fn counted(listed: &[u16]) -> Counts {
    let mut counts = Counts::default();
    if let (Some(low), Some(high)) = (listed.iter().min(), listed.iter().max()) {
        counts.make_room(usize::from(*low), usize::from(*high));
    }
    listed.iter().for_each(|bucket| counts.add(usize::from(*bucket)));
    counts
}

/// The number of the bucket that `value` falls in.
fn bucket(value: u64) -> usize {
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(FINENESS);
    ((octave as usize) << FINENESS) + (value >> octave) as usize
}

/// The least value of a bucket, and its width.
fn bounds(bucket: usize) -> (f64, f64) {
    let octave = (bucket >> FINENESS).saturating_sub(1);
    let width = libm::ldexp(1.0, octave as i32);
    ((bucket - (octave << FINENESS)) as f64 * width, width)
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
            let told = histogram.quantile(p).unwrap();
            assert!((told / exact - 1.0).abs() < 0.005, "p {p}: {told} for {exact}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn few_values_and_many_are_merged_alike_in_any_order() {
        let of = |count: u64| {
            let mut histogram = Histogram::default();
            (0..count).for_each(|value| histogram.add(value * 12_345));
            histogram
        };
        for (left, right) in [(10, 20), (700, 700), (10, 5_000), (5_000, 10), (5_000, 5_000), (0, 5_000), (5_000, 0)] {
            let (mut one, mut other) = (of(left), of(right));
            one.merge(&of(right));
            other.merge(&of(left));
            assert_eq!((one.total(), one.buckets()), (left + right, other.buckets()), "{left} and {right}");
            assert_eq!(one.quantile(0.9), other.quantile(0.9));
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
