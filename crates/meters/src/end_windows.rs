//! What an end's interrupts came to, of which all were clocked or those in windows of its time: sums as they grow, and an estimate.
//!
//! The first window begins with the data and stands for itself; the rest of the time goes by the mean rate of the windows after it,
//! or by the first one's where there are none. Their spread gives the standard error.

use crate::socket_sums::Interrupts;
use std::time::{Duration, Instant};

/// So many windows after the first tell how far off the rest may be.
const ENOUGH: usize = 3;

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

/// The sums of one end as they were read.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    last: Interrupts,
    /// Before its data began to move, and after all had.
    beside: EndWork,
    /// While they moved: how long was clocked, and what there was.
    windows: Vec<(Duration, EndWork)>,
    began: Option<Instant>,
    ended: Option<Instant>,
    /// Since when the window under way is clocked.
    since: Option<Instant>,
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

    /// A window begins.
    pub fn begin_window(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// The window under way ends.
    pub fn end_window(&mut self, now: Instant, sums: Interrupts) {
        let (work, since) = (self.grown(sums), self.since.take());
        match since.filter(|_| self.began.is_some() && self.ended.is_none()) {
            Some(since) => self.windows.push((now.saturating_duration_since(since), work)),
            None => self.beside = self.beside.plus(work, 1.0),
        }
    }

    /// Its data have moved.
    pub fn leave(&mut self, now: Instant, sums: Interrupts) {
        if self.since.is_some() {
            self.end_window(now, sums);
        }
        self.ended = Some(now);
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

/// Of `whole` what was clocked in `windows` stands for the rest, too.
fn estimate(beside: EndWork, windows: &[(Duration, EndWork)], whole: Duration) -> EndWork {
    let sum = windows.iter().fold(beside, |sum, (_, work)| sum.plus(*work, 1.0));
    let clocked: Duration = windows.iter().map(|(time, _)| *time).sum();
    let rest_s = whole.saturating_sub(clocked).as_secs_f64();
    let later = if windows.len() > 1 { &windows[1..] } else { windows };
    let later_s: f64 = later.iter().map(|(time, _)| time.as_secs_f64()).sum();
    if windows.len() <= 1 && rest_s < 1e-3 || later_s == 0.0 {
        return EndWork { clocked: 1.0, ..sum };
    }
    let mean = later.iter().fold(EndWork::default(), |mean, (_, work)| mean.plus(*work, 1.0 / later_s));
    let error_ns = (windows.len() > ENOUGH).then(|| rest_s * standard_error(later, mean.net_ns()));
    EndWork { clocked: clocked.as_secs_f64() / whole.as_secs_f64(), error_ns, ..sum.plus(mean, rest_s) }
}

/// Of the mean rate of windows, a second (the ratio estimator's, Cochran, Sampling Techniques, 6.4).
fn standard_error(windows: &[(Duration, EndWork)], mean: f64) -> f64 {
    let count = windows.len() as f64;
    let length_s = windows.iter().map(|(time, _)| time.as_secs_f64()).sum::<f64>() / count;
    let squares: f64 = windows.iter().map(|(time, work)| (work.net_ns() - mean * time.as_secs_f64()).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt() / length_s
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
        log.leave(at(began, 90), sums(9000));
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
            log.begin_window(at(began, 250 * window));
            log.end_window(at(began, 250 * window + 10), sums(grown));
        }
        log.leave(at(began, 1130), sums(3400));
        let work = log.work(sums(3400));
        // 400 in the first 100 ms; 100 each of the other 1030 ms.
        assert!((work.soft_ns - 103_400.0).abs() < 1e-6, "{work:?}");
        assert!((work.clocked - 0.13 / 1.13).abs() < 1e-9);
        assert_eq!(work.error_ns, Some(0.0));
    }

    #[test]
    fn windows_that_differ_leave_a_doubt_and_too_few_tell_none() {
        let window = |soft_ns| (Duration::from_millis(10), EndWork { soft_ns, ..EndWork::default() });
        let second = Duration::from_secs(1);
        let four = [window(9.0), window(1.0), window(2.0), window(3.0)];
        let told = estimate(EndWork::default(), &four, second);
        // The mean is 200 a second, give or take 100 / sqrt(3), over 0.96 s.
        assert!((told.soft_ns - 207.0).abs() < 1e-9, "{told:?}");
        assert!(told.error_ns.is_some_and(|error| (error - 96.0 / 3f64.sqrt()).abs() < 1e-9), "{told:?}");
        assert_eq!(estimate(EndWork::default(), &four[..3], second).error_ns, None);
    }

    #[test]
    fn an_end_that_is_over_before_its_second_window_goes_by_its_first() {
        let began = Instant::now();
        let mut log = Log::new(sums(0));
        log.enter(at(began, 0), sums(0));
        log.end_window(at(began, 100), sums(400));
        log.leave(at(began, 200), sums(400));
        let work = log.work(sums(400));
        assert_eq!((work.soft_ns, work.clocked), (800.0, 0.5));
    }
}
