//! Laws from which a machine draws amounts: a fixed number, or a distribution.

use loadgo_core::random::RandomStream;

mod quantile;

/// A law of non-negative numbers, in the unit of the drawn amount: nanoseconds, pages, words, lines or bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum AmountLaw {
    /// Always the same number.
    Fixed(f64),
    /// Evenly between two numbers.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Log-normal with this mean and standard deviation.
    LogNormal(f64, f64),
    /// The sum of this number of equal exponential stages, with this mean of the sum.
    Erlang(u32, f64),
    /// Two exponential laws with balanced means: the mean, and the squared coefficient of variation (over 1).
    Hyperexponential(f64, f64),
    /// Pareto with this mean and this tail index (over 1).
    Pareto(f64, f64),
    /// The number of trials until the first success, with this mean (1 or more).
    Geometric(f64),
    /// A value of this list, each with the same probability.
    Empirical(Vec<f64>),
    /// A law with a least and a largest number: a drawn number beyond a bound becomes the bound.
    Bounded(Box<AmountLaw>, f64, f64),
}

impl Default for AmountLaw {
    fn default() -> AmountLaw {
        AmountLaw::ZERO
    }
}

impl AmountLaw {
    /// Always 0.
    pub const ZERO: AmountLaw = AmountLaw::Fixed(0.0);

    /// Whether the law always gives 0.
    pub fn is_zero(&self) -> bool {
        *self == AmountLaw::ZERO
    }

    /// Whether the numbers that the law gives can be times or counts.
    pub(crate) fn is_sound(&self) -> bool {
        self.mean() >= 0.0 && self.mean().is_finite()
    }

    /// The law's name and its values, as in a machine file, without bounds.
    pub fn parts(&self) -> (&'static str, Vec<f64>) {
        match self {
            AmountLaw::Fixed(value) => ("fixed", vec![*value]),
            AmountLaw::Uniform(low, high) => ("uniform", vec![*low, *high]),
            AmountLaw::Exponential(mean) => ("exponential", vec![*mean]),
            AmountLaw::LogNormal(mean, deviation) => ("lognormal", vec![*mean, *deviation]),
            AmountLaw::Erlang(stages, mean) => ("erlang", vec![f64::from(*stages), *mean]),
            AmountLaw::Hyperexponential(mean, scv) => ("hyperexponential", vec![*mean, *scv]),
            AmountLaw::Pareto(mean, index) => ("pareto", vec![*mean, *index]),
            AmountLaw::Geometric(mean) => ("geometric", vec![*mean]),
            AmountLaw::Empirical(values) => ("empirical", values.clone()),
            AmountLaw::Bounded(law, ..) => law.parts(),
        }
    }

    /// Draws a number from this law.
    #[inline]
    pub fn draw(&self, stream: &mut RandomStream) -> f64 {
        // The usual law of simulations is drawn without the call of a function that has all laws.
        if let AmountLaw::Exponential(mean) = self { mean * stream.quick_exponential() } else { self.draw_any(stream) }
    }

    fn draw_any(&self, stream: &mut RandomStream) -> f64 {
        match self {
            AmountLaw::Fixed(value) => *value,
            AmountLaw::Uniform(low, high) => low + stream.unit() * (high - low),
            AmountLaw::Exponential(mean) => mean * stream.quick_exponential(),
            AmountLaw::LogNormal(..) => self.at_score(stream.normal()),
            AmountLaw::Erlang(stages, mean) => {
                (0..*stages).map(|_| stream.exponential()).sum::<f64>() * mean / f64::from(*stages)
            }
            AmountLaw::Hyperexponential(mean, scv) => {
                let likelier = 0.5 * (1.0 + libm::sqrt((scv - 1.0) / (scv + 1.0)));
                let share = if stream.unit() < likelier { likelier } else { 1.0 - likelier };
                mean / (2.0 * share) * stream.exponential()
            }
            AmountLaw::Pareto(mean, index) => {
                let least_share = (index - 1.0) / index;
                mean * least_share * libm::exp(stream.exponential() / index)
            }
            AmountLaw::Geometric(mean) if *mean <= 1.0 => 1.0,
            AmountLaw::Geometric(mean) => 1.0 + libm::floor(stream.exponential() / -libm::log1p(-1.0 / mean)),
            AmountLaw::Empirical(values) => values[stream.index(values.len())],
            AmountLaw::Bounded(law, least, most) => law.draw(stream).clamp(*least, *most),
        }
    }

    /// The mean of this law. For a law with bounds, it is the mean without them, moved to the nearest bound if it is beyond.
    pub fn mean(&self) -> f64 {
        match self {
            AmountLaw::Fixed(mean)
            | AmountLaw::Exponential(mean)
            | AmountLaw::LogNormal(mean, _)
            | AmountLaw::Erlang(_, mean) => *mean,
            AmountLaw::Hyperexponential(mean, _) | AmountLaw::Pareto(mean, _) | AmountLaw::Geometric(mean) => *mean,
            AmountLaw::Uniform(low, high) => (low + high) / 2.0,
            AmountLaw::Empirical(values) => values.iter().sum::<f64>() / values.len() as f64,
            AmountLaw::Bounded(law, least, most) => law.mean().clamp(*least, *most),
        }
    }
}

/// The whole number below `drawn`, or the one above if `unit` gives less than the fraction; at most 10^18.
pub(crate) fn rounded(drawn: f64, unit: impl FnOnce() -> f64) -> u64 {
    let drawn = drawn.min(1e18);
    let least = drawn as u64;
    let fraction = drawn - least as f64;
    least + u64::from(fraction > 0.0 && unit() < fraction)
}

/// Whether `number` is above 0, and not infinite.
pub(crate) fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}
