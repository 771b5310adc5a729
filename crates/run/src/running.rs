//! The owner of a run: of its folder, its threads, its meters, and all that the run made on the host.
//!
//! However a run ends (by itself, by a refusal, by a panic, or by being dropped), its owner ends the parts in one order. First
//! the users leave and the driver's thread ends; then the sampler with the meters, the writer, and the programs beside the users.
//! Then `run.toml` is written with the outcome, and at last homes, limits and control groups are removed.

use crate::beside::BesidePrograms;
use crate::clock::Clock;
use crate::driver::{DrivenSystem, Driver, DriverArguments, DriverReady, DriverResult};
use crate::finished::Finished;
use crate::metering::MetersState;
use crate::progress::{Decision, Progress, RunCounters};
use crate::refusal::{Failure, RunRefusal};
use crate::run_spec::RunSpec;
use crate::run_toml::RunToml;
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
    pub run_toml: RunToml,
    pub clock: Clock,
    driver: Option<Driver>,
    sampling: Option<Sampling>,
    recording: Option<Recording>,
    /// Losses noted by the owner, for the table `lost`.
    lost: Vec<LostRow>,
    pub beside_programs: BesidePrograms,
    folder: Option<Folder>,
    pub leftovers: Option<Leftovers>,
    is_over: bool,
}

/// Arguments of [`Running::run`].
pub(crate) struct RunArguments {
    pub spec: RunSpec,
    pub when_full: WhenFull,
    /// Begins the sampling, on the sampler's thread. `None`: the system samples itself.
    pub sampling: Option<BeginSampling>,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub driven: DriverResult,
    /// Interactions on the disk.
    pub interactions: u64,
    pub outcome: &'static str,
    pub notes: Vec<String>,
    /// Things that could not be undone, each with the remedy.
    pub left_behind: Vec<String>,
}

impl Running {
    /// A run that is recorded into `folder`, or nowhere.
    pub(crate) fn begin(run_toml: RunToml, folder: Option<Folder>) -> Running {
        Running {
            run_toml,
            clock: Clock::start(),
            driver: None,
            sampling: None,
            recording: None,
            lost: Vec::new(),
            beside_programs: BesidePrograms::default(),
            folder,
            leftovers: None,
            is_over: false,
        }
    }

    /// The run's folder; a run that is driven has one.
    pub(crate) fn folder(&self) -> &Folder {
        self.folder.as_ref().expect("a run that is driven is recorded")
    }

    /// Starts the writer's thread if the run is recorded. Returns the recorder for the driver.
    ///
    /// # Errors
    /// The folder's refusal of the streams.
    pub(crate) fn record(&mut self, when_full: WhenFull) -> Result<Option<(DriverRecorder, &Recording)>, RunRefusal> {
        let Some(folder) = self.folder.clone() else { return Ok(None) };
        let (recorder, recording) = Recording::start(folder, when_full)?;
        Ok(Some((recorder, self.recording.insert(recording))))
    }

    /// Starts writer, driver and sampler, and watches until the driver is done. Returns whether the run was stopped because
    /// nothing more could be recorded.
    ///
    /// # Errors
    /// Returns the refusal of a thread or of the folder. [`Running::end`] then ends what was started.
    pub(crate) fn run<S: DrivenSystem>(
        &mut self,
        plan: RunArguments,
        start_system: impl FnOnce(&DriverArguments) -> Result<(S, DriverReady), RunRefusal> + Send + 'static,
        decide: &mut dyn FnMut(&Progress) -> Decision,
    ) -> Result<bool, RunRefusal> {
        let RunArguments { spec, when_full, sampling } = plan;
        let (recorder, recording) = self.record(when_full)?.expect("a run that is driven is recorded");
        let (row_sender, writer) = (recording.row_sender(), recording.tid() as i32);
        let progress = Arc::new(RunCounters::default());
        let order = DriverArguments {
            spec: spec.clone(),
            recorder,
            progress: Arc::clone(&progress),
            stop: StopRequest::default(),
            row_sender: row_sender.clone(),
        };
        let (driver, begun) = Driver::start(order, start_system)?;
        self.driver = Some(driver);
        if let Some(begin) = sampling {
            let threads = OurThreads { driver: vec![begun.thread_id], meters: vec![writer] };
            match Sampling::start(begin, threads, row_sender, Arc::clone(&progress)) {
                Ok(sampling) => self.sampling = Some(sampling),
                Err(reason) => self.lose("meters", format!("the sampler's thread could not be started: {reason}")),
            }
        }
        if let Some(scheduling) = begun.scheduling {
            self.run_toml.driver(scheduling);
            self.run_toml.write(self.folder())?;
        }
        self.watch(&spec, when_full, &progress, decide)
    }

