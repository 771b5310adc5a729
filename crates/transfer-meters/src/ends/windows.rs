//! Estimates an end's interrupt work from windows of its time, with a standard error.
//!
//! The first window begins with the data and counts only for itself. Each later window gives the rate for the time around it; without
//! a later window the first one's rate counts for all time. The spread of the rates gives the standard error.

use crate::sums::NetworkInterruptTime;
use std::time::{Duration, Instant};

/// Number of windows after the first from which on a standard error is estimated.
const FEWEST_ERROR_WINDOWS: usize = 3;
/// Shortest window that has a rate of its own, and shortest unmeasured time that is estimated.
const SHORTEST_RATED_WINDOW: Duration = Duration::from_millis(1);

/// The interrupt work of an end: an [`InterruptWork`] that is not rounded yet.
///
/// [`InterruptWork`]: loadgo_transfer::measuring::interrupts::InterruptWork
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EndWork {
    pub soft_ns: f64,
    pub hard_ns: f64,
    pub upon_ns: f64,
    pub clocked: f64,
    pub error_ns: Option<f64>,
}

impl EndWork {
    fn from_totals(totals: NetworkInterruptTime) -> EndWork {
        EndWork {
            soft_ns: totals.soft_interrupt_ns() as f64,
            hard_ns: totals.device_interrupt_ns() as f64,
            upon_ns: (totals.soft_inside + totals.hard_inside) as f64,
            ..EndWork::default()
        }
    }

    /// This work plus `factor` times `more`.
    fn plus(self, more: EndWork, factor: f64) -> EndWork {
        EndWork {
            soft_ns: self.soft_ns + more.soft_ns * factor,
            hard_ns: self.hard_ns + more.hard_ns * factor,
            upon_ns: self.upon_ns + more.upon_ns * factor,
            ..self
        }
    }

    fn net_ns(&self) -> f64 {
        self.soft_ns + self.hard_ns - self.upon_ns
    }
}

/// Readings of one end's totals, and the windows that they give.
#[derive(Clone, Debug)]
pub(crate) struct EndReadings {
    last: NetworkInterruptTime,
    /// Work before the data began to move, and after all had moved.
    outside: EndWork,
    /// Work while the data moved.
    windows: Vec<ClockedWindow>,
    began: Option<Instant>,
    ended: Option<Instant>,
    /// Beginning of the present window.
    window_began: Option<Instant>,
}

/// A measured window of an end's time.
#[derive(Clone, Copy, Debug)]
struct ClockedWindow {
    /// Beginning, since the end's data began to move.
    from: Duration,
    time: Duration,
    work: EndWork,
}

impl ClockedWindow {
    fn to(&self) -> Duration {
        self.from + self.time
    }

    /// This window joined with a later one that is too short to have a rate.
    fn joined_with(self, more: &ClockedWindow) -> ClockedWindow {
        ClockedWindow { time: self.time + more.time, work: self.work.plus(more.work, 1.0), ..self }
    }

    /// Work for each second of the window.
    fn rate(&self) -> EndWork {
        EndWork::default().plus(self.work, 1.0 / self.time.as_secs_f64())
    }
}

impl EndReadings {
    /// The readings of a new end, whose first totals are `last`.
    pub fn new(last: NetworkInterruptTime) -> EndReadings {
        EndReadings { last, outside: EndWork::default(), windows: Vec::new(), began: None, ended: None, window_began: None }
    }

    /// Notes that the data begin to move, within a window.
    pub fn begin_data(&mut self, now: Instant, totals: NetworkInterruptTime) {
        self.outside = self.outside.plus(self.increase_to(totals), 1.0);
        (self.began, self.window_began) = (Some(now), Some(now));
    }

    /// Begins a window. Work since the last reading, while the programs were attached, is not part of it.
    pub(crate) fn begin_window(&mut self, now: Instant, totals: NetworkInterruptTime) {
        (self.last, self.window_began) = (totals, Some(now));
    }

    /// Ends the present window.
    pub(crate) fn end_window(&mut self, now: Instant, totals: NetworkInterruptTime) {
        let (work, window_began) = (self.increase_to(totals), self.window_began.take());
        match (window_began, self.began, self.ended) {
            (Some(window_began), Some(began), None) => {
                let from = window_began.saturating_duration_since(began);
                let time = now.saturating_duration_since(window_began);
                self.windows.push(ClockedWindow { from, time, work });
            }
            _ => self.outside = self.outside.plus(work, 1.0),
        }
    }

