//! Quantiles of laws: the number that a law gives at a normal score, the value of a variable of the normal law.
//!
//! At the score z it is the quantile of Φ(z). So numbers at random scores follow the law. Laws at correlated scores are joined by
//! a Gaussian copula (Nelsen, An Introduction to Copulas, 2006, 2.3).

use super::AmountLaw;

/// Halvings after which the quantile of a law without a closed form has all its bits.
const MOST_HALVINGS: u32 = 64;
/// A term that is smaller than this share of its sum changes nothing.
const SMALL_TERM_SHARE: f64 = 1e-17;

impl AmountLaw {
    /// This law with the values of an empirical law in order, as [`AmountLaw::at_score`] needs them.
    pub(crate) fn ordered(&self) -> AmountLaw {
        match self {
            AmountLaw::Empirical(values) => {
                let mut values = values.clone();
                values.sort_by(f64::total_cmp);
                AmountLaw::Empirical(values)
            }
            AmountLaw::Bounded(law, least, most) => AmountLaw::Bounded(Box::new(law.ordered()), *least, *most),
            law => law.clone(),
        }
    }

    /// The number that this law gives at a normal score. The values of an empirical law must be in order.
    pub(crate) fn at_score(&self, score: f64) -> f64 {
        match self {
            AmountLaw::Fixed(value) => *value,
            AmountLaw::Uniform(low, high) => low + share_below(score) * (high - low),
            AmountLaw::Exponential(mean) => mean * hazard(score),
            AmountLaw::LogNormal(mean, deviation) => {
                let variance = libm::log1p((deviation / mean) * (deviation / mean));
                mean * libm::exp(libm::sqrt(variance) * score - variance / 2.0)
            }
            AmountLaw::Erlang(stages, mean) => {
                mean / f64::from(*stages) * where_survived(score, |time| erlang_survival(*stages, time))
            }
            AmountLaw::Hyperexponential(mean, scv) => {
                let likelier = 0.5 * (1.0 + libm::sqrt((scv - 1.0) / (scv + 1.0)));
                let branch = |share: f64, time: f64| share * libm::exp(-2.0 * share * time);
                mean * where_survived(score, |time| branch(likelier, time) + branch(1.0 - likelier, time))
            }
            AmountLaw::Pareto(mean, index) => mean * ((index - 1.0) / index) * libm::exp(hazard(score) / index),
            AmountLaw::Geometric(mean) if *mean <= 1.0 => 1.0,
            AmountLaw::Geometric(mean) => 1.0 + libm::floor(hazard(score) / -libm::log1p(-1.0 / mean)),
            AmountLaw::Empirical(values) => values[step(score, values.len()).0],
            AmountLaw::Bounded(law, least, most) => law.at_score(score).clamp(*least, *most),
        }
    }

    /// The place of a score among all scores with the same number, 0 to 1; `None` for a law whose every score has its own.
    pub(crate) fn place_in_step(&self, score: f64) -> Option<f64> {
        match self {
            AmountLaw::Fixed(_) => Some(share_below(score)),
            AmountLaw::Empirical(values) => Some(step(score, values.len()).1),
            AmountLaw::Bounded(law, ..) => law.place_in_step(score),
            _ => None,
        }
    }
}

/// The index of the score's step among `count` equally likely ones, and its place in that step.
fn step(score: f64, count: usize) -> (usize, f64) {
    let steps = share_below(score) * count as f64;
    let index = (steps as usize).min(count - 1);
    (index, (steps - index as f64).min(1.0))
}

/// Φ: the share of the normal law below a score.
fn share_below(score: f64) -> f64 {
    0.5 * libm::erfc(-score * std::f64::consts::FRAC_1_SQRT_2)
}

/// The cumulated hazard of a score, -ln(1 - Φ): the exponential law's quantile, for a mean of 1.
fn hazard(score: f64) -> f64 {
    if score < 0.0 { -libm::log1p(-share_below(score)) } else { -libm::log(share_below(-score)) }
}

