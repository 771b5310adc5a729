//! How the driver's thread gets its processor in time: SCHED_FIFO, a processor of its own, short timers; and the proof.
//!
//! On an overloaded host a thread like any other was 54 to 72 ms late at the 99th percentile, one under SCHED_FIFO 40 us.

use crate::kernel::checked;
use std::io;

/// The priority asked for under SCHED_FIFO: above all ordinary programs, below the kernel's own threads at 50 and more.
const PRIORITY: libc::c_int = 10;

/// How the kernel is asked to schedule the driver's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Before all ordinary programs: it is there when a line is due. SCHED_FIFO, where the host permits it.
    Fifo,
    /// Without pushing others aside when it wakes: where nobody thinks no line is ever due, and a driver that wakes for
    /// each answer apart costs three times as much as one that takes them together. SCHED_BATCH.
    Batch,
    /// Like any other program.
    #[default]
    Ordinary,
}

/// What is asked for the driver's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How it is scheduled.
    pub class: Class,
    /// This processor and no other.
    pub processor: Option<usize>,
}

/// What the thread got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// `fifo 10`, `batch` or `other`.
    pub scheduling: String,
    /// The processor that the thread is bound to.
    pub processor: Option<usize>,
    /// What the kernel answers when asked how this thread is scheduled.
    pub proof: String,
    /// What was not granted, and the remedy.
    pub notes: Vec<String>,
}

/// Asks for `wanted` for the calling thread. Processes started from it are ordinary again.
pub fn take(wanted: Wanted) -> Granted {
    let mut notes = Vec::new();
    if wanted.class == Class::Batch {
        // Never refused: it only gives something up.
        let _ = become_scheduled(libc::SCHED_BATCH, 0);
    }
    if wanted.class == Class::Fifo
        && let Err(reason) = become_scheduled(libc::SCHED_FIFO, PRIORITY)
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
    // SAFETY: no pointers are passed; one nanosecond is the shortest slack there is.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let (policy, priority) = present_policy();
    let (scheduling, name) = match policy {
        libc::SCHED_FIFO => (format!("fifo {priority}"), "SCHED_FIFO"),
        libc::SCHED_BATCH => ("batch".to_string(), "SCHED_BATCH"),
        _ => ("other".to_string(), "SCHED_OTHER"),
    };
    let processors = allowed_processors();
    let processor = (processors.len() == 1).then(|| processors[0]);
    let proof = format!("sched_getscheduler: policy {policy} ({name}), priority {priority}; sched_getaffinity: {processors:?}");
    Granted { scheduling, processor, proof, notes }
}

/// Whether this host would let the calling thread run under SCHED_FIFO; nothing is changed afterwards.
///
/// # Errors
/// The kernel's reason.
pub fn fifo_is_permitted() -> io::Result<()> {
    std::thread::scope(|scope| {
        scope.spawn(|| become_scheduled(libc::SCHED_FIFO, PRIORITY)).join().expect("it only makes a system call")
    })
}

fn become_scheduled(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: a sched_param is plain data.
    let mut parameter = unsafe { std::mem::zeroed::<libc::sched_param>() };
    parameter.sched_priority = priority;
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, policy | libc::SCHED_RESET_ON_FORK, &parameter) }).map(drop)
}

/// Whether a thread may be bound to `processor`.
///
/// # Errors
/// The kernel's reason.
pub fn may_bind(processor: usize) -> io::Result<()> {
    std::thread::scope(|scope| scope.spawn(|| bind(processor)).join().expect("it only makes a system call"))
}

fn bind(processor: usize) -> io::Result<()> {
    if processor >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: a cpu_set_t is a plain bit set; CPU_SET checks its bounds.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        libc::CPU_SET(processor, &mut set);
        checked(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)).map(drop)
    }
}

/// Lets the calling thread use every processor that the machine permits.
pub fn use_all_processors() {
    // SAFETY: a cpu_set_t is a plain bit set; all of its bits are set, and the kernel takes those that exist.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        std::ptr::write_bytes(std::ptr::from_mut(&mut set).cast::<u8>(), 0xff, size_of::<libc::cpu_set_t>());
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

fn present_policy() -> (libc::c_int, libc::c_int) {
    // SAFETY: a sched_param is plain data that the kernel fills; 0 is the calling thread.
    unsafe {
        let mut parameter = std::mem::zeroed::<libc::sched_param>();
        libc::sched_getparam(0, &mut parameter);
        (libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK, parameter.sched_priority)
    }
}

/// The processors that the calling thread may use.
pub fn allowed_processors() -> Vec<usize> {
    // SAFETY: a cpu_set_t is a plain bit set that the kernel fills; CPU_ISSET checks its bounds.
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &set)).collect()
    }
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