    /// Waits until the driver's users are done, and tells the caller that too. Stops the driver if the caller decides so, or if
    /// nothing more can be recorded.
    fn watch(
        &mut self,
        spec: &RunSpec,
        when_full: WhenFull,
        progress: &RunCounters,
        decide: &mut dyn FnMut(&Progress) -> Decision,
    ) -> Result<bool, RunRefusal> {
        let (mut decision, mut unrecorded) = (Decision::Continue, false);
        while let Some(driver) = &self.driver {
            let is_over = driver.is_over();
            if !is_over
                && !unrecorded
                && self.recording.as_ref().is_some_and(|recording| is_recording_impossible(recording, when_full))
            {
                unrecorded = true;
                driver.stop();
            }
            let computed_s = self.clock.is_virtual().then(|| self.run_toml.elapsed_s());
            let latest = decide(&Progress { computed_s, ..progress.at(spec, self.clock.now(), self.clock.origin_ns()) });
            if decision == Decision::Continue && latest != Decision::Continue {
                decision = latest;
                driver.stop();
            }
            self.beside_programs.reap_ended();
            if is_over {
                break;
            }
            thread::park_timeout(LOOK_EVERY);
        }
        match decision {
            Decision::Fail(reason) => Err(RunRefusal::Caller(reason)),
            Decision::Continue | Decision::Stop => Ok(unrecorded),
        }
    }

    /// The recording; `None` if the run is not recorded.
    pub(crate) fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// Notes a loss, which [`Running::end`] records.
    fn lose(&mut self, what: &'static str, reason: String) {
        self.lost.push(LostRow { at: self.clock.now(), user: None, what, count: 1, reason });
    }

    /// Adds the final state of the meters to `run.toml`.
    pub(crate) fn update_meters(&mut self, state: &MetersState) {
        self.run_toml.update_meters(state);
    }

    /// Ends the run after its work has given `result`. `outcome` is the run's outcome if it has no driver.
    ///
    /// # Errors
    /// The error of `result`; a panic of a thread; nobody could log in; the folder could not be written.
    pub(crate) fn end<T>(mut self, result: Result<T, RunRefusal>, outcome: &'static str) -> Result<(T, RunResult), Failure> {
        let (value, failure) = match result {
            Ok(value) => (Some(value), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let end = self.finish(failure, outcome)?;
        Ok((value.expect("a refusal is returned before"), end))
    }

    /// Ends all parts that are left, in order. If one fails, the rest is still ended.
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
        let beside = std::mem::take(&mut self.beside_programs).finish();
        self.run_toml.notes(&beside);
        self.run_toml.ended(end.outcome, |conditions, elapsed_s| self.clock.conclude(conditions, elapsed_s));
        let folder = self.folder.take();
        let kept = folder.as_ref().map_or(Ok(()), |folder| loadgo_store::finish(folder, &self.run_toml.toml(), &unwritten));
        end.notes.extend(beside);
        end.left_behind = self.undo(folder.as_ref());
        match failure.or(kept.err().map(RunRefusal::Folder)) {
            Some(refusal) => Err(Failure { refusal: refusal.with_records_in(folder.as_ref()), left_behind: end.left_behind }),
            None => Ok(end),
        }
    }

    /// Undoes what the run made outside its folder. Things that could not be undone are returned, and noted in `run.toml`.
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
            Some(Ok(Some(state))) => self.run_toml.update_meters(&state),
            Some(Err(panicked)) => self.lose("meters", panicked.to_string()),
            None | Some(Ok(None)) => {}
        }
    }

    /// Combines the driver's result with an earlier `failure`. The first failure counts.
    fn judge(
        &mut self,
        failure: Option<RunRefusal>,
        driven: Option<Result<DriverResult, RunRefusal>>,
        outcome: &'static str,
    ) -> (RunResult, Option<RunRefusal>) {
        let (driven, outcome, failed) = match driven {
            None => (DriverResult::default(), outcome, None),
            Some(Ok(driven)) => {
                let outcome = if driven.summary.stopped { "stopped" } else { "done" };
                let failed = driven.failure.clone().map(RunRefusal::from);
                (driven, outcome, failed)
            }
            Some(Err(panicked)) => {
                self.lose("record", format!("interactions that were under way: {panicked}"));
                (DriverResult::default(), outcome, Some(panicked))
            }
        };
        if let Some(refusal) = &failure {
            self.run_toml.notes(&[format!("the run failed: {refusal}")]);
        }
        let notes = driven.notes.clone();
        (RunResult { driven, interactions: 0, outcome, notes, left_behind: Vec::new() }, failure.or(failed))
    }

    /// Ends the writer. Returns the losses that belong into `run.toml`, and the refusal if the writer has panicked.
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
            let _ = self.finish(panicked, "stopped"); // no caller is left who could handle a failure
        }
    }
}

impl RunResult {
    /// The result for the caller, with `notes` from before the run began.
    pub(crate) fn finished(self, notes: Vec<String>) -> Finished {
        let RunResult { driven, interactions, outcome, notes: later, left_behind } = self;
        Finished {
            summary: driven.summary,
            origin_ns: 0,
            interactions,
            outcome,
            notes: [notes, later, left_behind.clone()].concat(),
            left_behind,
        }
    }
}

/// Whether nothing more can be recorded. A run on a simulated machine also ends when the disk has refused a row.
fn is_recording_impossible(recording: &Recording, when_full: WhenFull) -> bool {
    !recording.is_written() || when_full == WhenFull::Wait && recording.lost() > 0
}

#[cfg(test)]
mod tests;
