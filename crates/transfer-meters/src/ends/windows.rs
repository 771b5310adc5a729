//! The interrupt work of an end that was measured in windows of its time: sums, an estimate of the rest, and its error.
//!
//! The first window begins with the data and stands for itself; the rest of the time goes by the rates of the windows after it, each
//! for the time around it, or by the first one's where there are none. Their spread gives the standard error.

use crate::sums::Interrupts;
use std::time::{Duration, Instant};

/// So many windows after the first tell how far off the rest may be.
const ENOUGH: usize = 3;
/// A stretch that is shorter tells no rate, and needs none.
const LEAST: Duration = Duration::from_millis(1);

/// The interrupt work of an end, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndWork {
    /// Soft interrupts for its socket, on any processor.
    pub soft_ns: f64,
    /// Devices' for it, shared as the soft ones are: an estimate.
    pub hard_ns: f64,
    /// Of both kinds, whomever for, that came upon its thread.
    pub upon_ns: f64,
    /// Which part of its time was clocked: 1, all of it, and the figures are exact.
    pub clocked: f64,
    /// The standard error of what is for it less what came upon it; None where it is exact, or there were too few windows to tell.
    pub error_ns: Option<f64>,
}

impl EndWork {
    fn of(sums: Interrupts) -> EndWork {
        EndWork {
            soft_ns: sums.soft_for_it() as f64,
            hard_ns: sums.hard_for_it() as f64,
            upon_ns: (sums.soft_inside + sums.hard_inside) as f64,
            ..EndWork::default()
        }
    }

    fn plus(self, more: EndWork, times: f64) -> EndWork {
        EndWork {
            soft_ns: self.soft_ns + more.soft_ns * times,
            hard_ns: self.hard_ns + more.hard_ns * times,
            upon_ns: self.upon_ns + more.upon_ns * times,
            ..self
        }
    }

    fn net_ns(&self) -> f64 {
        self.soft_ns + self.hard_ns - self.upon_ns
    }
}

/// The sums of one end as they were read, each with when.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    last: Interrupts,
    /// Before its data began to move, and after all had.
    beside: EndWork,
    /// While they moved.
    windows: Vec<Window>,
    began: Option<Instant>,
    ended: Option<Instant>,
    /// Since when the window under way is clocked.
    since: Option<Instant>,
}

/// A stretch of an end's time that was clocked.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Since the end's data began to move.
    from: Duration,
    time: Duration,
    work: EndWork,
}

impl Window {
    fn to(&self) -> Duration {
        self.from + self.time
    }

    /// With one that is too short to stand by itself, which comes after it.
    fn with(self, more: &Window) -> Window {
        Window { time: self.time + more.time, work: self.work.plus(more.work, 1.0), ..self }
    }

    /// A second of it.
    fn rate(&self) -> EndWork {
        EndWork::default().plus(self.work, 1.0 / self.time.as_secs_f64())
    }
}

impl Log {
    /// Of an end whose sums are these.
    pub fn new(last: Interrupts) -> Log {
        Log { last, beside: EndWork::default(), windows: Vec::new(), began: None, ended: None, since: None }
    }

    /// Its data begin to move; a window is under way.
    pub fn enter(&mut self, now: Instant, sums: Interrupts) {
        self.beside = self.beside.plus(self.grown(sums), 1.0);
        (self.began, self.since) = (Some(now), Some(now));
    }

    /// A window begins; what came while it was made ready is none of it.
    pub(crate) fn begin_window(&mut self, now: Instant, sums: Interrupts) {
        (self.last, self.since) = (sums, Some(now));
    }

    /// The window under way ends.
    pub(crate) fn end_window(&mut self, now: Instant, sums: Interrupts) {
        let (work, since) = (self.grown(sums), self.since.take());
        match (since, self.began, self.ended) {
            (Some(since), Some(began), None) => {
                let (from, time) = (since.saturating_duration_since(began), now.saturating_duration_since(since));
                self.windows.push(Window { from, time, work });
            }
            _ => self.beside = self.beside.plus(work, 1.0),
        }
    }

