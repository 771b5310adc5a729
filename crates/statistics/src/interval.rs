//! Estimates with their confidence intervals, from batches of one stream or of several independent streams.

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

/// An estimate of a figure, with the estimate's variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The estimate.
    pub value: f64,
    /// The variance of the estimate.
    pub variance: f64,
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
        let variance = deviations.map(|deviation| deviation * deviation).sum::<f64>() / (count - 1.0) / count;
        Moments { value, variance }
    }

    /// The mean of independent streams of about the same length.
    pub(crate) fn combined(streams: &[Moments]) -> Moments {
        let count = streams.len() as f64;
        Moments {
            value: streams.iter().map(|moments| moments.value).sum::<f64>() / count,
            variance: streams.iter().map(|moments| moments.variance).sum::<f64>() / (count * count),
        }
    }

    /// The interval that reaches `half_width_errors` standard errors to each side.
    pub fn interval(&self, half_width_errors: f64) -> ConfidenceInterval {
        ConfidenceInterval { value: self.value, half_width: half_width_errors * libm::sqrt(self.variance) }
    }
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
    fn a_ratio_whose_batches_agree_has_no_variance_and_one_with_equal_weights_is_a_mean() {
        assert_eq!(Moments::of_ratio(&[2.0, 4.0, 8.0], &[1.0, 2.0, 4.0]), Moments { value: 2.0, variance: 0.0 });
        let values = [1.0, 2.0, 3.0, 6.0];
        let (ratio, mean) = (Moments::of_ratio(&values, &[1.0; 4]), Moments::of_mean(&values));
        assert!((ratio.variance - mean.variance).abs() < 1e-12 && ratio.value == mean.value);
    }

    #[test]
    fn streams_are_combined_with_equal_weights() {
        let [a, b] = [Moments { value: 1.0, variance: 4.0 }, Moments { value: 3.0, variance: 8.0 }];
        assert_eq!(Moments::combined(&[a, b]), Moments { value: 2.0, variance: 3.0 });
    }
}
