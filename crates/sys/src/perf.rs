//! Whether the kernel lets this process open performance events (perf_event_open).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The processes whose events are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventScope {
    /// All processes on a processor, with their time in the kernel.
    AllProcesses,
    /// This process alone, without its time in the kernel.
    OwnProcess,
}

/// Opens the event of a software clock and closes it again.
///
/// # Errors
/// The kernel's reason.
pub fn try_clock_event(scope: EventScope) -> io::Result<()> {
    const SOFTWARE: u64 = 1;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    let mut attributes = [0u64; 16];
    attributes[0] = SOFTWARE | (size_of::<[u64; 16]>() as u64) << 32;
    attributes[5] = if scope == EventScope::OwnProcess { EXCLUDE_KERNEL } else { 0 };
    let (pid, processor) = if scope == EventScope::OwnProcess { (0, -1) } else { (-1, rustix::thread::sched_getcpu() as i32) };
    // SAFETY: the attributes are ours, all zeros but for the size, the kind, which is valid (a software clock), and one flag.
    match unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), pid, processor, -1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        fd => {
            // SAFETY: the descriptor is new and nobody else's.
            drop(unsafe { OwnedFd::from_raw_fd(fd as i32) });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_may_watch_all_processes_may_watch_itself() {
        assert!(try_clock_event(EventScope::AllProcesses).is_err() || try_clock_event(EventScope::OwnProcess).is_ok());
    }
}
