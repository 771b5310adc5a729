//! Laws of think time, the time between the prompt and the first key.

use crate::random::RandomStream;
use crate::time::Span;

/// A law from which spans are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeLaw {
    /// No think time, as in a certification run.
    None,
    /// Always the same span.
    Fixed(Span),
    /// Evenly between two spans.
    Uniform(Span, Span),
    /// Exponential with this mean.
    Exponential(Span),
    /// Log-normal with this mean and standard deviation (of the time itself, not of its logarithm).
    LogNormal(Span, Span),
    /// A value of this list, each with the same probability.
    Empirical(Vec<Span>),
    /// A law with a least and a largest span: a drawn value beyond a bound becomes the bound.
    Bounded(Box<TimeLaw>, Span, Span),
}

impl TimeLaw {
    /// Draws a span from this law.
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
