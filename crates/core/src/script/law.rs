//! Laws of think time: how long a user waits between the prompt and the first key.

use crate::random::RandomStream;
use crate::time::Span;

/// A law that spans are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeLaw {
    /// No time at all (a certification run).
    None,
    /// Always the same.
    Fixed(Span),
    /// Evenly between the two.
    Uniform(Span, Span),
    /// Exponential with this mean.
    Exponential(Span),
    /// Log-normal with this mean and standard deviation (of the time itself, not of its logarithm).
    LogNormal(Span, Span),
    /// Evenly from measured values.
    Empirical(Vec<Span>),
    /// Drawn from the law, then cut off below and above: a value over the maximum becomes the maximum.
    Bounded(Box<TimeLaw>, Span, Span),
}

impl TimeLaw {
    /// A span drawn from this law.
    pub fn draw(&self, stream: &mut RandomStream) -> Span {
        match self {
            TimeLaw::None => Span::ZERO,
            TimeLaw::Fixed(span) => *span,
            TimeLaw::Uniform(low, high) => Span::from_secs_f64(low.as_secs_f64() + stream.unit() * (*high - *low).as_secs_f64()),
            TimeLaw::Exponential(mean) => Span::from_secs_f64(mean.as_secs_f64() * stream.exponential()),
            TimeLaw::LogNormal(mean, deviation) => {
                let (mean, deviation) = (mean.as_secs_f64(), deviation.as_secs_f64());
                let variance = libm::log1p((deviation / mean) * (deviation / mean));
                Span::from_secs_f64(mean * libm::exp(libm::sqrt(variance) * stream.normal() - variance / 2.0))
            }
            TimeLaw::Empirical(values) => values[stream.index(values.len())],
            TimeLaw::Bounded(law, least, most) => law.draw(stream).clamp(*least, *most),
        }
    }
}
