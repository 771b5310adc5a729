//! One command, run and metered as a user's interaction is: `loadgo ready -- COMMAND`.
//!
//! The command is held just before its program is loaded, while the meter takes its first reading. So loadgo's own cost of
//! starting it is not charged to the command. The usage by wait4 is reported too; it lacks descendants that were not waited for.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::{fs, thread};

use loadgo_core::system::{Usage, UserId};
use loadgo_sys::child::{Exit, Wait4Usage, hold_before_exec, join_groups_before_exec, wait_with_usage};
use loadgo_sys::clock::monotonic_ns;

use crate::commands::cold::{Cold, files_of, find_program, make_cold};
use crate::groups::Groups;
use crate::leftovers::{Cleared, Leftovers, clear_stale};
use crate::refusal::Refusal;
use crate::usage::meter::UsageMeter;
use crate::usage::sources::{Demand, Sources};
use crate::usage::waits::Waits;

/// Number of the user who stands for the command in the meter.
const COMMAND_USER_ID: UserId = 1;

/// Runs commands one after the other; dropping it undoes all changes that it made on the host.
#[derive(Debug)]
pub struct Oneshot {
    groups: Option<Arc<Groups>>,
    meter: UsageMeter,
    no_groups: Option<String>,
    running: Arc<AtomicI32>,
    cleared: Cleared,
    // Last, so that it is dropped last.
    leftovers: Leftovers,
}

/// Where the command reads and writes.
#[derive(Debug)]
pub enum Streams {
    /// Input and output are loadgo's own.
    Inherited,
    /// Output is loadgo's own; there is nothing to read.
    NoInput,
    /// Input is loadgo's own; output is lost.
    NoOutput,
    /// There is nothing to read, and output is lost.
    Null,
    /// There is nothing to read; output and errors go into these pipes.
    Piped {
        /// Takes the output.
        output: PipeWriter,
        /// Takes the errors.
        errors: PipeWriter,
    },
}

impl Streams {
    fn set(self, command: &mut Command) {
        match self {
            Streams::Inherited => command,
            Streams::NoInput => command.stdin(Stdio::null()),
            Streams::NoOutput => command.stdout(Stdio::null()).stderr(Stdio::null()),
            Streams::Null => command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()),
            Streams::Piped { output, errors } => command.stdin(Stdio::null()).stdout(output).stderr(errors),
        };
    }
}

/// Whether the command's pages are dropped before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    /// Pages stay as the host has them.
    AsItIs,
    /// The pages of the program, its libraries and the named files are dropped from memory.
    Cold,
}

/// The measurements of one run of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Time from the loading of the program to its end.
    pub real_ns: u64,
    /// Resources that the command and all its descendants used.
    pub usage: Usage,
    /// How the command ended.
    pub exit: Exit,
    /// Usage by wait4: the command and the descendants that were waited for.
    pub waited: Wait4Usage,
    /// Number of the command's processes that still ran when it had ended; 0 where no control group counts them.
    pub left_running: usize,
    /// Number of these processes that were released and run on unmetered. The others are killed when the [`Oneshot`] is dropped.
    pub let_go: usize,
    /// How cold the command was made, if it was.
    pub cold: Option<Cold>,
    /// Number of usage records that were lost.
    pub lost: u64,
}

impl Oneshot {
    /// Opens the best meter of this host, after undoing what killed runs have left there.
    pub fn open_on_cleared_host() -> io::Result<Oneshot> {
        let cleared = clear_stale();
        Ok(Oneshot { cleared, ..Oneshot::open()? })
    }

    /// Opens the best meter of this host.
    pub fn open() -> io::Result<Oneshot> {
        let mut leftovers = Leftovers::begin("ready")?;
        let (groups, no_groups) = match Groups::create("ready", &mut leftovers) {
            Ok(groups) => (Some(Arc::new(groups)), None),
            Err(why) => (None, Some(why.to_string())),
        };
        if let Some(groups) = &groups {
            groups.add_user(COMMAND_USER_ID)?;
        }
        let demand = Demand { first_user: 1, users: 1, every: 1, taskstats: true };
        let meter = UsageMeter::open(groups.as_deref(), demand, &mut leftovers)?;
        Ok(Oneshot { groups, meter, no_groups, running: Arc::default(), cleared: Cleared::default(), leftovers })
    }

