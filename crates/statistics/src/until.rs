//! When a run is long enough: `interactions=1e6`, `time=1h`, `precision(p90)=2%`, or several with commas between them.

use super::figures::{Figure, Sample};
use super::interval::CONFIDENCE;
use super::windows::Windows;
use loadgo_core::script::parse_span;
use std::fmt;

const EXAMPLES: &str = "write interactions=1e6, time=1h, precision(mean)=1% or precision(p90)=2%";

/// Interactions after which a run ends whatever its precision, where nothing else is asked.
pub const MOST: u64 = 1_000_000_000;

/// When a run is long enough.
///
/// Interactions or time alone are its length; beside precisions they are the most that it may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// Interactions in all.
    pub interactions: Option<u64>,
    /// Nanoseconds of the system's time.
    pub time_ns: Option<u64>,
    /// Every one of these must be reached.
    pub precisions: Vec<(Asked, f64)>,
}

/// A figure over all interactions that may be asked to be precise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// The mean response time.
    Mean,
    /// A quantile of the response time: a share between 0 and 1.
    Quantile(f64),
    /// Interactions a second.
    Throughput,
}

impl Asked {
    fn figure(self) -> Figure {
        match self {
            Asked::Mean => Figure::Mean(None),
            Asked::Quantile(p) => Figure::Quantile(p, None),
            Asked::Throughput => Figure::Throughput(None),
        }
    }
}

impl Until {
    /// Reads what was asked.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Until, String> {
        let mut until = Until { interactions: None, time_ns: None, precisions: Vec::new() };
        for part in text.split(',').map(str::trim) {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("{part:?} has no value: {EXAMPLES}"))?;
            until.take(name.trim(), value.trim())?;
        }
        Ok(until)
    }

    /// Whether `interactions`, or the time `at`, are the end, precise or not.
    pub fn is_over(&self, interactions: u64, at: u64) -> bool {
        let most = self.interactions.unwrap_or(if self.time_ns.is_some() { u64::MAX } else { MOST });
        interactions >= most || self.time_ns.is_some_and(|time| at >= time)
    }

    /// Whether every asked figure of these streams is precise enough, all at once with the confidence of one (Bonferroni).
    pub fn is_precise(&self, streams: &[&Windows]) -> bool {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / self.precisions.len().max(1) as f64;
        if self.precisions.is_empty() {
            return false;
        }
        let sample = Sample::of(streams, confidence);
        let reached =
            |(asked, target): &(Asked, f64)| sample.estimate(asked.figure()).is_ok_and(|interval| interval.relative() <= *target);
        self.precisions.iter().all(reached)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "interactions" => once(&mut self.interactions, name, whole(value)?),
            "time" => once(&mut self.time_ns, name, span(value)?),
            _ => {
                let figure = name.strip_prefix("precision(").and_then(|rest| rest.strip_suffix(')'));
                let figure = figure.ok_or_else(|| format!("{name:?} is nothing that a run can wait for: {EXAMPLES}"))?;
                let asked = asked(figure.trim())?;
                if self.precisions.iter().any(|(already, _)| *already == asked) {
                    return Err(format!("{name} is asked for twice"));
                }
                self.precisions.push((asked, precision(value)?));
                Ok(())
            }
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interactions = self.interactions.map(|count| format!("interactions={count}"));
        let time = self.time_ns.map(|ns| format!("time={}", loadgo_core::script::print_span(loadgo_core::time::Span(ns))));
        let precisions = self.precisions.iter().map(|(asked, part)| format!("precision({asked})={}%", rounded(part * 100.0)));
        write!(out, "{}", interactions.into_iter().chain(time).chain(precisions).collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Mean => write!(out, "mean"),
            Asked::Throughput => write!(out, "throughput"),
            Asked::Quantile(p) => write!(out, "p{}", rounded(p * 100.0)),
        }
    }
}

/// Without the last digits, which the division by 100 and back leaves.
fn rounded(percent: f64) -> f64 {
    libm::round(percent * 1e9) / 1e9
}

fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    if place.replace(value).is_some() {
        return Err(format!("{name} is asked for twice"));
    }
    Ok(())
}

fn whole(value: &str) -> Result<u64, String> {
    let wrong = || format!("interactions={value} is no whole number of 1 or more: write interactions=100000 or interactions=1e5");
    let number: f64 = value.replace('_', "").parse().map_err(|_| wrong())?;
    if !(1.0..=1e15).contains(&number) || libm::floor(number) != number {
        return Err(wrong());
    }
    Ok(number as u64)
}

fn span(value: &str) -> Result<u64, String> {
    match parse_span(value)?.0 {
        0 => Err("time=0s is no time: write time=1h".into()),
        ns => Ok(ns),
    }
}

fn asked(figure: &str) -> Result<Asked, String> {
    let unknown = || format!("precision({figure}) is unknown: write mean, throughput, or a quantile such as p50, p90 or p99.9");
    match figure {
        "mean" => Ok(Asked::Mean),
        "throughput" => Ok(Asked::Throughput),
        "median" => Ok(Asked::Quantile(0.5)),
        _ => {
            let percent: f64 = figure.strip_prefix('p').and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?;
            if percent > 0.0 && percent < 100.0 { Ok(Asked::Quantile(percent / 100.0)) } else { Err(unknown()) }
        }
    }
}

fn precision(value: &str) -> Result<f64, String> {
    let wrong = || format!("{value:?} is no precision: write the interval's half-width as a part of the figure, such as 2%");
    let percent = value.strip_suffix('%').ok_or_else(wrong)?;
    let percent: f64 = percent.trim().parse().map_err(|_| wrong())?;
    if percent > 0.0 && percent < 100.0 { Ok(percent / 100.0) } else { Err(wrong()) }
}
