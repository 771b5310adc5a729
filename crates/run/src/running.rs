//! The owner of a run: of its folder, its threads, its meters, and all that it made on the host.
//!
//! However a run ends (by itself, by a refusal, by a panic, or by being dropped), its owner ends it in one order. First the
//! users leave and the driver's thread ends; then the sampler with the meters; then the writer; then the programs beside the
//! users. The folder says how the run ended, and only then are homes, limits and control groups removed.

use crate::account::Account;
use crate::asked::Asked;
use crate::beside::Company;
use crate::clock::Clock;
use crate::driver::{Begun, Driveable, Driven, Driver, DriverArguments};
use crate::finished::Finished;
use crate::metering::MetersState;
use crate::progress::{Decision, Progress, RunCounters};
use crate::refusal::{Failure, RunRefusal};
use crate::sampling::{BeginSampling, Sampling};
use loadgo_core::record::LostRow;
use loadgo_core::stop::StopRequest;
use loadgo_host::leftovers::Leftovers;
use loadgo_host::usage::sampler::OurThreads;
use loadgo_store::{DriverRecorder, Folder, Recording, WhenFull};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Interval between two looks of the calling thread at a run's progress.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A run under way; its fields are dropped in this order.
pub(crate) struct Running {
    pub account: Account,
    pub clock: Clock,
    driver: Option<Driver>,
    sampling: Option<Sampling>,
    recording: Option<Recording>,
    /// Losses that the owner found: measurements that the records do not hold.
    lost: Vec<LostRow>,
    pub company: Company,
    folder: Option<Folder>,
    pub leftovers: Option<Leftovers>,
    is_over: bool,
}

/// Arguments of a run's driver.
pub(crate) struct RunArguments {
    pub asked: Asked,
    pub when_full: WhenFull,
    /// First call of the sampler's thread, which begins the sampling; `None`: the system samples itself.
    pub sampling: Option<BeginSampling>,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub driven: Driven,
    /// Interactions on the disk.
    pub interactions: u64,
    pub outcome: &'static str,
    pub notes: Vec<String>,
    /// Things that could not be undone, each with the remedy.
    pub left_behind: Vec<String>,
}

impl Running {
    /// A run that is recorded into `folder`, or nowhere.
    pub(crate) fn begin(account: Account, folder: Option<Folder>) -> Running {
        Running {
            account,
            clock: Clock::start(),
            driver: None,
            sampling: None,
            recording: None,
            lost: Vec::new(),
            company: Company::default(),
            folder,
            leftovers: None,
            is_over: false,
        }
    }

    /// The run's folder; a run that is driven has one.
    pub(crate) fn folder(&self) -> &Folder {
        self.folder.as_ref().expect("a run that is driven is recorded")
    }

    /// Starts the writer's thread, where the run is recorded; the front is for whoever records.
    ///
    /// # Errors
    /// The folder's refusal of the streams.
    pub(crate) fn record(&mut self, when_full: WhenFull) -> Result<Option<(DriverRecorder, &Recording)>, RunRefusal> {
        let Some(folder) = self.folder.clone() else { return Ok(None) };
        let (front, recording) = Recording::start(folder, when_full)?;
        Ok(Some((front, self.recording.insert(recording))))
    }