    /// Notes that the data had moved at `ended`. The totals were read at `now`, which may be later.
    pub fn end_data(&mut self, ended: Instant, now: Instant, totals: NetworkInterruptTime) {
        if self.window_began.is_some() {
            self.end_window(now, totals);
        }
        self.ended = Some(ended);
    }

    /// The end's work up to `totals`, including the work after its data had moved.
    pub fn work(&mut self, totals: NetworkInterruptTime) -> EndWork {
        self.outside = self.outside.plus(self.increase_to(totals), 1.0);
        let data_time =
            self.began.zip(self.ended).map_or(Duration::ZERO, |(began, ended)| ended.saturating_duration_since(began));
        estimate(self.outside, &self.windows, data_time)
    }

    fn increase_to(&mut self, totals: NetworkInterruptTime) -> EndWork {
        let work = EndWork::from_totals(totals - self.last);
        self.last = totals;
        work
    }
}

/// Estimates the work of `data_time` from its `windows`, and adds the work `outside` of it. A window counts for the time around it;
/// the first one counts only for itself if there are others.
fn estimate(outside: EndWork, windows: &[ClockedWindow], data_time: Duration) -> EndWork {
    let clocked: Duration = windows.iter().map(|window| window.time).sum();
    let windows = join_short_windows(windows);
    let Some((first, later)) = windows.split_first() else {
        return EndWork { clocked: 1.0, ..outside };
    };
    if later.is_empty() && data_time.saturating_sub(clocked) < SHORTEST_RATED_WINDOW || clocked.is_zero() {
        return EndWork { clocked: 1.0, ..outside.plus(first.work, 1.0) };
    }
    let share = clocked.as_secs_f64() / data_time.as_secs_f64();
    let (outside, later) = if later.is_empty() { (outside, &windows[..]) } else { (outside.plus(first.work, 1.0), later) };
    let begins = if later.len() < windows.len() { first.to() } else { Duration::ZERO };
    let spans_s = represented_spans_s(later, begins, data_time);
    let estimated = later.iter().zip(&spans_s).fold(EndWork::default(), |sum, (window, span_s)| sum.plus(window.rate(), *span_s));
    let error_ns = (later.len() >= FEWEST_ERROR_WINDOWS).then(|| standard_error_ns(later, &spans_s, estimated.net_ns()));
    EndWork { clocked: share, error_ns, ..outside.plus(estimated, 1.0) }
}

/// Joins each window that is too short to have a rate with the one before it.
fn join_short_windows(windows: &[ClockedWindow]) -> Vec<ClockedWindow> {
    let is_short = |window: &ClockedWindow| window.time < SHORTEST_RATED_WINDOW;
    let mut joined: Vec<ClockedWindow> = Vec::new();
    for window in windows {
        match joined.last_mut() {
            Some(before) if is_short(window) || is_short(before) => *before = before.joined_with(window),
            _ => joined.push(*window),
        }
    }
    joined
}

/// Seconds that each window represents: from the middle between it and the one before, to the middle between it and the next.
fn represented_spans_s(windows: &[ClockedWindow], begins: Duration, data_time: Duration) -> Vec<f64> {
    let middles = windows.windows(2).map(|pair| (pair[0].to() + pair[1].from) / 2);
    let ends: Vec<Duration> = middles.chain([data_time]).collect();
    let starts = [begins].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(from, to)| to.saturating_sub(from).as_secs_f64()).collect()
}

