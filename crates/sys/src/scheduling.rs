//! How the kernel schedules the calling thread, and on which processors.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// A scheduling policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_FIFO with this priority: before all ordinary threads, until it sleeps.
    Fifo(i32),
    /// SCHED_BATCH: an ordinary thread whose wake-ups preempt no other thread.
    Batch,
    /// Another policy, by the kernel's number; SCHED_OTHER is 0.
    Other(i32),
}

/// The calling thread's id.
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Sets the policy of the calling thread. Threads and processes that it starts have the ordinary policy again.
///
/// # Errors
/// The kernel's reason.
pub fn set_policy(policy: Policy) -> io::Result<()> {
    let (number, sched_priority) = match policy {
        Policy::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Policy::Batch => (libc::SCHED_BATCH, 0),
        Policy::Other(number) => (number, 0),
    };
    let parameter = libc::sched_param { sched_priority };
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, number | libc::SCHED_RESET_ON_FORK, &parameter) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The calling thread's policy, with the policy's number and the priority, as the kernel reports them.
pub fn current_policy() -> (Policy, i32, i32) {
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the kernel fills the parameter, which lives during the call; 0 is the calling thread.
    let number = unsafe {
        libc::sched_getparam(0, &mut parameter);
        libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK
    };
    let priority = parameter.sched_priority;
    let policy = match number {
        libc::SCHED_FIFO => Policy::Fifo(priority),
        libc::SCHED_BATCH => Policy::Batch,
        other => Policy::Other(other),
    };
    (policy, number, priority)
}

/// Binds the calling thread to `processor` alone.
///
/// # Errors
/// The kernel's: there is no such processor, or it is not allowed here.
pub fn bind(processor: usize) -> io::Result<()> {
    if processor >= CpuSet::MAX_CPU {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the calling thread use every processor that the machine permits.
pub fn use_all_processors() {
    let mut set = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|processor| set.set(processor));
    // The kernel ignores processors that do not exist.
    let _ = sched_setaffinity(None, &set);
}

/// The processors that the calling thread may use.
pub fn allowed_processors() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect()
}

/// Gives the calling thread the shortest timer slack, 1 ns.
pub fn set_shortest_timer_slack() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_reports_the_policy_and_the_processors_that_were_set() {
        std::thread::spawn(|| {
            set_policy(Policy::Batch).expect("giving something up is never refused");
            assert_eq!(current_policy().0, Policy::Batch);
            let processor = allowed_processors()[0];
            bind(processor).expect("it was allowed");
            assert_eq!(allowed_processors(), [processor]);
            use_all_processors();
            assert!(allowed_processors().contains(&processor));
        })
        .join()
        .expect("no panic");
    }
}