    /// Starts writer, driver and sampler, and watches until the driver is done. True when it was stopped because nothing more can
    /// be recorded.
    ///
    /// # Errors
    /// Returns the refusal of a thread or of the folder. [`Running::end`] then ends what was started.
    pub(crate) fn run<S: Driveable>(
        &mut self,
        plan: RunArguments,
        bring_up: impl FnOnce(&DriverArguments) -> Result<(S, Begun), RunRefusal> + Send + 'static,
        decide: &mut dyn FnMut(&Progress) -> Decision,
    ) -> Result<bool, RunRefusal> {
        let RunArguments { asked, when_full, sampling } = plan;
        let (front, recording) = self.record(when_full)?.expect("a run that is driven is recorded");
        let (row_sender, writer) = (recording.row_sender(), recording.tid() as i32);
        let progress = Arc::new(RunCounters::default());
        let order = DriverArguments {
            asked: asked.clone(),
            front,
            progress: Arc::clone(&progress),
            stop: StopRequest::default(),
            row_sender: row_sender.clone(),
        };
        let (driver, begun) = Driver::start(order, bring_up)?;
        self.driver = Some(driver);
        if let Some(begin) = sampling {
            let threads = OurThreads { driver: vec![begun.thread_id], meters: vec![writer] };
            match Sampling::start(begin, threads, row_sender) {
                Ok(sampling) => self.sampling = Some(sampling),
                Err(reason) => self.lose("meters", format!("the sampler's thread could not be started: {reason}")),
            }
        }
        if let Some(scheduling) = begun.scheduling {
            self.account.driver(scheduling);
            self.account.write(self.folder())?;
        }
        self.watch(&asked, when_full, &progress, decide)
    }

    /// Waits until the driver's thread is over; stops it when the caller decides so, or when nothing more can be recorded.
    fn watch(
        &mut self,
        asked: &Asked,
        when_full: WhenFull,
        progress: &RunCounters,
        decide: &mut dyn FnMut(&Progress) -> Decision,
    ) -> Result<bool, RunRefusal> {
        let (mut decision, mut unrecorded) = (Decision::Continue, false);
        while let Some(driver) = self.driver.as_ref().filter(|driver| !driver.is_over()) {
            if !unrecorded && self.recording.as_ref().is_some_and(|recording| is_in_vain(recording, when_full)) {
                unrecorded = true;
                driver.stop();
            }
            let computed_s = self.clock.is_virtual().then(|| self.account.elapsed_s());
            let latest = decide(&Progress { computed_s, ..progress.at(asked, self.clock.now()) });
            if decision == Decision::Continue && latest != Decision::Continue {
                decision = latest;
                driver.stop();
            }
            self.company.look();
            thread::park_timeout(LOOK_EVERY);
        }
        match decision {
            Decision::Fail(reason) => Err(RunRefusal::Caller(reason)),
            Decision::Continue | Decision::Stop => Ok(unrecorded),
        }
    }

    /// The writer's thread, where the run is recorded.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// Notes a loss: measurements that the records will not hold.
    fn lose(&mut self, what: &'static str, reason: String) {
        self.lost.push(LostRow { at: self.clock.now(), user: None, what, count: 1, reason });
    }

    /// Adds the final state of the meters to `run.toml`.
    pub(crate) fn meters_came_to(&mut self, state: &MetersState) {
        self.account.meters_came_to(state);
    }

