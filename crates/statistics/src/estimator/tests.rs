//! Estimates of series whose true values are known: autoregressive responses, and a queue by Lindley's recursion.

use super::*;
use crate::{ConfidenceInterval, Figure, INTERVAL_CONFIDENCE, MissingFigure, PreciseFigure, estimate};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Responses of a queue M/M/1, until the rule is met. The mean service is 1 s, the load 0.8, the mean response 5 s.
fn queue(seed: u64, stop_rule: &str) -> Estimator {
    let mut stream = RandomStream::new(seed, 0, StreamPurpose::Work);
    let mut estimator = Estimator::new(StopRule::parse(stop_rule).unwrap());
    let (mut arrival, mut departure) = (0.0, 0.0f64);
    while !estimator.is_done() {
        arrival += stream.exponential() / 0.8;
        departure = departure.max(arrival) + stream.exponential();
        estimator.record(0, (departure * 1e9) as u64, ((departure - arrival) * 1e9) as u64);
    }
    estimator
}

/// Autoregressive responses with a mean of 1 s, one every 10 ms.
fn autoregressive(seed: u64, correlation: f64, count: u64) -> Estimator {
    let mut stream = RandomStream::new(seed, 0, StreamPurpose::Work);
    let mut estimator = Estimator::new(StopRule::parse(&format!("interactions={count}")).unwrap());
    let mut state = 3.0 * stream.normal() / libm::sqrt(1.0 - correlation * correlation);
    for i in 0..count {
        state = correlation * state + stream.normal();
        estimator.record(0, i * 10_000_000, (1e9 + 1e7 * state) as u64);
    }
    estimator
}

fn mean(estimator: &Estimator) -> ConfidenceInterval {
    estimate(&[estimator.windows()], Figure::Mean(None), INTERVAL_CONFIDENCE).unwrap()
}

#[test]
fn intervals_of_an_autoregressive_series_hold_its_mean_as_often_as_they_say() {
    let held = (0..400).filter(|seed| mean(&autoregressive(*seed, 0.9, 20_000)).holds(1e9)).count();
    assert!((364..=392).contains(&held), "{held} of 400 for a nominal 95 %");
}

#[test]
fn intervals_of_a_queue_hold_its_mean_and_its_95th_percentile() {
    let p95 = -libm::log(0.05) * 5e9;
    let (mut means, mut quantiles) = (0, 0);
    for seed in 0..100 {
        let run = queue(seed, "interactions=100000");
        means += usize::from(mean(&run).holds(5e9));
        quantiles +=
            usize::from(estimate(&[run.windows()], Figure::Quantile(0.95, None), INTERVAL_CONFIDENCE).unwrap().holds(p95));
    }
    // With a true coverage of 95 %, fewer than 86 of 100 intervals hold the value once in ten thousand tests.
    assert!(means >= 86 && quantiles >= 86, "the mean {means}, the 95th percentile {quantiles} of 100");
}

#[test]
fn a_run_goes_on_until_each_figure_is_precise() {
    let run = queue(1, "precision(mean)=4%, precision(p90)=5%");
    assert_eq!(run.stop_reason(), Some(StopReason::Precision));
    assert!(
        run.interactions >= FIRST_LOOK_INTERACTIONS && (run.interactions / FIRST_LOOK_INTERACTIONS).is_power_of_two(),
        "{}",
        run.interactions
    );
    let p90 = estimate(&[run.windows()], Figure::Quantile(0.9, None), 0.975).unwrap();
    assert!(p90.relative() <= 0.05 && estimate(&[run.windows()], Figure::Mean(None), 0.975).unwrap().relative() <= 0.04);
    assert!((p90.value / (-libm::log(0.1) * 5e9) - 1.0).abs() < 0.05, "{p90:?}");
    let half = queue(1, &format!("interactions={}", run.interactions / 2));
    assert!(
        !StopRule::parse("precision(mean)=4%, precision(p90)=5%").unwrap().is_precise(&[half.windows()]),
        "it stopped at once"
    );
}

#[test]
fn a_length_beside_a_precision_limits_the_run() {
    let run = queue(2, "interactions=50_000, precision(mean)=0.1%");
    assert_eq!((run.stop_reason(), run.interactions), (Some(StopReason::LimitReached), 50_000));
    assert_eq!(queue(2, "time=100s").stop_reason(), Some(StopReason::Length));
}

#[test]
fn a_quantile_of_too_few_interactions_says_so() {
    let run = queue(3, "interactions=50000");
    let p99 = estimate(&[run.windows()], Figure::Quantile(0.99, None), INTERVAL_CONFIDENCE);
    assert!(matches!(p99, Err(MissingFigure::TooFew { needs: 10_000, has }) if (1000..2000).contains(&has)), "{p99:?}");
    assert!(p99.unwrap_err().to_string().starts_with("too few: "));
    assert_eq!(
        estimate(&[Estimator::new(StopRule::parse("time=1s").unwrap()).windows()], Figure::Mean(None), 0.95),
        Err(MissingFigure::RunTooShort)
    );
}