    /// Its data had moved at `ended`; the sums are of `now`, for who asks may have waited.
    pub fn leave(&mut self, ended: Instant, now: Instant, sums: Interrupts) {
        if self.since.is_some() {
            self.end_window(now, sums);
        }
        self.ended = Some(ended);
    }

    /// What it comes to, with what came after its data had moved.
    pub fn work(&mut self, sums: Interrupts) -> EndWork {
        self.beside = self.beside.plus(self.grown(sums), 1.0);
        let whole = self.began.zip(self.ended).map_or(Duration::ZERO, |(began, ended)| ended.saturating_duration_since(began));
        estimate(self.beside, &self.windows, whole)
    }

    fn grown(&mut self, sums: Interrupts) -> EndWork {
        let work = EndWork::of(sums - self.last);
        self.last = sums;
        work
    }
}

/// Of `whole` what was clocked in `windows` stands for the rest, too: each for the time around it, the first for itself alone
/// unless there is no other.
fn estimate(beside: EndWork, windows: &[Window], whole: Duration) -> EndWork {
    let clocked: Duration = windows.iter().map(|window| window.time).sum();
    let windows = of_some_length(windows);
    let Some((first, later)) = windows.split_first() else {
        return EndWork { clocked: 1.0, ..beside };
    };
    if later.is_empty() && whole.saturating_sub(clocked) < LEAST || clocked.is_zero() {
        return EndWork { clocked: 1.0, ..beside.plus(first.work, 1.0) };
    }
    let share = clocked.as_secs_f64() / whole.as_secs_f64();
    let (beside, later) = if later.is_empty() { (beside, &windows[..]) } else { (beside.plus(first.work, 1.0), later) };
    let begins = if later.len() < windows.len() { first.to() } else { Duration::ZERO };
    let spans_s = stands_for(later, begins, whole);
    let rest = later.iter().zip(&spans_s).fold(EndWork::default(), |sum, (one, span_s)| sum.plus(one.rate(), *span_s));
    let error_ns = (later.len() >= ENOUGH).then(|| standard_error(later, &spans_s, rest.net_ns()));
    EndWork { clocked: share, error_ns, ..beside.plus(rest, 1.0) }
}

/// Those that are too short to tell a rate are one with what is before them.
fn of_some_length(windows: &[Window]) -> Vec<Window> {
    let mut found: Vec<Window> = Vec::new();
    for window in windows {
        match found.last_mut() {
            Some(before) if window.time < LEAST || before.time < LEAST => *before = before.with(window),
            _ => found.push(*window),
        }
    }
    found
}

/// For how many seconds each stands: from the middle between it and the one before to the middle between it and the next.
fn stands_for(windows: &[Window], begins: Duration, whole: Duration) -> Vec<f64> {
    let between = windows.windows(2).map(|two| (two[0].to() + two[1].from) / 2);
    let ends: Vec<Duration> = between.chain([whole]).collect();
    let starts = [begins].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).map(|(from, to)| to.saturating_sub(from).as_secs_f64()).collect()
}

