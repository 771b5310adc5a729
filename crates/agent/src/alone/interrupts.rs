//! The signals that ask this process to end, and the command that it runs.

use super::statuses::SIGNAL_STATUS;
use loadgo_core::stop::StopRequest;
use loadgo_sys::signals::{Signals, WINDOW_SIGNAL_ID};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

/// Time after which a signal that has come before the command's id is tried again.
const LOOK_AGAIN_NS: i64 = 5_000_000;

/// A listener to these signals, in a thread of its own: the first one stops the work, and each reaches the command.
pub(super) struct Interrupts {
    /// Set by the first signal.
    pub stop: StopRequest,
    /// The last signal; 0 if none has come.
    signal: Arc<AtomicI32>,
}

impl Interrupts {
    /// Listens from now on; `running` is the id of the command while it runs, else 0.
    pub fn listen(running: Option<Arc<AtomicI32>>) -> Result<Interrupts, String> {
        let signals = Signals::listen().map_err(|error| format!("signals cannot be received: {error}"))?;
        let (stop, signal) = (StopRequest::default(), Arc::new(AtomicI32::new(0)));
        let (stopped, seen) = (stop.clone(), signal.clone());
        let listening = move || {
            // A command that has just begun has no id here yet: its signal waits for that.
            let mut waiting = None;
            let look_again = Timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN_NS };
            let longest = |waiting: Option<i32>| waiting.map(|_| &look_again);
            // A signal that comes to this very thread interrupts the wait; what has come is taken without a wait.
            while matches!(poll(&mut [PollFd::new(&signals.fd(), PollFlags::IN)], longest(waiting)), Ok(_) | Err(Errno::INTR)) {
                for arrived in signals.take().into_iter().filter(|signal| *signal != WINDOW_SIGNAL_ID) {
                    seen.store(arrived, Ordering::Release);
                    waiting = running.as_ref().map(|_| arrived);
                    stopped.set();
                }
                waiting = waiting.filter(|signal| !pass_on(running.as_deref(), *signal));
            }
        };
        let started = thread::Builder::new().name("loadgo-signals".into()).spawn(listening);
        started.map(|_| Interrupts { stop, signal }).map_err(|error| format!("no thread can be started: {error}"))
    }

    /// The exit status after the signal that has come, if one has.
    pub fn status(&self) -> Option<u8> {
        let signal = self.signal.load(Ordering::Acquire);
        (signal != 0).then_some((SIGNAL_STATUS + signal) as u8)
    }
}

/// Sends the signal to the command; false if none runs. A terminal sends an interrupt to both, and a second one does not matter.
fn pass_on(running: Option<&AtomicI32>, signal: i32) -> bool {
    let pid = running.and_then(|running| rustix::process::Pid::from_raw(running.load(Ordering::Acquire)));
    if let (Some(pid), Some(signal)) = (pid, rustix::process::Signal::from_named_raw(signal)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
    pid.is_some()
}
