//! An estimate with its interval, from batches of one stream, or from several independent streams.

/// The confidence of every interval that is told.
pub const CONFIDENCE: f64 = 0.95;

/// An estimate and how far the truth may be from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Half the width of the interval, at the confidence that was asked.
    pub half_width: f64,
}

impl Interval {
    /// The half-width as a part of the value; infinite when the value is 0 and the interval is not.
    pub fn relative(&self) -> f64 {
        if self.half_width == 0.0 { 0.0 } else { self.half_width / self.value.abs() }
    }

    /// Whether `truth` is in it.
    pub fn holds(&self, truth: f64) -> bool {
        (truth - self.value).abs() <= self.half_width
    }
}

/// What one stream says of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The estimate.
    pub value: f64,
    /// Its variance.
    pub variance: f64,
}

impl Moments {
    /// The mean of batch values.
    pub(crate) fn of_mean(values: &[f64]) -> Moments {
        let value = values.iter().sum::<f64>() / values.len() as f64;
        Moments::around(value, values.iter().map(|v| v - value))
    }

    /// The ratio of two sums over batches, `above` / `below`: a response time is (sum of responses) / (interactions).
    pub(crate) fn of_ratio(above: &[f64], below: &[f64]) -> Moments {
        let total = below.iter().sum::<f64>();
        let value = above.iter().sum::<f64>() / total;
        let mean = total / below.len() as f64;
        Moments::around(value, above.iter().zip(below).map(|(a, b)| (a - value * b) / mean))
    }

    /// `value`, with the batches' deviations from it.
    pub fn around(value: f64, deviations: impl ExactSizeIterator<Item = f64>) -> Moments {
        let count = deviations.len() as f64;
        let variance = deviations.map(|d| d * d).sum::<f64>() / (count - 1.0) / count;
        Moments { value, variance }
    }

    /// Independent streams of about the same length as one.
    pub(crate) fn combined(streams: &[Moments]) -> Moments {
        let count = streams.len() as f64;
        Moments {
            value: streams.iter().map(|m| m.value).sum::<f64>() / count,
            variance: streams.iter().map(|m| m.variance).sum::<f64>() / (count * count),
        }
    }

    /// The interval of `t` standard errors to each side.
    pub fn interval(&self, t: f64) -> Interval {
        Interval { value: self.value, half_width: t * libm::sqrt(self.variance) }
    }
}
