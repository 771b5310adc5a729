//! Estimates with their confidence intervals, from batches of one stream or of several independent streams.
//!
//! Batches of a busy system follow each other, and their values have a long tail above. A run that saw few long queues has
//! a mean that is too low and, at once, a variance that is too small. A rule that waits for a narrow interval stops there.
//!
//! So the interval of such a run has the variance times (1 + c) / (1 - c), if the batches' first correlation c is positive.
//! That is the factor of an autoregressive series. Student's quantiles are adjusted for the batches' skewness (Willink 2005),
//! and the longer arm counts. Skart adjusts both so (Tafazzoli and Wilson 2011).

/// Largest correlation of neighbouring batches that the variance is corrected for: it multiplies the variance by 9.
const MOST_CORRELATION_SHARE: f64 = 0.8;
/// Skewness of an estimate, over 6, below which Student's quantiles stay as they are: it would change them by as little.
const LEAST_SKEWNESS: f64 = 1e-6;

/// The confidence of the intervals that loadgo reports.
pub const INTERVAL_CONFIDENCE: f64 = 0.95;

/// An estimate with the interval around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The estimate.
    pub value: f64,
    /// Half the width of the interval.
    pub half_width: f64,
}

impl ConfidenceInterval {
    /// The half-width as a part of the value; infinite if the value is 0 and the half-width is not.
    pub fn relative(&self) -> f64 {
        if self.half_width == 0.0 { 0.0 } else { self.half_width / self.value.abs() }
    }

    /// Whether the interval holds `true_value`.
    pub fn holds(&self, true_value: f64) -> bool {
        (true_value - self.value).abs() <= self.half_width
    }
}

/// An estimate of a figure, with the estimate's variance and third central moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The estimate.
    pub value: f64,
    /// The variance of the estimate, from batches that are taken as independent.
    pub variance: f64,
    /// The variance of the estimate, from batches of which each depends on the one before.
    pub correlated_variance: f64,
    /// The third central moment that an estimate of this skewness has with `correlated_variance`.
    pub third: f64,
}

impl Moments {
    /// The mean of the batches' values.
    pub(crate) fn of_mean(values: &[f64]) -> Moments {
        let value = values.iter().sum::<f64>() / values.len() as f64;
        Moments::around(value, values.iter().map(|v| v - value))
    }

    /// The ratio of two sums over batches: a response time is (sum of responses) / (interactions).
    pub(crate) fn of_ratio(numerators: &[f64], denominators: &[f64]) -> Moments {
        let total = denominators.iter().sum::<f64>();
        let ratio = numerators.iter().sum::<f64>() / total;
        let mean = total / denominators.len() as f64;
        Moments::around(ratio, numerators.iter().zip(denominators).map(|(above, below)| (above - ratio * below) / mean))
    }

    /// The estimate `value`, with the batches' deviations from it.
    pub fn around(value: f64, deviations: impl ExactSizeIterator<Item = f64>) -> Moments {
        let count = deviations.len() as f64;
        let [squares, cubes, products] = sums_of_powers(deviations);
        if squares == 0.0 {
            return Moments { value, variance: 0.0, correlated_variance: 0.0, third: 0.0 };
        }
        let variance = squares / (count - 1.0) / count;
        let correlated_variance = variance * variance_ratio(products / squares);
        let skewness = cubes / count / libm::pow(squares / count, 1.5) / libm::sqrt(count);
        Moments { value, variance, correlated_variance, third: skewness * libm::pow(correlated_variance, 1.5) }
    }

    /// The mean of independent streams of about the same length.
    pub(crate) fn combined(streams: &[Moments]) -> Moments {
        let count = streams.len() as f64;
        let sum = |part: fn(&Moments) -> f64| streams.iter().map(part).sum::<f64>();
        Moments {
            value: sum(|moments| moments.value) / count,
            variance: sum(|moments| moments.variance) / (count * count),
            correlated_variance: sum(|moments| moments.correlated_variance) / (count * count),
            third: sum(|moments| moments.third) / (count * count * count),
        }
    }

    /// The interval that reaches `half_width_errors` standard errors to each side.
    pub fn interval(&self, half_width_errors: f64) -> ConfidenceInterval {
        ConfidenceInterval { value: self.value, half_width: half_width_errors * libm::sqrt(self.variance) }
    }

    /// The interval of a run that ends when its interval is narrow enough: corrected for correlation and skewness.
    pub fn stopped_interval(&self, half_width_errors: f64) -> ConfidenceInterval {
        let variance = self.correlated_variance;
        let skewness = if variance > 0.0 { self.third / libm::pow(variance, 1.5) / 6.0 } else { 0.0 };
        let [low, high] = [-half_width_errors, half_width_errors].map(|errors| adjusted(errors, skewness).abs());
        ConfidenceInterval { value: self.value, half_width: low.max(high) * libm::sqrt(variance) }
    }
}

