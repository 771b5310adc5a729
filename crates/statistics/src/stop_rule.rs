//! The rule that ends a run: `interactions=1e6`, `time=1h`, `precision(p90)=2%`, or several with commas between them.

use super::figures::{BatchSample, Figure};
use super::interval::INTERVAL_CONFIDENCE;
use super::windows::RunWindows;
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::script::parse_span;
use std::fmt;

const EXAMPLES: &str = "write interactions=1e6, time=1h, precision(mean)=1% or precision(p90)=2%";

/// Largest number of interactions of a run whose rule limits neither interactions nor time.
pub const MOST_INTERACTIONS: u64 = 1_000_000_000;

/// The rule that ends a run.
///
/// Interactions or time alone are the run's length. Beside precisions, they are its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct StopRule {
    /// Number of interactions.
    pub interactions: Option<u64>,
    /// Time of the system, in nanoseconds.
    pub time_ns: Option<u64>,
    /// Figures with the half-width that each must reach, as a part of the figure (0 to 1).
    pub precisions: Vec<(PreciseFigure, f64)>,
}

/// A mistake in a stop rule. Its text says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopRuleMistake {
    /// A condition without `=`.
    NoValue(String),
    /// A condition with an unknown name.
    UnknownRule(String),
    /// A condition that stands twice.
    Twice(String),
    /// A number of interactions that is no whole number of 1 or more.
    NotACount(String),
    /// A time that is none.
    NotATime(SyntaxMistake),
    /// A time of 0.
    NoTime,
    /// A precision of an unknown figure.
    UnknownFigure(String),
    /// A precision that is no percentage between 0 and 100.
    NotAPrecision(String),
}

impl fmt::Display for StopRuleMistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopRuleMistake::NoValue(condition) => write!(out, "{condition:?} has no value: {EXAMPLES}"),
            StopRuleMistake::UnknownRule(name) => write!(out, "{name:?} is not a rule that ends a run: {EXAMPLES}"),
            StopRuleMistake::Twice(name) => write!(out, "{name} is written twice"),
            StopRuleMistake::NotACount(count) => write!(
                out,
                "interactions={count} is not a whole number of 1 or more: write interactions=100000 or interactions=1e5"
            ),
            StopRuleMistake::NotATime(mistake) => mistake.fmt(out),
            StopRuleMistake::NoTime => write!(out, "time=0s is too short: write time=1h"),
            StopRuleMistake::UnknownFigure(figure) => {
                write!(out, "precision({figure}) is unknown: write mean, throughput, or a quantile such as p50, p90 or p99.9")
            }
            StopRuleMistake::NotAPrecision(text) => {
                write!(out, "{text:?} is not a precision: write the interval's half-width as a part of the figure, such as 2%")
            }
        }
    }
}

impl std::error::Error for StopRuleMistake {}

/// A figure over all interactions for which a rule may demand a precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PreciseFigure {
    /// The mean response time.
    Mean,
    /// A quantile of the response time, as a share between 0 and 1.
    Quantile(f64),
    /// Interactions a second.
    Throughput,
}

impl PreciseFigure {
    fn figure(self) -> Figure {
        match self {
            PreciseFigure::Mean => Figure::Mean(None),
            PreciseFigure::Quantile(p) => Figure::Quantile(p, None),
            PreciseFigure::Throughput => Figure::Throughput(None),
        }
    }
}

