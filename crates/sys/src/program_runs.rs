//! How often a kernel program has run, and for how long, by the kernel's own count (`run_cnt` and `run_time_ns`).
//!
//! The kernel counts only while somebody holds a descriptor from [`count_program_runs`]. Closing it ends that; no setting stays behind.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const INFO_COMMAND_ID: i32 = 15;
const ENABLE_STATISTICS_COMMAND_ID: i32 = 32;
/// Length of `struct bpf_prog_info` up to the counts, which are its words 24 and 25, of 8 bytes each.
const INFO_WORDS: usize = 26;
const RUN_TIME_WORD_INDEX: usize = 24;
const RUNS_WORD_INDEX: usize = 25;

/// Runs of a program while the kernel counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramRuns {
    /// Number of runs.
    pub runs: u64,
    /// Time between the kernel's readings of its clock before and after each run, in nanoseconds.
    pub run_ns: u64,
}

impl ProgramRuns {
    /// The runs since `before`.
    pub fn since(self, before: ProgramRuns) -> ProgramRuns {
        ProgramRuns { runs: self.runs.saturating_sub(before.runs), run_ns: self.run_ns.saturating_sub(before.run_ns) }
    }
}

/// Lets the kernel count the runs of all programs until the descriptor is closed.
///
/// # Errors
/// The kernel's refusal: it is older than 5.8, or the process has no CAP_SYS_ADMIN.
pub fn count_program_runs() -> io::Result<OwnedFd> {
    let mut kind = [0u32]; // BPF_STATS_RUN_TIME
    // SAFETY: the kernel reads the four bytes of the command, which live during the call.
    let fd = unsafe { call(ENABLE_STATISTICS_COMMAND_ID, &raw mut kind as u64, size_of_val(&kind)) }?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The runs of a program so far.
///
/// # Errors
/// The kernel's refusal: the descriptor is of no program.
pub fn program_runs(program: BorrowedFd<'_>) -> io::Result<ProgramRuns> {
    let mut info = [0u64; INFO_WORDS];
    let info_bytes = size_of_val(&info) as u32;
    let mut command = ProgramQuestion { program: program.as_raw_fd() as u32, info_bytes, info: &raw mut info as u64 };
    // SAFETY: the kernel writes at most `info_bytes` to `info`; both live during the call.
    unsafe { call(INFO_COMMAND_ID, &raw mut command as u64, size_of::<ProgramQuestion>()) }?;
    Ok(ProgramRuns { runs: info[RUNS_WORD_INDEX], run_ns: info[RUN_TIME_WORD_INDEX] })
}

/// `union bpf_attr` of a question for a program's description.
#[repr(C)]
struct ProgramQuestion {
    program: u32,
    info_bytes: u32,
    info: u64,
}

/// Calls `bpf`.
///
/// # Safety
/// `command` is the address of `bytes` bytes that the kernel may read and write, and so are all addresses in it.
unsafe fn call(command_id: i32, command: u64, bytes: usize) -> io::Result<i32> {
    // SAFETY: the caller's promise.
    match unsafe { libc::syscall(libc::SYS_bpf, command_id, command, bytes) } {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_file_has_no_runs() {
        let file = std::fs::File::open("/dev/null").unwrap();
        program_runs(file.as_fd()).unwrap_err();
    }

    #[test]
    fn runs_are_differences() {
        let (before, now) = (ProgramRuns { runs: 3, run_ns: 100 }, ProgramRuns { runs: 5, run_ns: 350 });
        assert_eq!(now.since(before), ProgramRuns { runs: 2, run_ns: 250 });
    }
}