/// Standard error of `sum_ns`, the sum of each window's rate times its span, as if all rates were drawn from one population.
fn standard_error_ns(windows: &[ClockedWindow], spans_s: &[f64], sum_ns: f64) -> f64 {
    let mean = sum_ns / spans_s.iter().sum::<f64>();
    let squares: f64 = windows.iter().map(|window| (window.rate().net_ns() - mean).powi(2)).sum();
    let unmeasured_s: f64 =
        windows.iter().zip(spans_s).map(|(window, span_s)| (span_s - window.time.as_secs_f64()).powi(2)).sum();
    (squares / (windows.len() - 1) as f64 * unmeasured_s).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(began: Instant, ms: u64) -> Instant {
        began + Duration::from_millis(ms)
    }

    /// Totals with `soft` nanoseconds of soft interrupts for the end.
    fn totals(soft: u64) -> NetworkInterruptTime {
        NetworkInterruptTime { soft, soft_ours: soft, soft_inside: soft / 4, ..NetworkInterruptTime::default() }
    }

    #[test]
    fn work_that_is_measured_without_a_break_is_exact() {
        let began = Instant::now();
        let mut readings = EndReadings::new(totals(0));
        readings.begin_data(at(began, 0), totals(1000));
        readings.end_data(at(began, 90), at(began, 90), totals(9000));
        let work = readings.work(totals(9400));
        assert_eq!((work.soft_ns, work.clocked, work.error_ns), (9400.0, 1.0, None));
        assert_eq!(work.upon_ns, 2350.0);
    }

    #[test]
    fn the_windows_after_the_first_stand_for_the_rest_of_the_time() {
        let began = Instant::now();
        let mut readings = EndReadings::new(totals(0));
        readings.begin_data(at(began, 0), totals(0));
        readings.end_window(at(began, 100), totals(400));
        for (window, total) in [(1, 1400), (2, 2400), (3, 3400)] {
            readings.begin_window(at(began, 250 * window), totals(total - 1000));
            readings.end_window(at(began, 250 * window + 10), totals(total));
        }
        readings.end_data(at(began, 1130), at(began, 1130), totals(3400));
        let work = readings.work(totals(3400));
        // 400 in the first 100 ms; 100 each of the other 1030 ms.
        assert!((work.soft_ns - 103_400.0).abs() < 1e-6, "{work:?}");
        assert!((work.clocked - 0.13 / 1.13).abs() < 1e-9);
        assert_eq!(work.error_ns, Some(0.0));
    }

    #[test]
    fn work_while_a_window_is_prepared_or_after_the_data_have_moved_is_not_in_the_estimate() {
        let began = Instant::now();
        let mut readings = EndReadings::new(totals(0));
        readings.begin_data(at(began, 0), totals(0));
        readings.end_window(at(began, 20), totals(200));
        readings.begin_window(at(began, 100), totals(5000));
        readings.end_window(at(began, 110), totals(5100));
        readings.end_data(at(began, 220), at(began, 300), totals(5100));
        // 200 in the first 20 ms; 100 in each 10 of the other 200.
        assert!((readings.work(totals(5100)).soft_ns - 2200.0).abs() < 1e-9);
    }

    fn window(from_ms: u64, soft_ns: f64) -> ClockedWindow {
        let work = EndWork { soft_ns, ..EndWork::default() };
        ClockedWindow { from: Duration::from_millis(from_ms), time: Duration::from_millis(10), work }
    }

    #[test]
    fn windows_that_differ_give_an_error_and_too_few_give_none() {
        let second = Duration::from_secs(1);
        let four = [window(0, 9.0), window(165, 1.0), window(495, 2.0), window(825, 3.0)];
        let work = estimate(EndWork::default(), &four, second);
        // 100 a second for 325 ms, 200 for 330 ms, 300 for 335 ms.
        assert!((work.soft_ns - (9.0 + 32.5 + 66.0 + 100.5)).abs() < 1e-9, "{work:?}");
        assert!(work.error_ns.is_some_and(|error| (error - 55.4).abs() < 0.1), "{work:?}");
        assert_eq!(estimate(EndWork::default(), &four[..3], second).error_ns, None);
    }

    #[test]
    fn a_window_counts_for_the_time_around_it() {
        let early = [window(0, 0.0), window(20, 1.0), window(40, 1.0), window(60, 1.0), window(500, 5.0)];
        let work = estimate(EndWork::default(), &early, Duration::from_secs(1));
        // The middle between the last two is at 285 ms.
        assert!((work.soft_ns - (27.5 + 500.0 * 0.715)).abs() < 1e-9, "{work:?}");
    }

    #[test]
    fn a_window_that_is_too_short_gives_no_rate() {
        let mut short = window(900, 50.0);
        short.time = Duration::from_micros(10);
        let work = estimate(EndWork::default(), &[window(0, 0.0), window(500, 1.0), short], Duration::from_secs(1));
        assert!((work.soft_ns - 51.0 / 0.010_01 * 0.99).abs() < 1e-6, "{work:?}");
    }

    #[test]
    fn an_end_without_a_second_window_is_estimated_by_its_first() {
        let began = Instant::now();
        let mut readings = EndReadings::new(totals(0));
        readings.begin_data(at(began, 0), totals(0));
        readings.end_window(at(began, 100), totals(400));
        readings.end_data(at(began, 200), at(began, 200), totals(400));
        let work = readings.work(totals(400));
        assert_eq!((work.soft_ns, work.clocked), (800.0, 0.5));
    }
}
