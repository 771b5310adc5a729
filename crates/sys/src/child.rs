//! Child processes: what is arranged before they execute, how they end, and what they used.

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// What a process used, with all the descendants that were waited for: the account of wait4(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Processor time in programs.
    pub user_ns: u64,
    /// Processor time in the system.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub faults_minor: u64,
    /// Page faults with I/O.
    pub faults_major: u64,
    /// The most memory that one of the processes had.
    pub max_resident_bytes: u64,
    /// Times that a process gave the processor up.
    pub switches_voluntary: u64,
    /// Times that the processor was taken from a process.
    pub switches_involuntary: u64,
}

/// Reaps the child `pid` if it has ended; its end.
pub fn reap(pid: i32) -> Option<Exit> {
    let (_, status) = rustix::process::waitpid(Some(id(pid)?), WaitOptions::NOHANG).ok()??;
    Some(exit_of(status.as_raw()))
}

/// Waits for the child `pid` and reaps it.
pub fn wait(pid: i32) {
    // A child that somebody else has reaped is gone as well.
    let _ = id(pid).map(|pid| rustix::process::waitpid(Some(pid), WaitOptions::empty()));
}

/// Waits for the child `pid` and reaps it; its end, and what it used.
///
/// # Errors
/// The kernel's: no child of ours has this id.
pub fn wait_with_usage(pid: i32) -> io::Result<(Exit, Used)> {
    let (mut status, mut used) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both places live during the call.
        if unsafe { libc::wait4(pid, &mut status, 0, used.as_mut_ptr()) } >= 0 {
            // SAFETY: the kernel has filled it in, and all zeros is a valid rusage too.
            return Ok((exit_of(status), Used::of(&unsafe { used.assume_init() })));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Whether the child `pid` has ended, without reaping it; with `wait`, returns when it has.
///
/// # Errors
/// The kernel's: no child of ours has this id.
pub fn has_ended(pid: i32, wait: bool) -> io::Result<bool> {
    let pid = id(pid).ok_or(io::ErrorKind::InvalidInput)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let options = if wait { options } else { options | WaitIdOptions::NOHANG };
    loop {
        match rustix::process::waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => {}
            told => return Ok(told?.is_some()),
        }
    }
}

/// Whether any child of this process has ended; none is reaped.
pub fn any_has_ended() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, options).is_ok_and(|ended| ended.is_some())
}

/// Sends `signal` to the process `pid`; nothing happens where there is none.
pub fn signal(pid: i32, signal: Signal) {
    let _ = id(pid).map(|pid| rustix::process::kill_process(pid, signal));
}

/// Sends `signal` to all processes of the group that `leader` leads.
pub fn signal_group(leader: i32, signal: Signal) {
    let _ = id(leader).map(|leader| rustix::process::kill_process_group(leader, signal));
}

/// Starts `command` in a process group of its own, which the kernel kills when the calling thread ends; its id.
///
/// The caller reaps it: nothing here waits for it or kills it.
///
/// # Errors
/// It cannot be executed.
pub fn start_that_dies_with_this_thread(command: &mut Command) -> io::Result<i32> {
    let ours = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        match rustix::process::getppid() {
            Some(parent) if parent == ours => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)), // we were killed before this could take effect
        }
    };
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.process_group(0).pre_exec(prepare) };
    Ok(command.spawn()?.id() as i32)
}

/// Lets `command`, when it is spawned, lead a session whose controlling terminal is its standard input.
pub fn lead_a_session(command: &mut Command) {
    // SAFETY: between fork and exec only two system calls are made; descriptor 0 is open there.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(rustix::process::ioctl_tiocsctty(BorrowedFd::borrow_raw(0))?)
        });
    }
}

/// Lets `command`, when it is spawned, join the control groups whose `cgroup.procs` are `groups`.
pub fn join_groups_before_exec(command: &mut Command, groups: Vec<CString>) {
    let join = move || groups.iter().try_for_each(|group| join_group(group));
    // SAFETY: between fork and exec `join` only opens, writes and closes; it allocates nothing.
    unsafe { command.pre_exec(join) };
}

