//! How the driver's thread gets its processor in time: SCHED_FIFO, a processor of its own, short timers; and the proof.
//!
//! On an overloaded host a thread like any other was 54 to 72 ms late at the 99th percentile, one under SCHED_FIFO 40 us.

use loadgo_sys::scheduling::{Policy, allowed_processors, bind, current_policy, set_policy, set_shortest_timer_slack};
use std::io;

/// The priority asked for under SCHED_FIFO: above all ordinary programs, below the kernel's own threads at 50 and more.
const PRIORITY: i32 = 10;

/// How the kernel is asked to schedule the driver's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Before all ordinary programs: it is there when a line is due. SCHED_FIFO, where the host permits it.
    Fifo,
    /// A thread that does not push others aside when it wakes (SCHED_BATCH). It suits scripts without think times, where no line
    /// is ever due. There, a driver that wakes for each answer costs three times as much as a driver that takes answers together.
    Batch,
    /// Like any other program.
    #[default]
    Ordinary,
}

/// Scheduling that is requested for the driver's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The scheduling class.
    pub class: Class,
    /// The only processor that the thread may use.
    pub processor: Option<usize>,
}

/// Scheduling that the driver's thread was granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// `fifo 10`, `batch` or `other`.
    pub scheduling: String,
    /// The processor that the thread is bound to.
    pub processor: Option<usize>,
    /// The kernel's answer to the question how this thread is scheduled.
    pub proof: String,
    /// Requests that were not granted, each with the remedy.
    pub notes: Vec<String>,
}

/// Asks for `wanted` for the calling thread. Processes started from it are ordinary again.
pub fn take(wanted: Wanted) -> Granted {
    let mut notes = Vec::new();
    if wanted.class == Class::Batch {
        // Never refused: it only gives something up.
        let _ = set_policy(Policy::Batch);
    }
    if wanted.class == Class::Fifo
        && let Err(reason) = set_policy(Policy::Fifo(PRIORITY))
    {
        notes.push(format!(
            "the driver runs without SCHED_FIFO ({reason}), and may be late on a busy host: run as root, or with CAP_SYS_NICE"
        ));
    }
    if let Some(processor) = wanted.processor
        && let Err(reason) = bind(processor)
    {
        notes.push(format!("the driver is not bound to processor {processor}: {reason}"));
    }
    set_shortest_timer_slack();
    let (policy, number, priority) = current_policy();
    let (scheduling, name) = match policy {
        Policy::Fifo(priority) => (format!("fifo {priority}"), "SCHED_FIFO"),
        Policy::Batch => ("batch".to_string(), "SCHED_BATCH"),
        Policy::Other(_) => ("other".to_string(), "SCHED_OTHER"),
    };
    let processors = allowed_processors();
    let processor = (processors.len() == 1).then(|| processors[0]);
    let proof = format!("sched_getscheduler: policy {number} ({name}), priority {priority}; sched_getaffinity: {processors:?}");
    Granted { scheduling, processor, proof, notes }
}

/// Whether a thread may be bound to `processor`.
///
/// # Errors
/// The kernel's reason.
pub fn may_bind(processor: usize) -> io::Result<()> {
    std::thread::scope(|scope| {
        let attempt = std::thread::Builder::new().spawn_scoped(scope, || bind(processor))?;
        attempt.join().expect("it only makes a system call")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_granted_is_what_the_kernel_says() {
        std::thread::spawn(|| {
            let processor = allowed_processors()[0];
            let granted = take(Wanted { class: Class::Fifo, processor: Some(processor) });
            assert_eq!(granted.processor, Some(processor));
            assert_eq!(granted.scheduling.starts_with("fifo"), granted.notes.is_empty(), "{granted:?}");
        })
        .join()
        .unwrap();
    }
}
