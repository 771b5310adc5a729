//! The figures that a run is asked for: response times, quantiles, throughput, and what its meters gained.

use super::histogram::Histogram;
use super::interval::{Interval, Moments};
use super::windows::{Window, Windows};
use std::fmt;

/// Interactions that each batch must have beyond a quantile.
const BEYOND: f64 = 100.0;
/// Interactions that each batch must have for a mean, on average.
const FOR_A_MEAN: f64 = 10.0;

/// A figure of a run. Times are in ns, rates in events a ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// The mean response time of a class, or of all.
    Mean(Option<usize>),
    /// The response time that a share (0 to 1) of a class's interactions, or of all, do not exceed.
    Quantile(f64, Option<usize>),
    /// Interactions a ns of a class, or of all.
    Throughput(Option<usize>),
    /// What a meter gains for each interaction: N / X - Z, where the meter is the users that do not think.
    Each(usize, Option<usize>),
    /// What a meter gains while another gains 1: a utilisation or a mean queue, where the other is the clock.
    Share(usize, usize),
}

/// Why a figure cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// The run is too short to have batches.
    Short,
    /// Each batch has `has` interactions that count for it and must have `needs`.
    TooFew {
        /// On average.
        has: u64,
        /// At least.
        needs: u64,
    },
}

impl fmt::Display for Lacking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lacking::Short => write!(out, "too short a run"),
            Lacking::TooFew { has, needs } => write!(out, "too few: {has} interactions a batch, {needs} needed"),
        }
    }
}

/// A figure with its interval, of one stream or of several independent ones of about the same length.
///
/// # Errors
/// What is lacking, in any of the streams.
pub fn estimate(streams: &[&Windows], figure: Figure, confidence: f64) -> Result<Interval, Lacking> {
    let moments: Vec<Moments> = streams.iter().map(|windows| moments(windows, figure)).collect::<Result<_, _>>()?;
    Ok(Moments::combined(&moments).interval(confidence))
}

fn moments(windows: &Windows, figure: Figure) -> Result<Moments, Lacking> {
    let (batches, length_ns) = windows.batches().ok_or(Lacking::Short)?;
    let column = |of: &dyn Fn(&Window) -> f64| batches.iter().map(of).collect::<Vec<f64>>();
    Ok(match figure {
        Figure::Throughput(class) => Moments::of_mean(&column(&|batch| count(batch, class) / length_ns)),
        Figure::Share(part, whole) => {
            Moments::of_ratio(&column(&|batch| batch.gains[part]), &column(&|batch| batch.gains[whole]))
        }
        Figure::Mean(class) => per_interaction(&column(&|batch| response(batch, class)), &column(&|batch| count(batch, class)))?,
        Figure::Each(meter, class) => {
            per_interaction(&column(&|batch| batch.gains[meter]), &column(&|batch| count(batch, class)))?
        }
        Figure::Quantile(p, class) => quantile(&batches, p, class)?,
    })
}

fn per_interaction(sums: &[f64], counts: &[f64]) -> Result<Moments, Lacking> {
    let has = counts.iter().sum::<f64>() / counts.len() as f64;
    if has < FOR_A_MEAN {
        return Err(Lacking::TooFew { has: has as u64, needs: FOR_A_MEAN as u64 });
    }
    Ok(Moments::of_ratio(sums, counts))
}

/// The quantile of all batches together, with the batches' quantiles around it.
fn quantile(batches: &[Window], p: f64, class: Option<usize>) -> Result<Moments, Lacking> {
    let parts: Vec<Histogram> = batches.iter().map(|batch| responses(batch, class)).collect();
    let needs = libm::ceil(BEYOND / (1.0 - p).min(p)) as u64;
    let mut all = Histogram::default();
    parts.iter().for_each(|part| all.merge(part));
    let has = all.total() / parts.len() as u64;
    let values: Option<Vec<f64>> = parts.iter().map(|part| part.quantile(p)).collect();
    match (all.quantile(p), values) {
        (Some(value), Some(values)) if has >= needs => Ok(Moments::around(value, values.iter().map(|v| v - value))),
        _ => Err(Lacking::TooFew { has, needs }),
    }
}

fn count(batch: &Window, class: Option<usize>) -> f64 {
    of(batch, class, |sum| sum.count as f64)
}

fn response(batch: &Window, class: Option<usize>) -> f64 {
    of(batch, class, |sum| sum.response_ns as f64)
}

fn of(batch: &Window, class: Option<usize>, what: impl Fn(&super::windows::Sum) -> f64) -> f64 {
    match class {
        Some(class) => batch.classes.get(class).map_or(0.0, what),
        None => batch.classes.iter().map(what).sum(),
    }
}

fn responses(batch: &Window, class: Option<usize>) -> Histogram {
    let mut all = Histogram::default();
    let wanted = batch.classes.iter().enumerate().filter(|(index, _)| class.is_none_or(|class| class == *index));
    wanted.for_each(|(_, sum)| all.merge(&sum.responses));
    all
}