    /// Ends the run, which has come to `result`: `Ok` with its outcome where no driver tells it.
    ///
    /// # Errors
    /// That of `result`; a panic of a thread; nobody could log in; the folder could not be written.
    pub(crate) fn end<T>(mut self, result: Result<T, RunRefusal>, outcome: &'static str) -> Result<(T, RunResult), Failure> {
        let (value, failure) = match result {
            Ok(value) => (Some(value), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let end = self.finish(failure, outcome)?;
        Ok((value.expect("a refusal is returned before"), end))
    }

    /// Ends all that is left, in order. Whatever goes wrong on the way, the rest is ended too.
    fn finish(&mut self, failure: Option<RunRefusal>, outcome: &'static str) -> Result<RunResult, Failure> {
        self.is_over = true;
        let driven = self.driver.take().map(Driver::end);
        self.end_sampling();
        let (mut end, failure) = self.judge(failure, driven, outcome);
        let (unwritten, writer_panicked) = self.end_recording(&mut end);
        let failure = failure.or(writer_panicked);
        if failure.is_some() {
            end.outcome = "failed";
        }
        let beside = std::mem::take(&mut self.company).finish();
        self.account.notes(&beside);
        self.account.ended(end.outcome, |conditions, elapsed_s| self.clock.conclude(conditions, elapsed_s));
        let folder = self.folder.take();
        let kept = folder.as_ref().map_or(Ok(()), |folder| loadgo_store::finish(folder, &self.account.toml(), &unwritten));
        end.notes.extend(beside);
        end.left_behind = self.undo(folder.as_ref());
        match failure.or(kept.err().map(RunRefusal::Folder)) {
            Some(refusal) => Err(Failure { refusal, left_behind: end.left_behind }),
            None => Ok(end),
        }
    }

    /// Undoes what the run made outside its folder; what stays behind becomes notes of `run.toml` too.
    fn undo(&mut self, folder: Option<&Folder>) -> Vec<String> {
        let left_behind = self.leftovers.take().map_or_else(Vec::new, |mut leftovers| leftovers.finish());
        let mut left_behind: Vec<_> = left_behind.iter().map(ToString::to_string).collect();
        if let (Some(folder), false) = (folder, left_behind.is_empty())
            && let Err(error) = folder.add_notes(&left_behind)
        {
            left_behind.push(format!("run.toml does not say what stays behind: {error}"));
        }
        left_behind
    }

    fn end_sampling(&mut self) {
        match self.sampling.take().map(Sampling::end) {
            Some(Ok(Some(state))) => self.account.meters_came_to(&state),
            Some(Err(panicked)) => self.lose("meters", panicked),
            None | Some(Ok(None)) => {}
        }
    }

    /// How the run ended, by its driver and by `failure`; the first failure counts.
    fn judge(
        &mut self,
        failure: Option<RunRefusal>,
        driven: Option<Result<Driven, RunRefusal>>,
        outcome: &'static str,
    ) -> (RunResult, Option<RunRefusal>) {
        let (driven, outcome, failed) = match driven {
            None => (Driven::default(), outcome, None),
            Some(Ok(driven)) => {
                let outcome = if driven.summary.stopped { "stopped" } else { "done" };
                let failed = driven.failure.clone().map(RunRefusal::from);
                (driven, outcome, failed)
            }
            Some(Err(panicked)) => {
                self.lose("record", format!("what the driver had in hand: {panicked}"));
                (Driven::default(), outcome, Some(panicked))
            }
        };
        if let Some(refusal) = &failure {
            self.account.notes(&[format!("the run failed: {refusal}")]);
        }
        let notes = driven.notes.clone();
        (RunResult { driven, interactions: 0, outcome, notes, left_behind: Vec::new() }, failure.or(failed))
    }

    /// Ends the writer. Returns the losses that only `run.toml` can tell, and the refusal when the writer has panicked.
    fn end_recording(&mut self, end: &mut RunResult) -> (Vec<LostRow>, Option<RunRefusal>) {
        let lost = std::mem::take(&mut self.lost);
        let Some(recording) = self.recording.take() else { return (lost, None) };
        let row_sender = recording.row_sender();
        lost.into_iter().for_each(|lost| row_sender.lost(lost));
        let stopped = recording.stop();
        end.interactions = stopped.interactions;
        let panicked =
            stopped.panicked.then(|| RunRefusal::NotWhole(stopped.unwritten.iter().map(|lost| lost.reason.clone()).collect()));
        (stopped.unwritten, panicked)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            let panicked = thread::panicking()
                .then(|| RunRefusal::Panicked { thread: "the calling thread", message: "the run was dropped".into() });
            let _ = self.finish(panicked, "stopped"); // nobody is left to hear of it
        }
    }
}

impl RunResult {
    /// The run as its caller sees it, with `notes` from before it began.
    pub(crate) fn finished(self, notes: Vec<String>) -> Finished {
        let RunResult { driven, interactions, outcome, notes: later, left_behind } = self;
        Finished {
            summary: driven.summary,
            interactions,
            outcome,
            notes: [notes, later, left_behind.clone()].concat(),
            left_behind,
        }
    }
}

/// Whether nothing more can be recorded. Nobody waits at a simulated machine: it also ends where the disk has refused a row.
fn is_in_vain(recording: &Recording, when_full: WhenFull) -> bool {
    !recording.is_written() || when_full == WhenFull::Wait && recording.lost() > 0
}

#[cfg(test)]
mod tests;
