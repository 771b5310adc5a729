//! Laws that a machine file's values are drawn from: a number as it stands, or a distribution.

use loadgo_core::random::RandomStream;

/// A law of non-negative numbers: nanoseconds, pages, words, lines or bytes, as the value asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Always the same.
    Fixed(f64),
    /// Evenly between the two.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Log-normal with this mean and standard deviation.
    LogNormal(f64, f64),
    /// The sum of so many equal exponential stages, with this mean in all.
    Erlang(u32, f64),
    /// One of two exponentials with balanced means: this mean, and this squared coefficient of variation (over 1).
    Hyperexponential(f64, f64),
    /// Pareto with this mean and this tail index (over 1).
    Pareto(f64, f64),
    /// The number of trials until the first success, with this mean (1 or more).
    Geometric(f64),
    /// Evenly from these values.
    Empirical(Vec<f64>),
    /// Drawn from the law, then cut off below and above.
    Bounded(Box<Draw>, f64, f64),
}

impl Default for Draw {
    fn default() -> Draw {
        Draw::ZERO
    }
}

impl Draw {
    /// Always nothing.
    pub const ZERO: Draw = Draw::Fixed(0.0);

    /// Whether this is always nothing.
    pub fn is_zero(&self) -> bool {
        *self == Draw::ZERO
    }

    /// Its name and its values, as a machine file writes them; those of the law within the bounds of a bounded one.
    pub fn parts(&self) -> (&'static str, Vec<f64>) {
        match self {
            Draw::Fixed(value) => ("fixed", vec![*value]),
            Draw::Uniform(low, high) => ("uniform", vec![*low, *high]),
            Draw::Exponential(mean) => ("exponential", vec![*mean]),
            Draw::LogNormal(mean, deviation) => ("lognormal", vec![*mean, *deviation]),
            Draw::Erlang(stages, mean) => ("erlang", vec![f64::from(*stages), *mean]),
            Draw::Hyperexponential(mean, scv) => ("hyperexponential", vec![*mean, *scv]),
            Draw::Pareto(mean, index) => ("pareto", vec![*mean, *index]),
            Draw::Geometric(mean) => ("geometric", vec![*mean]),
            Draw::Empirical(values) => ("empirical", values.clone()),
            Draw::Bounded(law, ..) => law.parts(),
        }
    }

    /// A number drawn from this law.
    #[inline]
    pub fn draw(&self, stream: &mut RandomStream) -> f64 {
        match self {
            Draw::Fixed(value) => *value,
            Draw::Uniform(low, high) => low + stream.unit() * (high - low),
            Draw::Exponential(mean) => mean * stream.quick_exponential(),
            Draw::LogNormal(mean, deviation) => {
                let variance = libm::log1p((deviation / mean) * (deviation / mean));
                mean * libm::exp(libm::sqrt(variance) * stream.normal() - variance / 2.0)
            }
            Draw::Erlang(stages, mean) => (0..*stages).map(|_| stream.exponential()).sum::<f64>() * mean / f64::from(*stages),
            Draw::Hyperexponential(mean, scv) => {
                let often = 0.5 * (1.0 + libm::sqrt((scv - 1.0) / (scv + 1.0)));
                let share = if stream.unit() < often { often } else { 1.0 - often };
                mean / (2.0 * share) * stream.exponential()
            }
            Draw::Pareto(mean, index) => {
                let part = (index - 1.0) / index;
                mean * part * libm::exp(stream.exponential() / index)
            }
            Draw::Geometric(mean) if *mean <= 1.0 => 1.0,
            Draw::Geometric(mean) => 1.0 + libm::floor(stream.exponential() / -libm::log1p(-1.0 / mean)),
            Draw::Empirical(values) => values[stream.index(values.len())],
            Draw::Bounded(law, least, most) => law.draw(stream).clamp(*least, *most),
        }
    }

    /// The mean of this law; of a bounded one, that of the law without its bounds, kept within them.
    pub fn mean(&self) -> f64 {
        match self {
            Draw::Fixed(mean) | Draw::Exponential(mean) | Draw::LogNormal(mean, _) | Draw::Erlang(_, mean) => *mean,
            Draw::Hyperexponential(mean, _) | Draw::Pareto(mean, _) | Draw::Geometric(mean) => *mean,
            Draw::Uniform(low, high) => (low + high) / 2.0,
            Draw::Empirical(values) => values.iter().sum::<f64>() / values.len() as f64,
            Draw::Bounded(law, least, most) => law.mean().clamp(*least, *most),
        }
    }
}
