//! The figures of a run with their intervals: response times, quantiles, throughput, and increases of its meters.

use super::histogram::Histogram;
use super::interval::{ConfidenceInterval, Moments};
use super::student;
use super::windows::{Batches, ClassSums, RunWindow, RunWindows};
use std::borrow::Cow;
use std::fmt;

/// Fewest interactions beyond a quantile in a batch. Chosen by hand.
const FEWEST_BEYOND_INTERACTIONS: f64 = 100.0;
/// Fewest interactions in a batch for a mean, on average over the batches. Chosen by hand.
const FEWEST_MEAN_INTERACTIONS: f64 = 10.0;

/// A figure of a run. Times are in ns, rates in events a ns. A class is a number from 0; `None` stands for all classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// The mean response time.
    Mean(Option<usize>),
    /// The response time that a share (0 to 1) of the interactions do not exceed.
    Quantile(f64, Option<usize>),
    /// Interactions a ns.
    Throughput(Option<usize>),
    /// The increase of a meter per interaction. For the meter of users who wait, it is the mean response by Little's law, N / X -
    /// Z.
    Each(usize, Option<usize>),
    /// The increase of the first meter divided by that of the second. If the second is the clock, it is a utilisation or a mean
    /// queue.
    Share(usize, usize),
}

/// The reason why a run has no such figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFigure {
    /// The run is too short to have batches.
    RunTooShort,
    /// The batches have too few interactions.
    TooFew {
        /// Interactions in a batch, on average.
        has: u64,
        /// Fewest interactions in a batch.
        needs: u64,
    },
}

impl fmt::Display for MissingFigure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingFigure::RunTooShort => write!(out, "too short a run"),
            MissingFigure::TooFew { has, needs } => write!(out, "too few: {has} interactions a batch, {needs} needed"),
        }
    }
}

/// The batches of one stream, or of several independent streams of about the same length, from which figures are computed.
#[derive(Clone, Debug)]
pub struct BatchSample {
    streams: Result<Vec<Batches>, MissingFigure>,
    /// Half-width of the intervals, in standard errors.
    half_width_errors: f64,
    /// Whether the run ends when its intervals are narrow enough.
    is_stopped: bool,
}

impl BatchSample {
    /// The streams so far, for intervals that hold the true value with probability `confidence`.
    pub fn of(streams: &[&RunWindows], confidence: f64) -> BatchSample {
        let streams: Result<Vec<Batches>, MissingFigure> =
            streams.iter().map(|windows| windows.batches().ok_or(MissingFigure::RunTooShort)).collect();
        let degrees = streams.iter().flatten().map(|batches| batches.batches.len() as u32 - 1).sum();
        let half_width_errors = if degrees > 0 { student::quantile(0.5 + confidence / 2.0, degrees) } else { 0.0 };
        BatchSample { half_width_errors, streams, is_stopped: false }
    }

    /// The same for a run that ends when its intervals are narrow enough: they are corrected for the stop's optimism.
    pub fn stopped_when_precise(self) -> BatchSample {
        BatchSample { is_stopped: true, ..self }
    }

    /// Computes a figure with its interval.
    ///
    /// # Errors
    /// The reason why one of the streams has no such figure.
    pub fn estimate(&self, figure: Figure) -> Result<ConfidenceInterval, MissingFigure> {
        let streams = self.streams.as_ref().map_err(|missing| *missing)?;
        let moments: Vec<Moments> = streams.iter().map(|batches| moments(batches, figure)).collect::<Result<_, _>>()?;
        let all = Moments::combined(&moments);
        Ok(if self.is_stopped { all.stopped_interval(self.half_width_errors) } else { all.interval(self.half_width_errors) })
    }
}

/// Computes a figure of one stream or of several, with its interval; see [`BatchSample`].
///
/// # Errors
/// The reason why one of the streams has no such figure.
pub fn estimate(streams: &[&RunWindows], figure: Figure, confidence: f64) -> Result<ConfidenceInterval, MissingFigure> {
    BatchSample::of(streams, confidence).estimate(figure)
}