fn join_group(group: &CStr) -> io::Result<()> {
    let group = rustix::fs::open(group, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&group, b"0")?;
    Ok(())
}

/// Lets `command`, when it is spawned, write its process id (four bytes) to `told`, and wait for a byte, or the end, of
/// `held` before it executes.
///
/// Both descriptors must stay open until it was spawned.
pub fn hold_before_exec(command: &mut Command, told: BorrowedFd<'_>, held: BorrowedFd<'_>) {
    let (told, held) = (told.as_raw_fd(), held.as_raw_fd());
    let wait = move || {
        let pid = std::process::id().to_ne_bytes();
        // SAFETY: the child was forked while both descriptors were open.
        let (told, held) = unsafe { (BorrowedFd::borrow_raw(told), BorrowedFd::borrow_raw(held)) };
        rustix::io::write(told, &pid)?;
        rustix::io::read(held, &mut [0])?;
        Ok(())
    };
    // SAFETY: between fork and exec `wait` only writes and reads; it allocates nothing.
    unsafe { command.pre_exec(wait) };
}

fn id(pid: i32) -> Option<Pid> {
    Pid::from_raw(pid).filter(|_| pid > 0)
}

fn exit_of(status: i32) -> Exit {
    match libc::WIFSIGNALED(status) {
        true => Exit::Signal(libc::WTERMSIG(status)),
        false => Exit::Status(libc::WEXITSTATUS(status)),
    }
}

impl Used {
    fn of(used: &libc::rusage) -> Used {
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Used {
            user_ns: ns(used.ru_utime),
            system_ns: ns(used.ru_stime),
            faults_minor: used.ru_minflt as u64,
            faults_major: used.ru_majflt as u64,
            max_resident_bytes: used.ru_maxrss as u64 * 1024,
            switches_voluntary: used.ru_nvcsw as u64,
            switches_involuntary: used.ru_nivcsw as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> i32 {
        start_that_dies_with_this_thread(Command::new("/bin/sh").args(["-c", script])).expect("a shell")
    }

    #[test]
    fn a_child_is_looked_at_before_it_is_reaped_and_reaped_once() {
        let pid = start("exit 3");
        assert!(has_ended(pid, true).expect("a child"));
        assert!(has_ended(pid, false).expect("still not reaped"));
        assert_eq!(reap(pid), Some(Exit::Status(3)));
        assert_eq!(reap(pid), None);
        assert!(has_ended(pid, false).is_err());
    }

    #[test]
    fn a_signal_to_its_group_ends_a_child_that_sleeps() {
        let pid = start("sleep 1000");
        signal_group(pid, Signal::KILL);
        assert_eq!(wait_with_usage(pid).expect("a child").0, Exit::Signal(9));
    }

    #[test]
    fn what_a_child_used_is_told() {
        let (exit, used) = wait_with_usage(start("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")).expect("a child");
        assert_eq!(exit, Exit::Status(0));
        assert!(used.user_ns + used.system_ns > 1_000_000 && used.faults_minor > 0 && used.max_resident_bytes > 0, "{used:?}");
    }

    #[test]
    fn a_held_child_tells_its_id_and_waits_to_be_released() {
        use std::io::{Read, Write};
        use std::os::fd::AsFd;
        let (mut joined, told) = io::pipe().expect("a pipe");
        let (held, mut release) = io::pipe().expect("a pipe");
        let mut command = Command::new("/bin/true");
        hold_before_exec(&mut command, told.as_fd(), held.as_fd());
        std::thread::scope(|scope| {
            let spawned = scope.spawn(|| command.spawn().expect("it starts").id());
            let mut pid = [0; 4];
            joined.read_exact(&mut pid).expect("it tells its id");
            release.write_all(&[1]).expect("it is released");
            assert_eq!(spawned.join().expect("no panic"), u32::from_ne_bytes(pid));
            wait(i32::from_ne_bytes(pid));
        });
    }
}