impl StopRule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The mistake, and what would be right.
    pub fn parse(text: &str) -> Result<StopRule, StopRuleMistake> {
        let mut rule = StopRule { interactions: None, time_ns: None, precisions: Vec::new() };
        for condition in text.split(',').map(str::trim) {
            let (name, value) = condition.split_once('=').ok_or_else(|| StopRuleMistake::NoValue(condition.into()))?;
            rule.add(name.trim(), value.trim())?;
        }
        Ok(rule)
    }

    /// Whether a run that has this number of `interactions` at the time `at` has reached its length or limit.
    pub fn is_over(&self, interactions: u64, at: u64) -> bool {
        let most = self.interactions.unwrap_or(if self.time_ns.is_some() { u64::MAX } else { MOST_INTERACTIONS });
        interactions >= most || self.time_ns.is_some_and(|time| at >= time)
    }

    /// Whether each figure of these streams is precise enough. All intervals together have the usual confidence (Bonferroni).
    pub fn is_precise(&self, streams: &[&RunWindows]) -> bool {
        let confidence = 1.0 - (1.0 - INTERVAL_CONFIDENCE) / self.precisions.len().max(1) as f64;
        if self.precisions.is_empty() {
            return false;
        }
        let sample = BatchSample::of(streams, confidence).stopped_when_precise();
        let is_reached = |(precise, target): &(PreciseFigure, f64)| {
            sample.estimate(precise.figure()).is_ok_and(|interval| interval.relative() <= *target)
        };
        self.precisions.iter().all(is_reached)
    }

    fn add(&mut self, name: &str, text: &str) -> Result<(), StopRuleMistake> {
        match name {
            "interactions" => set_once(&mut self.interactions, name, parse_count(text)?),
            "time" => set_once(&mut self.time_ns, name, parse_time_ns(text)?),
            _ => {
                let figure = name.strip_prefix("precision(").and_then(|inner| inner.strip_suffix(')'));
                let figure = figure.ok_or_else(|| StopRuleMistake::UnknownRule(name.into()))?;
                let precise = parse_figure(figure.trim())?;
                if self.precisions.iter().any(|(other, _)| *other == precise) {
                    return Err(StopRuleMistake::Twice(name.into()));
                }
                self.precisions.push((precise, parse_precision(text)?));
                Ok(())
            }
        }
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interactions = self.interactions.map(|count| format!("interactions={count}"));
        let time = self.time_ns.map(|ns| format!("time={}", loadgo_core::script::print_span(loadgo_core::time::Span(ns))));
        let precisions = self.precisions.iter().map(|(figure, share)| format!("precision({figure})={}%", rounded(share * 100.0)));
        write!(out, "{}", interactions.into_iter().chain(time).chain(precisions).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for PreciseFigure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreciseFigure::Mean => write!(out, "mean"),
            PreciseFigure::Throughput => write!(out, "throughput"),
            PreciseFigure::Quantile(p) => write!(out, "p{}", rounded(p * 100.0)),
        }
    }
}

/// A percentage without the error in its last digits, which comes from the division by 100.
fn rounded(percent: f64) -> f64 {
    libm::round(percent * 1e9) / 1e9
}

fn set_once<T>(field: &mut Option<T>, name: &str, parsed: T) -> Result<(), StopRuleMistake> {
    if field.replace(parsed).is_some() {
        return Err(StopRuleMistake::Twice(name.into()));
    }
    Ok(())
}

fn parse_count(text: &str) -> Result<u64, StopRuleMistake> {
    let mistake = || StopRuleMistake::NotACount(text.into());
    let number: f64 = text.replace('_', "").parse().map_err(|_| mistake())?;
    if !(1.0..=1e15).contains(&number) || libm::floor(number) != number {
        return Err(mistake());
    }
    Ok(number as u64)
}

fn parse_time_ns(text: &str) -> Result<u64, StopRuleMistake> {
    match parse_span(text).map_err(StopRuleMistake::NotATime)?.0 {
        0 => Err(StopRuleMistake::NoTime),
        ns => Ok(ns),
    }
}

fn parse_figure(figure: &str) -> Result<PreciseFigure, StopRuleMistake> {
    let unknown = || StopRuleMistake::UnknownFigure(figure.into());
    match figure {
        "mean" => Ok(PreciseFigure::Mean),
        "throughput" => Ok(PreciseFigure::Throughput),
        "median" => Ok(PreciseFigure::Quantile(0.5)),
        _ => {
            let percent: f64 = figure.strip_prefix('p').and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?;
            if percent > 0.0 && percent < 100.0 { Ok(PreciseFigure::Quantile(percent / 100.0)) } else { Err(unknown()) }
        }
    }
}

fn parse_precision(text: &str) -> Result<f64, StopRuleMistake> {
    let mistake = || StopRuleMistake::NotAPrecision(text.into());
    let percent = text.strip_suffix('%').ok_or_else(mistake)?;
    let percent: f64 = percent.trim().parse().map_err(|_| mistake())?;
    if percent > 0.0 && percent < 100.0 { Ok(percent / 100.0) } else { Err(mistake()) }
}
