//! Child processes: how they are set up before they execute, how they end, and the resources that they used.

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
    /// The process exited with this status.
    Status(i32),
    /// This signal killed the process.
    Signal(i32),
}

/// Resources that a process used, with all its descendants that were waited for, by wait4(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait4Usage {
    /// Processor time in programs.
    pub user_ns: u64,
    /// Processor time in the system.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub faults_minor: u64,
    /// Page faults with I/O.
    pub faults_major: u64,
    /// Largest resident memory of any of the processes.
    pub max_resident_bytes: u64,
    /// Times that a process gave the processor up.
    pub switches_voluntary: u64,
    /// Times that the processor was taken from a process.
    pub switches_involuntary: u64,
}

impl Wait4Usage {
    /// The values with their names.
    pub fn by_name(&self) -> [(&'static str, u64); 7] {
        let Wait4Usage { user_ns, system_ns, faults_minor, faults_major, .. } = *self;
        [
            ("user_ns", user_ns),
            ("system_ns", system_ns),
            ("faults_minor", faults_minor),
            ("faults_major", faults_major),
            ("max_resident_bytes", self.max_resident_bytes),
            ("switches_voluntary", self.switches_voluntary),
            ("switches_involuntary", self.switches_involuntary),
        ]
    }
}

/// This process's own peak of resident memory, in bytes: the peak of a child is never reported lower, since it begins as a copy.
pub fn own_peak_bytes() -> u64 {
    // SAFETY: an all-zero rusage is valid, and the kernel fills it.
    let used = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
        used
    };
    Wait4Usage::from_rusage(&used).max_resident_bytes
}

/// Reaps the child `pid` and returns how it ended; None if it runs or is no child.
pub fn reap(pid: i32) -> Option<Exit> {
    let (_, status) = rustix::process::waitpid(Some(id(pid)?), WaitOptions::NOHANG).ok()??;
    Some(exit_of(status.as_raw()))
}

/// Waits for the child `pid` and reaps it.
pub fn wait(pid: i32) {
    // A child that another thread has reaped is gone as well.
    let _ = id(pid).map(|pid| rustix::process::waitpid(Some(pid), WaitOptions::empty()));
}

/// Waits for the child `pid`, reaps it, and returns how it ended and what it used.
///
/// # Errors
/// The kernel's: no child of ours has this id.
pub fn wait_with_usage(pid: i32) -> io::Result<(Exit, Wait4Usage)> {
    let (mut status, mut used) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both places live during the call.
        if unsafe { libc::wait4(pid, &mut status, 0, used.as_mut_ptr()) } >= 0 {
            // SAFETY: the kernel has filled it in, and all zeros is a valid rusage too.
            return Ok((exit_of(status), Wait4Usage::from_rusage(&unsafe { used.assume_init() })));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Whether the child `pid` has ended, without reaping it. With `wait`, waits until it has.
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
            status => return Ok(status?.is_some()),
        }
    }
}

/// Whether any child of this process has ended; none is reaped.
pub fn any_has_ended() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, options).is_ok_and(|ended| ended.is_some())
}

/// Sends `signal` to the process `pid`, if there is such a process.
pub fn signal(pid: i32, signal: Signal) {
    let _ = id(pid).map(|pid| rustix::process::kill_process(pid, signal));
}

/// Sends `signal` to all processes of the group that `leader` leads.
pub fn signal_group(leader: i32, signal: Signal) {
    let _ = id(leader).map(|leader| rustix::process::kill_process_group(leader, signal));
}

/// Starts `command` in a process group of its own, and returns its process id. The kernel kills it when the calling thread ends.
///
/// The caller must reap the child.
///
/// # Errors
/// The command cannot be executed.
pub fn start_that_dies_with_this_thread(command: &mut Command) -> io::Result<i32> {
    let ours = rustix::process::getpid();
    let prepare = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        match rustix::process::getppid() {
            Some(parent) if parent == ours => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)), // the parent died before the signal was set
        }
    };
    // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.process_group(0).pre_exec(prepare) };
    Ok(command.spawn()?.id() as i32)
}

/// Lets `command` lead a session when spawned, with its standard input as controlling terminal.
pub fn lead_a_session(command: &mut Command) {
    // SAFETY: between fork and exec only two system calls are made; descriptor 0 is open there.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(rustix::process::ioctl_tiocsctty(BorrowedFd::borrow_raw(0))?)
        });
    }
}

/// Lets `command` join control groups when spawned; `groups` are the paths of their `cgroup.procs`.
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

/// Lets `command` wait, when spawned, before it executes. The child writes its process id (four bytes) to `pid_pipe`, and waits
/// for a byte or the end of `release_pipe`.
///
/// Both descriptors must stay open until the command has been spawned.
pub fn hold_before_exec(command: &mut Command, pid_pipe: BorrowedFd<'_>, release_pipe: BorrowedFd<'_>) {
    let (pid_pipe, release_pipe) = (pid_pipe.as_raw_fd(), release_pipe.as_raw_fd());
    let wait = move || {
        let pid = std::process::id().to_ne_bytes();
        // SAFETY: the child was forked while both descriptors were open.
        let (pid_pipe, release_pipe) = unsafe { (BorrowedFd::borrow_raw(pid_pipe), BorrowedFd::borrow_raw(release_pipe)) };
        rustix::io::write(pid_pipe, &pid)?;
        rustix::io::read(release_pipe, &mut [0])?;
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

impl Wait4Usage {
    fn from_rusage(used: &libc::rusage) -> Wait4Usage {
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Wait4Usage {
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
    fn a_child_that_works_has_used_time_faults_and_memory() {
        let (exit, used) = wait_with_usage(start("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")).expect("a child");
        assert_eq!(exit, Exit::Status(0));
        assert!(used.user_ns + used.system_ns > 1_000_000 && used.faults_minor > 0 && used.max_resident_bytes > 0, "{used:?}");
    }

    #[test]
    fn a_held_child_writes_its_id_and_waits_to_be_released() {
        use std::io::{Read, Write};
        use std::os::fd::AsFd;
        let (mut joined, pid_pipe) = io::pipe().expect("a pipe");
        let (release_pipe, mut release) = io::pipe().expect("a pipe");
        let mut command = Command::new("/bin/true");
        hold_before_exec(&mut command, pid_pipe.as_fd(), release_pipe.as_fd());
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
