//! One command, run and metered as a user's interaction is: `loadgo ready -- COMMAND`.
//!
//! The command is held just before its program is loaded, while the meter takes its first reading: what starting it cost
//! loadgo is not the command's. Beside the meter's account stands wait4's, which lacks what the command did not wait for.

use std::ffi::{CString, OsString};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::{fs, thread};

use loadgo_core::system::{Usage, UserId};

use crate::cgroup::Groups;
use crate::cold::{Cold, files_of, find_program, make_cold};
use crate::leftovers::Leftovers;
use crate::sources::{self, Demand, Sources};
use crate::usage::Meter;
use crate::waits::Waits;

const NOBODY_ELSE: UserId = 1;

/// Runs commands one after the other; what it made on the host is undone when it is dropped.
#[derive(Debug)]
pub struct Oneshot {
    groups: Option<Arc<Groups>>,
    meter: Meter,
    no_groups: Option<String>,
    running: Arc<AtomicI32>,
    // Last, so that it is dropped last.
    _leftovers: Leftovers,
}

/// Where the command reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// Where loadgo does.
    Inherited,
    /// It writes where loadgo does, and there is nothing to read.
    NoInput,
    /// It reads where loadgo does, and what it writes is lost.
    NoOutput,
    /// Nowhere.
    Null,
}

/// Whether the command's pages are dropped before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    /// As the host has it.
    AsItIs,
    /// Its program, libraries and named files are dropped from memory.
    Cold,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// One run of a command, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// From the loading of the program to its end.
    pub real_ns: u64,
    /// What the system used for it, all that it started included.
    pub usage: Usage,
    /// How it ended.
    pub exit: Exit,
    /// What wait4 says of it and of those it waited for.
    pub waited: Waited,
    /// Processes of the command that still ran when it had ended; 0 where there is no control group to tell.
    pub left_running: usize,
    /// Those of them that were let go: they run on unmetered. The others are killed when the [`Oneshot`] is dropped.
    pub let_go: usize,
    /// How cold it was made, if it was.
    pub cold: Option<Cold>,
    /// Records of usage that were lost.
    pub lost: u64,
}

/// The account of wait4, from the process's creation on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Processor time in programs.
    pub user_ns: u64,
    /// Processor time in the system.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub faults_minor: u64,
    /// Page faults with I/O.
    pub faults_major: u64,
    /// The most memory that one of its processes had.
    pub max_resident_bytes: u64,
    /// Times that it gave the processor up.
    pub switches_voluntary: u64,
    /// Times that the processor was taken from it.
    pub switches_involuntary: u64,
}

impl Oneshot {
    /// Opens the best meter of this host.
    pub fn open() -> io::Result<Oneshot> {
        let mut leftovers = Leftovers::begin("ready")?;
        let (groups, no_groups) = match Groups::create("ready", &mut leftovers) {
            Ok(groups) => (Some(Arc::new(groups)), None),
            Err(why) => (None, Some(why.to_string())),
        };
        if let Some(groups) = &groups {
            groups.add_user(NOBODY_ELSE)?;
        }
        let demand = Demand { users: 1, every: 1, taskstats: true };
        let meter = sources::open(groups.as_deref(), demand, &mut leftovers)?;
        Ok(Oneshot { groups, meter, no_groups, running: Arc::default(), _leftovers: leftovers })
    }

    /// Takes waits from a finer account.
    pub fn take_waits_from(&mut self, waits: Box<dyn Waits>) {
        self.meter.take_waits_from(waits);
    }

    /// Where the figures come from.
    pub fn sources(&self) -> &Sources {
        self.meter.sources()
    }

    /// The groups that the command is in, if there are any.
    pub fn groups(&self) -> Option<Arc<Groups>> {
        self.groups.clone()
    }

    /// Why there is no control group, if there is none.
    pub fn no_groups(&self) -> Option<&str> {
        self.no_groups.as_deref()
    }

    /// The id of the command that runs, 0 when none does; so that another thread can pass a signal on.
    pub fn running(&self) -> Arc<AtomicI32> {
        Arc::clone(&self.running)
    }

    /// Runs the command (program and arguments) once. It fails when the program cannot be run.
    pub fn run(&mut self, command: &[OsString], streams: Streams, warmth: Warmth) -> io::Result<Run> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let program = find_program(program)?;
        let mut prepared = Command::new(&program);
        prepared.args(arguments).arg0(&command[0]);
        if matches!(streams, Streams::Null | Streams::NoInput) {
            prepared.stdin(Stdio::null());
        }
        if matches!(streams, Streams::Null | Streams::NoOutput) {
            prepared.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let cold = (warmth == Warmth::Cold).then(|| make_cold(&files_of(&program, arguments)));
        let (pid, began_ns) = self.start(prepared)?;
        self.running.store(pid, Ordering::Release);
        let ended = wait(pid);
        self.running.store(0, Ordering::Release);
        let (exit, waited, ended_ns) = ended?;
        let usage = self.meter.interaction(NOBODY_ELSE);
        self.meter.ended(NOBODY_ELSE);
        let (left_running, let_go) = self.groups.as_deref().map_or((0, 0), let_go);
        let lost = self.meter.take_lost();
        Ok(Run { real_ns: ended_ns - began_ns, usage, exit, waited, left_running, let_go, cold, lost })
    }

