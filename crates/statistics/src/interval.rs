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