/// The variance of an autoregressive series' mean with this first correlation, over that of independent values.
fn variance_ratio(correlation: f64) -> f64 {
    let positive = correlation.clamp(0.0, MOST_CORRELATION_SHARE);
    (1.0 + positive) / (1.0 - positive)
}

/// The sums of the deviations' squares, of their cubes, and of the products of neighbours.
fn sums_of_powers(deviations: impl Iterator<Item = f64>) -> [f64; 3] {
    let (mut sums, mut before) = ([0.0; 3], 0.0);
    for deviation in deviations {
        let square = deviation * deviation;
        sums = [sums[0] + square, sums[1] + square * deviation, sums[2] + before * deviation];
        before = deviation;
    }
    sums
}

/// A quantile of Student's law for an estimate whose skewness is six times `skewness`.
fn adjusted(errors: f64, skewness: f64) -> f64 {
    if skewness.abs() < LEAST_SKEWNESS {
        return errors;
    }
    (libm::cbrt(1.0 + 6.0 * skewness * (errors - skewness)) - 1.0) / (2.0 * skewness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_means_variance_is_that_of_its_batches_over_their_number() {
        let mean = Moments::of_mean(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(mean.value, 3.0);
        assert!((mean.variance - 14.0 / 3.0 / 4.0).abs() < 1e-12, "{mean:?}");
        let interval = mean.interval(2.0);
        assert!((interval.half_width - 2.0 * libm::sqrt(mean.variance)).abs() < 1e-12);
    }

    #[test]
    fn symmetric_batches_without_correlation_need_no_correction() {
        // The products of neighbours add up to less than 0.
        let mean = Moments::of_mean(&[1.0, 5.0, 2.0, 4.0]);
        assert_eq!((mean.third, mean.stopped_interval(2.0)), (0.0, mean.interval(2.0)));
    }

    #[test]
    fn batches_that_follow_each_other_have_the_variance_of_an_autoregressive_series() {
        // Deviations -1, -1, 1, 1: the first correlation is (1 - 1 + 1) / 4, and 1.25 / 0.75 the factor.
        let (following, alternating) = (Moments::of_mean(&[1.0, 1.0, 3.0, 3.0]), Moments::of_mean(&[1.0, 3.0, 1.0, 3.0]));
        assert!((following.correlated_variance - following.variance * 1.25 / 0.75).abs() < 1e-12);
        assert_eq!(alternating.correlated_variance, alternating.variance, "a negative correlation narrows no interval");
        assert_eq!(following.variance, alternating.variance);
    }

    #[test]
    fn a_long_tail_on_either_side_widens_the_interval_as_much() {
        let above = Moments::of_mean(&[0.0, 9.0, 0.0, 0.0, 1.0, 0.0]);
        let below = Moments::of_mean(&[0.0, -9.0, 0.0, 0.0, -1.0, 0.0]);
        let [wide, also] = [above, below].map(|moments| moments.stopped_interval(2.0).half_width);
        assert!(wide > 2.05 * libm::sqrt(above.variance), "{wide} for {above:?}");
        assert!((wide - also).abs() < 1e-12 && above.third == -below.third);
    }

    #[test]
    fn a_skewness_that_vanishes_adjusts_nothing() {
        let nearly = Moments { value: 0.0, variance: 1.0, correlated_variance: 1.0, third: 6.1 * LEAST_SKEWNESS };
        assert!((nearly.stopped_interval(2.0).half_width - 2.0).abs() < 1e-5);
    }

    #[test]
    fn a_ratio_whose_batches_agree_has_no_variance_and_one_with_equal_weights_is_a_mean() {
        assert_eq!(
            Moments::of_ratio(&[2.0, 4.0, 8.0], &[1.0, 2.0, 4.0]),
            Moments { value: 2.0, variance: 0.0, correlated_variance: 0.0, third: 0.0 }
        );
        let values = [1.0, 2.0, 3.0, 6.0];
        let (ratio, mean) = (Moments::of_ratio(&values, &[1.0; 4]), Moments::of_mean(&values));
        assert!((ratio.variance - mean.variance).abs() < 1e-12 && ratio.value == mean.value);
    }

    #[test]
    fn streams_are_combined_with_equal_weights() {
        let stream = |value, variance, third| Moments { value, variance, correlated_variance: 2.0 * variance, third };
        let (a, b) = (stream(1.0, 4.0, 2.0), stream(3.0, 8.0, 6.0));
        assert_eq!(Moments::combined(&[a, b]), stream(2.0, 3.0, 1.0));
    }
}