#[test]
fn a_class_and_all_classes_together_have_figures() {
    let mut run = Estimator::new(StopRule::parse("interactions=60000").unwrap());
    for i in 0..60_000u64 {
        run.record((i % 3 == 0).into(), i * 1_000_000, if i % 3 == 0 { 700 } else { 100 });
    }
    let estimated = |figure| estimate(&[run.windows()], figure, INTERVAL_CONFIDENCE).unwrap();
    assert_eq!(estimated(Figure::Mean(Some(1))), ConfidenceInterval { value: 700.0, half_width: 0.0 });
    assert!((estimated(Figure::Mean(None)).value - 300.0).abs() < 0.1);
    assert!((estimated(Figure::Throughput(Some(0))).value * 1e9 - 666.67).abs() < 0.1);
    assert!((estimated(Figure::Quantile(0.5, None)).value - 100.5).abs() <= 1.0);
}

#[test]
fn several_streams_give_a_narrower_interval_than_one() {
    let runs: Vec<Estimator> = (0..8).map(|seed| queue(seed, "interactions=60000")).collect();
    let all: Vec<&RunWindows> = runs.iter().map(Estimator::windows).collect();
    let together = estimate(&all, Figure::Mean(None), INTERVAL_CONFIDENCE).unwrap();
    let widest = runs.iter().map(|run| mean(run).half_width).fold(0.0, f64::max);
    assert!(together.holds(5e9) && together.half_width < widest / 2.0, "{together:?}, alone {widest}");
}

#[test]
fn a_rule_is_read_and_printed() {
    for text in
        ["interactions=1000000", "time=3600s", "precision(mean)=1%, precision(p90)=2%", "interactions=5, precision(p99.9)=0.5%"]
    {
        assert_eq!(StopRule::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(StopRule::parse("interactions=1e6").unwrap().interactions, Some(1_000_000));
    assert_eq!(StopRule::parse(" time = 1h ").unwrap().time_ns, Some(3_600_000_000_000));
    assert_eq!(StopRule::parse("precision(throughput)=1%").unwrap().precisions, vec![(PreciseFigure::Throughput, 0.01)]);
}

#[test]
fn a_mistake_in_a_rule_says_what_would_be_right() {
    let mistakes = [
        ("", "has no value"),
        ("interactions", "has no value"),
        ("interactions=0", "not a whole number"),
        ("interactions=1.5", "not a whole number"),
        ("interactions=many", "write interactions=100000"),
        ("time=5", "has no unit"),
        ("time=0s", "too short"),
        ("interaction=5", "not a rule that ends a run"),
        ("precision(p90)=2", "such as 2%"),
        ("precision(p90)=0%", "such as 2%"),
        ("precision(p100)=2%", "a quantile such as p50"),
        ("precision(best)=2%", "a quantile such as p50"),
        ("precision(p90)=2%, precision(p90)=3%", "twice"),
        ("time=1s, time=2s", "twice"),
    ];
    for (text, words) in mistakes {
        let mistake = StopRule::parse(text).unwrap_err().to_string();
        assert!(mistake.contains(words), "{text:?} says {mistake:?}");
    }
}

#[test]
fn a_rule_ends_a_run_at_the_first_of_its_limits() {
    let rule = StopRule::parse("interactions=10, time=1s").unwrap();
    assert!(!rule.is_over(9, 999_999_999));
    assert!(rule.is_over(10, 0) && rule.is_over(0, 1_000_000_000));
}

#[test]
fn quantiles_and_precisions_of_nothing_or_of_all_are_refused() {
    for text in ["precision(p0)=5%", "precision(p100)=5%", "precision(mean)=0%", "precision(mean)=100%"] {
        assert!(StopRule::parse(text).is_err(), "{text}");
    }
    assert!(StopRule::parse("precision(p99.9)=0.1%").is_ok());
}

/// Responses of a queue M/M/1 at a load of 0.9, until the rule is met.
fn busy_queue(seed: u64, stop_rule: &str) -> Estimator {
    let mut stream = RandomStream::new(seed, 0, StreamPurpose::Work);
    let mut estimator = Estimator::new(StopRule::parse(stop_rule).unwrap());
    let (mut arrival, mut departure) = (0.0, 0.0f64);
    while !estimator.is_done() {
        arrival += stream.exponential() / 0.9;
        departure = departure.max(arrival) + stream.exponential();
        estimator.record(0, (departure * 1e9) as u64, ((departure - arrival) * 1e9) as u64);
    }
    estimator
}

#[test]
fn a_busy_queue_that_stops_by_precision_holds_its_mean_as_often_as_its_interval_says() {
    let interval = |run: &Estimator| {
        let sample = crate::BatchSample::of(&[run.windows()], INTERVAL_CONFIDENCE).stopped_when_precise();
        sample.estimate(Figure::Mean(None)).unwrap()
    };
    let runs: Vec<ConfidenceInterval> = (0..100).map(|seed| interval(&busy_queue(seed, "precision(mean)=10%"))).collect();
    assert!(runs.iter().all(|interval| interval.relative() <= 0.1), "the interval of the report is the rule's");
    let held = runs.iter().filter(|interval| interval.holds(10e9)).count();
    // With a true coverage of 95 %, fewer than 87 of 100 intervals hold the value once in a thousand tests.
    assert!(held >= 87, "{held} of 100 for a nominal 95 %");
}
