//! The driver's thread: it brings the system up, drives the users on it, and ends what is left of them.

use crate::asked::Asked;
use crate::progress::{RunCounters, Watched};
use crate::refusal::RunRefusal;
use crate::sections::DriverPart;
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::System;
use loadgo_host::refusal::Refusal;
use loadgo_store::{DriverRecorder, RowSender};
use std::any::Any;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

/// A system on which a run is driven.
pub(crate) trait Driveable: System {
    /// How users log in, for the words `nobody could log in …`.
    fn log_in_words(asked: &Asked) -> String;
    /// Ends the users that are left, and records what is known only then. Returns the reason why the system could not go on, unless
    /// it was reported before.
    fn close(self, recorder: &mut Watched) -> Option<String>;
}

/// Arguments of a driver's thread.
pub(crate) struct DriverArguments {
    pub asked: Asked,
    pub front: DriverRecorder,
    pub progress: Arc<RunCounters>,
    pub stop: StopRequest,
    /// Sink of the samples of a system that samples itself.
    pub row_sender: RowSender,
}

/// Message of a driver's thread when its system is ready.
#[derive(Default)]
pub(crate) struct Begun {
    /// The thread's number in the kernel.
    pub thread_id: i32,
    /// The thread's scheduling, where it is known only now.
    pub scheduling: Option<DriverPart>,
}

/// Result of a driver's thread.
#[derive(Debug, Default)]
pub(crate) struct Driven {
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
    /// `None` once the thread was waited for.
    thread: Option<JoinHandle<Driven>>,
    stop: StopRequest,
}

impl Driver {
    /// Starts the thread, on which `bring_up` makes the system; returns when the system is there.
    ///
    /// # Errors
    /// Returns the refusal of `bring_up`, or the reason why there is no thread; nothing is left of either then.
    pub(crate) fn start<S: Driveable>(
        order: DriverArguments,
        bring_up: impl FnOnce(&DriverArguments) -> Result<(S, Begun), RunRefusal> + Send + 'static,
    ) -> Result<(Driver, Begun), RunRefusal> {
        let (begun_sender, begun_receiver) = mpsc::channel();
        let (stop, waiter) = (order.stop.clone(), thread::current());
        let work = move || match bring_up(&order) {
            Ok((system, begun)) => {
                let _ = begun_sender.send(Ok(begun));
                let driven = drive_on(system, order);
                waiter.unpark();
                driven
            }
            Err(refusal) => {
                let _ = begun_sender.send(Err(refusal));
                Driven::default()
            }
        };
        let thread = thread::Builder::new().name("loadgo-driver".into()).spawn(work);
        let driver = Driver { thread: Some(thread.map_err(RunRefusal::from_kernel)?), stop };
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

    /// Whether the thread is over.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the users who are still there, and waits for the thread.
    ///
    /// # Errors
    /// When the thread has panicked.
    pub(crate) fn end(mut self) -> Result<Driven, RunRefusal> {
        self.join().map_err(|panic| RunRefusal::Panicked { thread: DRIVER_THREAD, message: words_of(&*panic).to_owned() })
    }

    fn join(&mut self) -> thread::Result<Driven> {
        let Some(thread) = self.thread.take() else { return Ok(Driven::default()) };
        if !thread.is_finished() {
            self.stop();
        }
        thread.join()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

fn drive_on<S: Driveable>(mut system: S, order: DriverArguments) -> Driven {
    let DriverArguments { asked, front, progress, .. } = order;
    let mut recorder = Watched::new(front, progress, &asked);
    let summary = drive(&asked.script, &asked.load_that_ends(), &mut system, &mut recorder);
    let trouble = system.close(&mut recorder);
    let stuck = summary.stuck.clone().or(trouble).map(Refusal::new);
    let failure = stuck.or_else(|| nobody_logged_in(&summary, &S::log_in_words(&asked)));
    Driven { summary, failure, notes: recorder.not_enough().into_iter().collect() }
}

/// Returns the refusal of a run in which nobody could log in.
fn nobody_logged_in(summary: &SessionCounts, how: &str) -> Option<Refusal> {
    let reason = summary.refusal.as_deref().unwrap_or("no reason was given");
    (summary.logged_in == 0 && summary.refused > 0).then(|| Refusal::new(format!("nobody could log in{how}")).because_of(reason))
}

/// Returns the message of a thread's panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("it gave no reason")
}