/// Of the sum of windows' rates, each for its span, as if they had been drawn from one population.
fn standard_error(windows: &[Window], spans_s: &[f64], sum_ns: f64) -> f64 {
    let mean = sum_ns / spans_s.iter().sum::<f64>();
    let squares: f64 = windows.iter().map(|window| (window.rate().net_ns() - mean).powi(2)).sum();
    let beside_s: f64 = windows.iter().zip(spans_s).map(|(window, span_s)| (span_s - window.time.as_secs_f64()).powi(2)).sum();
    (squares / (windows.len() - 1) as f64 * beside_s).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(began: Instant, ms: u64) -> Instant {
        began + Duration::from_millis(ms)
    }

    /// Sums that grow by so much for the end.
    fn sums(soft: u64) -> Interrupts {
        Interrupts { soft, soft_ours: soft, soft_inside: soft / 4, ..Interrupts::default() }
    }

    #[test]
    fn what_is_clocked_without_a_break_is_exact() {
        let began = Instant::now();
        let mut log = Log::new(sums(0));
        log.enter(at(began, 0), sums(1000));
        log.leave(at(began, 90), at(began, 90), sums(9000));
        let work = log.work(sums(9400));
        assert_eq!((work.soft_ns, work.clocked, work.error_ns), (9400.0, 1.0, None));
        assert_eq!(work.upon_ns, 2350.0);
    }

    #[test]
    fn the_rest_of_the_time_goes_by_the_windows_after_the_first() {
        let began = Instant::now();
        let mut log = Log::new(sums(0));
        log.enter(at(began, 0), sums(0));
        log.end_window(at(began, 100), sums(400));
        for (window, grown) in [(1, 1400), (2, 2400), (3, 3400)] {
            log.begin_window(at(began, 250 * window), sums(grown - 1000));
            log.end_window(at(began, 250 * window + 10), sums(grown));
        }
        log.leave(at(began, 1130), at(began, 1130), sums(3400));
        let work = log.work(sums(3400));
        // 400 in the first 100 ms; 100 each of the other 1030 ms.
        assert!((work.soft_ns - 103_400.0).abs() < 1e-6, "{work:?}");
        assert!((work.clocked - 0.13 / 1.13).abs() < 1e-9);
        assert_eq!(work.error_ns, Some(0.0));
    }

    #[test]
    fn what_comes_while_a_window_is_made_ready_and_after_the_data_have_moved_is_not_in_the_estimate() {
        let began = Instant::now();
        let mut log = Log::new(sums(0));
        log.enter(at(began, 0), sums(0));
        log.end_window(at(began, 20), sums(200));
        log.begin_window(at(began, 100), sums(5000));
        log.end_window(at(began, 110), sums(5100));
        log.leave(at(began, 220), at(began, 300), sums(5100));
        // 200 in the first 20 ms; 100 in each 10 of the other 200.
        assert!((log.work(sums(5100)).soft_ns - 2200.0).abs() < 1e-9);
    }

    fn window(from_ms: u64, soft_ns: f64) -> Window {
        let work = EndWork { soft_ns, ..EndWork::default() };
        Window { from: Duration::from_millis(from_ms), time: Duration::from_millis(10), work }
    }

    #[test]
    fn windows_that_differ_leave_a_doubt_and_too_few_tell_none() {
        let second = Duration::from_secs(1);
        let four = [window(0, 9.0), window(165, 1.0), window(495, 2.0), window(825, 3.0)];
        let told = estimate(EndWork::default(), &four, second);
        // 100 a second for 325 ms, 200 for 330 ms, 300 for 335 ms.
        assert!((told.soft_ns - (9.0 + 32.5 + 66.0 + 100.5)).abs() < 1e-9, "{told:?}");
        assert!(told.error_ns.is_some_and(|error| (error - 55.4).abs() < 0.1), "{told:?}");
        assert_eq!(estimate(EndWork::default(), &four[..3], second).error_ns, None);
    }

    #[test]
    fn a_window_stands_for_the_time_around_it() {
        let early = [window(0, 0.0), window(20, 1.0), window(40, 1.0), window(60, 1.0), window(500, 5.0)];
        let told = estimate(EndWork::default(), &early, Duration::from_secs(1));
        // The middle between the last two is at 285 ms.
        assert!((told.soft_ns - (27.5 + 500.0 * 0.715)).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_window_that_is_too_short_to_tell_a_rate_tells_none() {
        let mut short = window(900, 50.0);
        short.time = Duration::from_micros(10);
        let told = estimate(EndWork::default(), &[window(0, 0.0), window(500, 1.0), short], Duration::from_secs(1));
        assert!((told.soft_ns - 51.0 / 0.010_01 * 0.99).abs() < 1e-6, "{told:?}");
    }

    #[test]
    fn an_end_that_is_over_before_its_second_window_goes_by_its_first() {
        let began = Instant::now();
        let mut log = Log::new(sums(0));
        log.enter(at(began, 0), sums(0));
        log.end_window(at(began, 100), sums(400));
        log.leave(at(began, 200), at(began, 200), sums(400));
        let work = log.work(sums(400));
        assert_eq!((work.soft_ns, work.clocked), (800.0, 0.5));
    }
}