/// The time that as large a share survives as is above the score.
fn where_survived(score: f64, survival: impl Fn(f64) -> f64) -> f64 {
    let share_above = share_below(-score);
    let (mut low, mut high) = (0.0, 1.0);
    while survival(high) > share_above {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..MOST_HALVINGS {
        let middle = 0.5 * (low + high);
        if survival(middle) > share_above {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The share of sums of this many exponential stages of mean 1 that is longer than `time`: the Poisson law's below `stages`.
fn erlang_survival(stages: u32, time: f64) -> f64 {
    if time <= 0.0 {
        return 1.0;
    }
    let stages = f64::from(stages);
    let last = libm::exp((stages - 1.0) * libm::log(time) - time - libm::lgamma(stages));
    // The terms fall in the direction that is summed: those below `stages`, or else their complement.
    let (mut term, mut sum, mut index) = (last, last, stages - 1.0);
    if time >= stages {
        while index > 0.0 && term > sum * SMALL_TERM_SHARE {
            term *= index / time;
            sum += term;
            index -= 1.0;
        }
        return sum;
    }
    sum = 0.0;
    loop {
        index += 1.0;
        term *= time / index;
        sum += term;
        if term <= sum * SMALL_TERM_SHARE {
            return 1.0 - sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laws of each kind, in order of their values.
    fn laws() -> Vec<AmountLaw> {
        vec![
            AmountLaw::Fixed(3.0),
            AmountLaw::Uniform(2.0, 5.0),
            AmountLaw::Exponential(3.0),
            AmountLaw::LogNormal(3.0, 2.0),
            AmountLaw::Erlang(1, 3.0),
            AmountLaw::Erlang(4, 3.0),
            AmountLaw::Erlang(60, 3.0),
            AmountLaw::Hyperexponential(3.0, 4.0),
            AmountLaw::Pareto(3.0, 3.5),
            AmountLaw::Geometric(1.0),
            AmountLaw::Geometric(6.5),
            AmountLaw::Empirical(vec![0.0, 0.0, 1.5, 9.0]),
            AmountLaw::Bounded(Box::new(AmountLaw::Exponential(3.0)), 1.0, 7.0),
            AmountLaw::Bounded(Box::new(AmountLaw::Empirical(vec![1.0, 3.0, 8.0])), 2.0, 7.0),
        ]
    }

    #[test]
    fn numbers_at_random_scores_follow_the_law() {
        use loadgo_core::random::{RandomStream, StreamPurpose};
        const DRAWS: usize = 40_000;
        for law in laws() {
            let mut stream = RandomStream::new(3, 1, StreamPurpose::Work);
            let mut drawn: Vec<_> = (0..DRAWS).map(|_| law.draw(&mut stream)).collect();
            let mut scored: Vec<_> = (0..DRAWS).map(|_| law.at_score(stream.normal())).collect();
            drawn.sort_by(f64::total_cmp);
            scored.sort_by(f64::total_cmp);
            let below = |numbers: &[f64], limit: f64| numbers.partition_point(|number| *number <= limit) as f64 / DRAWS as f64;
            let apart = drawn.iter().map(|limit| (below(&drawn, *limit) - below(&scored, *limit)).abs()).fold(0.0, f64::max);
            // 1 % of Smirnov's criterion for two samples of this size.
            assert!(apart < 1.63 * (2.0 / DRAWS as f64).sqrt(), "{law:?}: the distributions are {apart} apart");
        }
    }

    #[test]
    fn numbers_rise_with_the_score_to_the_far_ends() {
        for law in laws() {
            let numbers: Vec<_> = (-85..=85).map(|tenths| law.at_score(f64::from(tenths) / 10.0)).collect();
            assert!(numbers.iter().all(|number| number.is_finite() && *number >= 0.0), "{law:?}: {numbers:?}");
            assert!(numbers.is_sorted(), "{law:?}: {numbers:?}");
        }
    }

    #[test]
    fn an_erlang_law_of_one_stage_is_exponential() {
        for score in [-6.0, -1.0, 0.0, 0.3, 2.0, 7.0] {
            let (erlang, exponential) = (AmountLaw::Erlang(1, 3.0).at_score(score), AmountLaw::Exponential(3.0).at_score(score));
            assert!((erlang / exponential - 1.0).abs() < 1e-6, "at {score}: {erlang} is not {exponential}");
        }
    }

    #[test]
    fn the_median_of_an_erlang_law_of_many_stages_is_a_third_of_a_stage_below_its_mean() {
        let median = AmountLaw::Erlang(1000, 1000.0).at_score(0.0);
        assert!((median - 999.667).abs() < 1e-3, "{median}");
    }

    #[test]
    fn values_out_of_order_are_ordered_within_bounds_too() {
        let unordered = AmountLaw::Bounded(Box::new(AmountLaw::Empirical(vec![8.0, 1.0, 3.0])), 2.0, 7.0);
        assert_eq!(unordered.ordered(), laws()[13]);
        assert_eq!([-1.0, 0.0, 1.0].map(|score| laws()[13].at_score(score)), [2.0, 3.0, 7.0]);
        assert!((laws()[13].place_in_step(0.0).expect("it has steps") - 0.5).abs() < 1e-12);
    }
}
