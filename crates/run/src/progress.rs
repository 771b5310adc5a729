//! Progress of a run: counted by the driver's thread, read by any other.

use crate::run_spec::RunSpec;
use crate::span_end::SpanEnd;
use loadgo_core::record::{InteractionRow, LostRow, Phase, Recorder, ScreenRow, SessionRow};
use loadgo_core::system::Barrier;
use loadgo_core::time::Instant;
use loadgo_statistics::{Estimator, StopReason};
use loadgo_store::DriverRecorder;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// `log-in`, `warm-up`, `steady` or `ramp-down`.
    pub phase: &'static str,
    /// Time since the run began, by the system's own clock.
    pub at: Instant,
    /// On a simulated machine, the seconds that the computation has taken so far; `None` on a host.
    pub computed_s: Option<f64>,
    /// The clock's zero on the host's monotonic clock, in nanoseconds; 0 for a virtual clock.
    pub origin_ns: u64,
    /// The last barrier that the driver has come to.
    pub reached: Option<Barrier>,
    /// Number of users who have logged in so far.
    pub logged_in: u32,
    /// Number of users that the load has.
    pub users: u32,
    /// Number of interactions so far.
    pub interactions: u64,
    /// Number of interactions of the whole run, if it is known beforehand.
    pub interactions_expected: Option<u64>,
}

/// The caller's decision after each report of a run's progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The run goes on.
    Continue,
    /// The run ends in order; its outcome is `stopped`.
    Stop,
    /// The caller itself has failed, with this reason: the run ends in order, and its outcome is `failed`.
    Fail(String),
}

/// The progress, as the driver's thread counts it for other threads.
#[derive(Debug, Default)]
pub(crate) struct RunCounters {
    phase: AtomicU8,
    /// Number of barriers that the driver has come to.
    barriers: AtomicU8,
    logged_in: AtomicU32,
    interactions: AtomicU64,
    /// The meters' spans end where a phase begins.
    pub span_end: SpanEnd,
}

impl RunCounters {
    pub(crate) fn at(&self, spec: &RunSpec, at: Instant, origin_ns: u64) -> Progress {
        Progress {
            phase: ["log-in", "warm-up", "steady", "ramp-down"][usize::from(self.phase.load(Ordering::Relaxed))],
            at,
            computed_s: None,
            origin_ns,
            reached: [None, Some(Barrier::LogIns), Some(Barrier::Lines)][usize::from(self.barriers.load(Ordering::Relaxed))],
            logged_in: self.logged_in.load(Ordering::Relaxed),
            users: spec.load.users,
            interactions: self.interactions.load(Ordering::Relaxed),
            interactions_expected: spec.interactions_expected(),
        }
    }
}

/// Number of interactions after which a precision-controlled run ends, unless its rule allows more. Each takes about 100 bytes
/// on the disk.
const MOST_ROWS: u64 = 10_000_000;

/// A recorder that counts its rows, and decides when a precision-controlled run has enough.
pub(crate) struct CountingRecorder {
    recorder: DriverRecorder,
    progress: Arc<RunCounters>,
    estimator: Option<Estimator>,
    /// Number of rows at which a precision-controlled run ends even if it is not precise.
    most_rows: u64,
}

impl CountingRecorder {
    /// A recorder without rows.
    pub(crate) fn new(recorder: DriverRecorder, progress: Arc<RunCounters>, spec: &RunSpec) -> CountingRecorder {
        let length = spec.until.as_ref().and_then(|until| until.interactions);
        let most_rows = length.map_or(MOST_ROWS, |length| length.saturating_mul(2).max(MOST_ROWS));
        CountingRecorder { recorder, progress, estimator: spec.until.clone().map(Estimator::new), most_rows }
    }

    /// A note for the user about a precision-controlled run that ended before it was precise.
    pub(crate) fn not_enough(&self) -> Option<String> {
        let end = self.estimator.as_ref()?.stop_reason();
        let rows = self.progress.interactions.load(Ordering::Relaxed);
        match end {
            Some(StopReason::LimitReached) => {
                Some(format!("the run ended after {rows} interactions, before it was as precise as asked"))
            }
            None if rows >= self.most_rows => Some(format!(
                "the run ended after {rows} lines: too few were answered, or the responses vary too much, for the precision asked for"
            )),
            _ => None,
        }
    }

    /// Records the loss of `count` records of usage, if `count` is not 0.
    pub(crate) fn lost_usage(&mut self, count: u64, at: Instant) {
        if count > 0 {
            let reason = "the kernel could not deliver what ended processes had used, or a session could not be asked".into();
            self.recorder.lost(&LostRow { at, user: None, what: "usage", count, reason });
        }
    }
}

impl Recorder for CountingRecorder {
    fn interaction(&mut self, row: &InteractionRow<'_>) {
        // The driver's thread alone writes this: a load and a store, no locked operation.
        let count = self.progress.interactions.load(Ordering::Relaxed) + 1;
        self.progress.interactions.store(count, Ordering::Relaxed);
        if let (Some(estimator), Some(ready), Phase::Steady) = (&mut self.estimator, row.ready, row.phase) {
            estimator.record(0, ready.0, ready.since(row.sent).0);
        }
        self.recorder.interaction(row);
    }

    fn screen(&mut self, row: &ScreenRow) {
        self.recorder.screen(row);
    }

    fn session(&mut self, row: &SessionRow) {
        self.recorder.session(row);
    }

    fn lost(&mut self, row: &LostRow) {
        self.recorder.lost(row);
    }

    fn phase(&mut self, phase: Phase, at: Instant) {
        self.progress.phase.store(phase as u8 + 1, Ordering::Relaxed);
        self.recorder.phase(phase, at);
        self.progress.span_end.ask();
    }

    fn logged_in(&mut self, users: u32) {
        self.progress.logged_in.store(users, Ordering::Relaxed);
    }

    fn reached(&mut self, barrier: Barrier) {
        self.progress.barriers.store(barrier as u8 + 1, Ordering::Relaxed);
    }

    fn enough(&self) -> bool {
        let rows = self.progress.interactions.load(Ordering::Relaxed);
        self.estimator.as_ref().is_some_and(|estimator| estimator.is_done() || rows >= self.most_rows)
    }
}
