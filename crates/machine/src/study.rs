//! Studies of a machine under its own load: simulations until a stop rule is met, with intervals for each figure.
//!
//! A stream is one long run. Several independent streams use several processors, each on its own thread. All have the same
//! number of interactions, and the stop rule is checked only between two rounds. The result therefore does not depend on the
//! scheduling of the threads. A sweep is many studies of one stream each, one at a time on every thread.

mod report;
mod stream;
#[cfg(test)]
mod tests;

pub use report::{ClassReport, FigureResult, Report, StationReport};

use super::engine::EngineError;
use super::spec::Machine;
use loadgo_core::random::derive_seed;
use loadgo_core::stop::StopRequest;
use loadgo_statistics::{FIRST_LOOK_INTERACTIONS, RunWindows, StopReason, StopRule};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use stream::StudyStream;

/// A machine to be studied, with its seed.
#[derive(Clone, Debug)]
pub struct StudySubject {
    /// The machine, with its own load.
    pub machine: Arc<Machine>,
    /// The seed, from which the streams' seeds are derived.
    pub seed: u64,
}

/// Studies a machine over `streams` independent streams until the stop rule is met or `stop` is set.
///
/// # Errors
/// The machine cannot work, has no load of its own, or comes to a standstill.
pub fn study(subject: &StudySubject, streams: usize, until: &StopRule, stop: &StopRequest) -> Result<Report, EngineError> {
    let seeds = (0..streams as u64).map(|stream| if stream == 0 { subject.seed } else { derive_seed(subject.seed, stream) });
    let mut runs = seeds.map(|seed| StudyStream::new(&subject.machine, seed)).collect::<Result<Vec<_>, _>>()?;
    let most = until.interactions.unwrap_or(u64::MAX).div_ceil(streams as u64);
    let mut target = if until.precisions.is_empty() { most } else { FIRST_LOOK_INTERACTIONS.min(most) };
    let end = loop {
        advance(&mut runs, target, until, stop)?;
        let windows: Vec<&RunWindows> = runs.iter().map(StudyStream::windows).collect();
        let (count, at) = runs.iter().map(|run| (run.interactions(), run.now())).fold((0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
        if stop.is_set() {
            break StopReason::Stopped;
        }
        if until.is_precise(&windows) {
            break StopReason::Precision;
        }
        if until.is_over(count, at) {
            break if until.precisions.is_empty() { StopReason::Length } else { StopReason::LimitReached };
        }
        target = (target * 2).min(most);
    };
    Ok(report::of(&subject.machine, &runs, end, until))
}

/// Studies each subject over one stream on `threads` threads, and returns the reports in the order of the subjects.
pub fn sweep(
    subjects: &[StudySubject],
    threads: usize,
    until: &StopRule,
    stop: &StopRequest,
) -> Vec<Result<Report, EngineError>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((index, subject)) = take(&next, subjects) {
            done.push((index, study(subject, 1, until, stop)));
        }
        done
    };
    let mut reports: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(subjects.len())).map(|_| scope.spawn(work)).collect();
        let done_here = work();
        let done_by_others = workers.into_iter().flat_map(|worker| worker.join().expect("a study does not panic"));
        done_here.into_iter().chain(done_by_others).collect()
    });
    reports.sort_by_key(|(index, _)| *index);
    reports.into_iter().map(|(_, report)| report).collect()
}

fn take<'a>(next: &AtomicUsize, subjects: &'a [StudySubject]) -> Option<(usize, &'a StudySubject)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    subjects.get(index).map(|subject| (index, subject))
}

/// Runs every stream up to its `target`th interaction, each on its own thread.
fn advance(runs: &mut [StudyStream], target: u64, until: &StopRule, stop: &StopRequest) -> Result<(), EngineError> {
    let time_ns = until.time_ns.unwrap_or(u64::MAX);
    if let [only] = runs {
        return only.advance(target, time_ns, stop);
    }
    let outcomes: Vec<Result<(), EngineError>> = thread::scope(|scope| {
        let threads: Vec<_> = runs.iter_mut().map(|run| scope.spawn(move || run.advance(target, time_ns, stop))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a stream does not panic")).collect()
    });
    outcomes.into_iter().collect()
}
