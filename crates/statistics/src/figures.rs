//! The figures that a run is asked for: response times, quantiles, throughput, and what its meters gained.

use super::histogram::Histogram;
use super::interval::{Interval, Moments};
use super::student;
use super::windows::{Batches, Sum, Window, Windows};
use std::borrow::Cow;
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

/// The batches of one stream, or of several independent ones of about the same length, to take figures from.
#[derive(Clone, Debug)]
pub struct Sample {
    streams: Result<Vec<Batches>, Lacking>,
    /// So many standard errors to each side.
    t: f64,
}

impl Sample {
    /// The streams so far, for intervals that hold the truth with probability `confidence`.
    pub fn of(streams: &[&Windows], confidence: f64) -> Sample {
        let streams: Result<Vec<Batches>, Lacking> =
            streams.iter().map(|windows| windows.batches().ok_or(Lacking::Short)).collect();
        let degrees = streams.iter().flatten().map(|batches| batches.whole.len() as u32 - 1).sum();
        Sample { t: if degrees > 0 { student::quantile(0.5 + confidence / 2.0, degrees) } else { 0.0 }, streams }
    }

    /// A figure with its interval.
    ///
    /// # Errors
    /// What is lacking, in any of the streams.
    pub fn estimate(&self, figure: Figure) -> Result<Interval, Lacking> {
        let streams = self.streams.as_ref().map_err(|lacking| *lacking)?;
        let moments: Vec<Moments> = streams.iter().map(|batches| moments(batches, figure)).collect::<Result<_, _>>()?;
        Ok(Moments::combined(&moments).interval(self.t))
    }
}

/// A figure with its interval, of one stream or of several; see [`Sample`].
///
/// # Errors
/// What is lacking, in any of the streams.
pub fn estimate(streams: &[&Windows], figure: Figure, confidence: f64) -> Result<Interval, Lacking> {
    Sample::of(streams, confidence).estimate(figure)
}

fn moments(stream: &Batches, figure: Figure) -> Result<Moments, Lacking> {
    let Batches { whole: batches, length_ns } = stream;
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
        Figure::Quantile(p, class) => quantile(batches, p, class)?,
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
    let parts: Vec<Cow<Histogram>> = batches.iter().map(|batch| responses(batch, class)).collect();
    let needs = libm::ceil(BEYOND / (1.0 - p).min(p)) as u64;
    let has = parts.iter().map(|part| part.total()).sum::<u64>() / parts.len() as u64;
    let least = parts.iter().map(|part| part.total()).min().unwrap_or(0);
    if has < needs || least == 0 {
        return Err(Lacking::TooFew { has, needs });
    }
    let mut all = Histogram::default();
    parts.iter().for_each(|part| all.merge(part));
    let of = |histogram: &Histogram| histogram.quantile(p).expect("a batch with interactions has quantiles");
    let value = of(&all);
    Ok(Moments::around(value, parts.iter().map(|part| of(part) - value)))
}

fn count(batch: &Window, class: Option<usize>) -> f64 {
    of(batch, class, |sum| sum.count as f64)
}

fn response(batch: &Window, class: Option<usize>) -> f64 {
    of(batch, class, |sum| sum.response_ns as f64)
}

fn of(batch: &Window, class: Option<usize>, what: impl Fn(&Sum) -> f64) -> f64 {
    match class {
        Some(class) => batch.classes.get(class).map_or(0.0, what),
        None => batch.classes.iter().map(what).sum(),
    }
}

fn responses(batch: &Window, class: Option<usize>) -> Cow<'_, Histogram> {
    let wanted = match class {
        Some(class) => batch.classes.get(class..=class).unwrap_or(&[]),
        None => &batch.classes,
    };
    if let [only] = wanted {
        return Cow::Borrowed(&only.responses);
    }
    let mut all = Histogram::default();
    wanted.iter().for_each(|sum| all.merge(&sum.responses));
    Cow::Owned(all)
}
