//! The driver's thread: it starts the system, drives the users on it, and ends users who are left.

use crate::progress::{CountingRecorder, RunCounters};
use crate::refusal::RunRefusal;
use crate::run_spec::RunSpec;
use crate::sections::DriverPart;
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::System;
use loadgo_host::refusal::Refusal;
use loadgo_store::{DriverRecorder, RowSender};
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

/// A system on which a run is driven.
pub(crate) trait DrivenSystem: System {
    /// How users log in, such as ` with "sh"`: the end of the message `nobody could log in`.
    fn log_in_words(spec: &RunSpec) -> String;
    /// Ends the users that are left, and records losses that are known only then. Returns the reason why the system could not go
    /// on, if it has not reported that as an event.
    fn close(self, recorder: &mut CountingRecorder) -> Option<String>;
}

/// Arguments of a driver's thread.
pub(crate) struct DriverArguments {
    pub spec: RunSpec,
    pub recorder: DriverRecorder,
    pub progress: Arc<RunCounters>,
    pub stop: StopRequest,
    /// For the meter rows of a system that samples itself.
    pub row_sender: RowSender,
}

/// Message of a driver's thread when its system is ready.
#[derive(Default)]
pub(crate) struct DriverReady {
    /// The kernel's id of the thread.
    pub thread_id: i32,
    /// The thread's scheduling; `None` if `run.toml` has it already.
    pub scheduling: Option<DriverPart>,
}

/// Result of a driver's thread.
#[derive(Debug, Default)]
pub(crate) struct DriverResult {
    pub summary: SessionCounts,
    /// Why the run has failed: the system stood still, or nobody could log in.
    pub failure: Option<Refusal>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The driver's thread, as a refusal names it.
const DRIVER_THREAD: &str = "the driver's thread";

/// The driver's thread; dropping it stops the users and waits for it.
pub(crate) struct Driver {
    /// `None` after the thread has been joined.
    thread: Option<JoinHandle<DriverResult>>,
    stop: StopRequest,
    /// Whether the users are done. The thread itself ends a moment later.
    done: Arc<AtomicBool>,
}

impl Driver {
    /// Starts the thread, which calls `start_system`. Returns when the system is ready.
    ///
    /// # Errors
    /// Returns the refusal of `start_system`, or the reason why there is no thread. The thread has then ended.
    pub(crate) fn start<S: DrivenSystem>(
        order: DriverArguments,
        start_system: impl FnOnce(&DriverArguments) -> Result<(S, DriverReady), RunRefusal> + Send + 'static,
    ) -> Result<(Driver, DriverReady), RunRefusal> {
        let (begun_sender, begun_receiver) = mpsc::channel();
        let (stop, waiter, done) = (order.stop.clone(), thread::current(), Arc::new(AtomicBool::new(false)));
        let done_here = Arc::clone(&done);
        let work = move || match start_system(&order) {
            Ok((system, begun)) => {
                let _ = begun_sender.send(Ok(begun));
                let driven = drive_on(system, order);
                done_here.store(true, Ordering::Release);
                waiter.unpark();
                driven
            }
            Err(refusal) => {
                let _ = begun_sender.send(Err(refusal));
                DriverResult::default()
            }
        };
        let thread = thread::Builder::new().name("loadgo-driver".into()).spawn(work);
        let driver = Driver { thread: Some(thread.map_err(RunRefusal::from_kernel)?), stop, done };
        match begun_receiver.recv() {
            Ok(begun) => Ok((driver, begun?)),
            Err(_) => Err(driver
                .end()
                .err()
                .unwrap_or_else(|| RunRefusal::Panicked { thread: DRIVER_THREAD, message: "it did not begin".into() })),
        }
    }

    /// Asks the users to leave at once.
    pub(crate) fn stop(&self) {
        self.stop.set();
    }

    /// Whether the users are done, or the thread has ended. A thread that wakes the waiter has not ended yet, so that the
    /// waiter would wait a whole period more for that alone.
    pub(crate) fn is_over(&self) -> bool {
        self.done.load(Ordering::Acquire) || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the users who are still there, and waits for the thread.
    ///
    /// # Errors
    /// When the thread has panicked.
    pub(crate) fn end(mut self) -> Result<DriverResult, RunRefusal> {
        self.join().map_err(|panic| RunRefusal::Panicked { thread: DRIVER_THREAD, message: words_of(&*panic).to_owned() })
    }

    fn join(&mut self) -> thread::Result<DriverResult> {
        if !self.is_over() {
            self.stop();
        }
        self.thread.take().map_or_else(|| Ok(DriverResult::default()), JoinHandle::join)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

fn drive_on<S: DrivenSystem>(mut system: S, order: DriverArguments) -> DriverResult {
    let DriverArguments { spec, recorder, progress, .. } = order;
    let mut recorder = CountingRecorder::new(recorder, progress, &spec);
    let summary = drive(&spec.script, &spec.load_with_time_limit(), &mut system, &mut recorder);
    let trouble = system.close(&mut recorder);
    let stuck = summary.stuck.clone().or(trouble).map(Refusal::new);
    let failure = stuck.or_else(|| nobody_logged_in(&summary, &S::log_in_words(&spec)));
    DriverResult { summary, failure, notes: recorder.not_enough().into_iter().collect() }
}

/// Returns the refusal of a run in which nobody could log in.
fn nobody_logged_in(summary: &SessionCounts, how: &str) -> Option<Refusal> {
    let reason = summary.refusal.as_deref().unwrap_or("no reason was given");
    let refusal = || Refusal::new(format!("nobody could log in{how}")).because_of(reason).with_remedy(summary.refusal_remedy);
    (summary.logged_in == 0 && summary.refused > 0).then(refusal)
}

/// Returns the message of a thread's panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("it gave no reason")
}