fn moments(stream: &Batches, figure: Figure) -> Result<Moments, MissingFigure> {
    let Batches { batches, length_ns } = stream;
    let by_batch = |quantity: &dyn Fn(&RunWindow) -> f64| batches.iter().map(quantity).collect::<Vec<f64>>();
    Ok(match figure {
        Figure::Throughput(class) => Moments::of_mean(&by_batch(&|batch| count(batch, class) / length_ns)),
        Figure::Share(part, total) => {
            Moments::of_ratio(&by_batch(&|batch| batch.gains[part]), &by_batch(&|batch| batch.gains[total]))
        }
        Figure::Mean(class) => {
            per_interaction(&by_batch(&|batch| response_ns(batch, class)), &by_batch(&|batch| count(batch, class)))?
        }
        Figure::Each(meter, class) => {
            per_interaction(&by_batch(&|batch| batch.gains[meter]), &by_batch(&|batch| count(batch, class)))?
        }
        Figure::Quantile(p, class) => quantile(batches, p, class)?,
    })
}

fn per_interaction(sums: &[f64], counts: &[f64]) -> Result<Moments, MissingFigure> {
    let has = counts.iter().sum::<f64>() / counts.len() as f64;
    if has < FEWEST_MEAN_INTERACTIONS {
        return Err(MissingFigure::TooFew { has: has as u64, needs: FEWEST_MEAN_INTERACTIONS as u64 });
    }
    Ok(Moments::of_ratio(sums, counts))
}

/// Computes the quantile of all batches together, with the deviations of the batches' own quantiles.
fn quantile(batches: &[RunWindow], p: f64, class: Option<usize>) -> Result<Moments, MissingFigure> {
    let histograms: Vec<Cow<Histogram>> = batches.iter().map(|batch| responses(batch, class)).collect();
    let needs = libm::ceil(FEWEST_BEYOND_INTERACTIONS / (1.0 - p).min(p)) as u64;
    let has = histograms.iter().map(|histogram| histogram.total()).sum::<u64>() / histograms.len() as u64;
    let fewest = histograms.iter().map(|histogram| histogram.total()).min().unwrap_or(0);
    if has < needs || fewest == 0 {
        return Err(MissingFigure::TooFew { has, needs });
    }
    let mut all = Histogram::default();
    histograms.iter().for_each(|histogram| all.merge(histogram));
    let quantile_of = |histogram: &Histogram| histogram.quantile(p).expect("a batch with interactions has quantiles");
    let quantile = quantile_of(&all);
    Ok(Moments::around(quantile, histograms.iter().map(|histogram| quantile_of(histogram) - quantile)))
}

fn count(batch: &RunWindow, class: Option<usize>) -> f64 {
    sum_of(batch, class, |sums| sums.count as f64)
}

fn response_ns(batch: &RunWindow, class: Option<usize>) -> f64 {
    sum_of(batch, class, |sums| sums.response_ns as f64)
}

/// A quantity of one class, or its sum over all classes.
fn sum_of(batch: &RunWindow, class: Option<usize>, quantity: impl Fn(&ClassSums) -> f64) -> f64 {
    match class {
        Some(class) => batch.classes.get(class).map_or(0.0, quantity),
        None => batch.classes.iter().map(quantity).sum(),
    }
}

fn responses(batch: &RunWindow, class: Option<usize>) -> Cow<'_, Histogram> {
    let classes = match class {
        Some(class) => batch.classes.get(class..=class).unwrap_or(&[]),
        None => &batch.classes,
    };
    if let [only] = classes {
        return Cow::Borrowed(&only.responses);
    }
    let mut all = Histogram::default();
    classes.iter().for_each(|sums| all.merge(&sums.responses));
    Cow::Owned(all)
}