    /// Starts the command: it joins its group, waits until the meter has its first reading, and goes.
    fn start(&mut self, mut command: Command) -> io::Result<(i32, u64)> {
        let paths = self.groups.as_ref().map_or(Vec::new(), |groups| groups.join_paths(NOBODY_ELSE));
        let (joined, told) = io::pipe()?;
        let (held, release) = io::pipe()?;
        let (told_fd, held_fd) = (told.as_raw_fd(), held.as_raw_fd());
        // SAFETY: between fork and exec `wait_in_group` only opens, writes, reads and closes; it allocates nothing.
        unsafe { command.pre_exec(move || wait_in_group(&paths, told_fd, held_fd)) };
        let meter = &mut self.meter;
        thread::scope(|scope| {
            let reading = scope.spawn(move || first_reading(meter, joined, release));
            let child = command.spawn();
            // Should the child never have told, its end of the pipe and ours are now closed, and the thread ends.
            drop((told, held));
            let began_ns = reading.join().expect("the first reading does not panic");
            Ok((child?.id() as i32, began_ns?))
        })
    }
}

/// Moves what the command left running out of the group, that it may live on; how many there were, how many could be moved.
fn let_go(groups: &Groups) -> (usize, usize) {
    let left = groups.processes(NOBODY_ELSE).unwrap_or_default();
    let Some(above) = groups.path().parent() else { return (left.len(), 0) };
    let moved = left.iter().filter(|pid| fs::write(above.join("cgroup.procs"), pid.to_string()).is_ok());
    (left.len(), moved.count())
}

/// In the child: joins the groups, tells its id, and waits to be released.
fn wait_in_group(paths: &[CString], told: RawFd, held: RawFd) -> io::Result<()> {
    for path in paths {
        // SAFETY: the path ends with a zero; the byte is a constant.
        unsafe {
            let group = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if group < 0 || libc::write(group, c"0".as_ptr().cast(), 1) != 1 {
                return Err(io::Error::last_os_error());
            }
            libc::close(group);
        }
    }
    let pid = std::process::id().to_ne_bytes();
    let mut byte = 0u8;
    // SAFETY: both buffers are ours; the descriptors are open in the child, for it has just been forked.
    unsafe {
        libc::write(told, pid.as_ptr().cast(), pid.len());
        libc::read(held, (&raw mut byte).cast(), 1);
    }
    Ok(())
}

/// Takes the first reading of the process that tells its id, and lets it go; when that was.
fn first_reading(meter: &mut Meter, mut joined: PipeReader, mut release: PipeWriter) -> io::Result<u64> {
    let mut pid = [0; 4];
    joined.read_exact(&mut pid)?;
    meter.began(NOBODY_ELSE, u32::from_ne_bytes(pid));
    meter.interaction(NOBODY_ELSE);
    let now = monotonic_ns();
    release.write_all(&[1])?;
    Ok(now)
}

fn wait(pid: i32) -> io::Result<(Exit, Waited, u64)> {
    let (mut status, mut used) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both are ours, and all zeros is a valid rusage; the pid is our child's, which nobody else waits for.
        let result = unsafe { libc::wait4(pid, &mut status, 0, used.as_mut_ptr()) };
        let ended_ns = monotonic_ns();
        match result {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            // SAFETY: as above.
            _ => return Ok((exit_of(status), waited(&unsafe { used.assume_init() }), ended_ns)),
        }
    }
}

fn exit_of(status: i32) -> Exit {
    match libc::WIFSIGNALED(status) {
        true => Exit::Signal(libc::WTERMSIG(status)),
        false => Exit::Status(libc::WEXITSTATUS(status)),
    }
}

fn waited(used: &libc::rusage) -> Waited {
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Waited {
        user_ns: ns(used.ru_utime),
        system_ns: ns(used.ru_stime),
        faults_minor: used.ru_minflt as u64,
        faults_major: used.ru_majflt as u64,
        max_resident_bytes: used.ru_maxrss as u64 * 1024,
        switches_voluntary: used.ru_nvcsw as u64,
        switches_involuntary: used.ru_nivcsw as u64,
    }
}

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is ours; this clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