    /// Hands over the list of changes made on the host; dropping the list undoes them.
    pub fn into_leftovers(self) -> Leftovers {
        self.leftovers
    }

    /// Undoes all changes made on the host. Returns what stays there, of this meter and of killed runs.
    pub fn close(mut self) -> Vec<Refusal> {
        let of_killed_runs = std::mem::take(&mut self.cleared.left_behind);
        [of_killed_runs, self.into_leftovers().finish()].concat()
    }

    /// Things that were undone when the meter was opened: a sentence for each killed run.
    pub fn undone(&self) -> &[String] {
        &self.cleared.undone
    }

    /// Reads waits from `waits`, a finer account, from now on.
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

    /// The process id of the running command, 0 when none runs. Another thread uses it to pass signals on.
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
        streams.set(&mut prepared);
        let cold = (warmth == Warmth::Cold).then(|| make_cold(&files_of(&program, arguments)));
        let (pid, began_ns) = self.start(prepared)?;
        self.running.store(pid, Ordering::Release);
        let ended = wait_with_usage(pid);
        let ended_ns = monotonic_ns();
        self.running.store(0, Ordering::Release);
        let (exit, waited) = ended?;
        let usage = self.meter.interaction(COMMAND_USER_ID);
        self.meter.ended(COMMAND_USER_ID);
        let (left_running, let_go) = self.groups.as_deref().map_or((0, 0), let_go);
        let lost = self.meter.take_lost();
        Ok(Run { real_ns: ended_ns - began_ns, usage, exit, waited, left_running, let_go, cold, lost })
    }

    /// Starts the command: the child joins its group, waits for the meter's first reading, and executes the program.
    fn start(&mut self, mut command: Command) -> io::Result<(i32, u64)> {
        let paths = self.groups.as_ref().map_or(Vec::new(), |groups| groups.join_paths(COMMAND_USER_ID));
        let (joined, pid_pipe) = io::pipe()?;
        let (held, release) = io::pipe()?;
        join_groups_before_exec(&mut command, paths);
        hold_before_exec(&mut command, pid_pipe.as_fd(), held.as_fd());
        let meter = &mut self.meter;
        thread::scope(|scope| {
            let reading = thread::Builder::new().spawn_scoped(scope, move || first_reading(meter, joined, release))?;
            let child = command.spawn();
            // If the child has never written its id, all writing ends of the pipe are now closed, and the thread ends.
            drop((pid_pipe, held));
            let began_ns = reading.join().expect("the first reading does not panic");
            Ok((child?.id() as i32, began_ns?))
        })
    }
}

/// Moves processes that the command left running out of the group, so that they live on.
/// Returns how many ran, and how many could be moved.
fn let_go(groups: &Groups) -> (usize, usize) {
    let left = groups.processes(COMMAND_USER_ID).unwrap_or_default();
    let Some(above) = groups.path().parent() else { return (left.len(), 0) };
    let moved = left.iter().filter(|pid| fs::write(above.join("cgroup.procs"), pid.to_string()).is_ok());
    (left.len(), moved.count())
}

/// Takes the first reading of the process whose id comes through `joined`, and releases it. Returns the instant of the release.
fn first_reading(meter: &mut UsageMeter, mut joined: PipeReader, mut release: PipeWriter) -> io::Result<u64> {
    let mut pid = [0; 4];
    joined.read_exact(&mut pid)?;
    meter.began(COMMAND_USER_ID, u32::from_ne_bytes(pid));
    meter.interaction(COMMAND_USER_ID);
    let now = monotonic_ns();
    release.write_all(&[1])?;
    Ok(now)
}
