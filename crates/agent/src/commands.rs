//! The runs of one command on this host, metered for a controller as `loadgo ready` meters them where it runs.
//!
//! The command reads nothing. What it prints goes to the controller while it runs.

use crate::connection::Connection;
use crate::refusals::refused;
use loadgo_agent::frame::{Kind, PIECE_BYTES};
use loadgo_agent::message::{ColdAnswer, NotRunAnswer, ReadyAnswer, ReadyRequest, RefusalAnswer, RunAnswer, SourcesAnswer};
use loadgo_host::commands::cold::Cold;
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_sys::child::{Exit, own_peak_bytes};
use loadgo_sys::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read as _};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The stream numbers of a command's output and of its errors in a frame.
const OUTPUT_ID: u8 = 1;
const ERRORS_ID: u8 = 2;
/// Interval at which the end of the command and a stop are looked for.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// Time that a command has for its end after SIGTERM, before it is killed.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// Makes the runs of a command, or fewer if the controller wants the end.
///
/// # Errors
/// This host can meter no command.
pub(crate) fn run_command(connection: &Connection, request: &ReadyRequest) -> Result<ReadyAnswer, RefusalAnswer> {
    let opened = Oneshot::open_on_cleared_host();
    let mut oneshot = opened.map_err(|error| refused(format!("the command cannot be metered: {error}")))?;
    let command: Vec<OsString> = request.command.iter().map(OsString::from).collect();
    let (mut runs, mut not_run, began_ns) = (Vec::new(), None, monotonic_ns());
    for is_cold in &request.cold {
        if connection.stop.is_set() {
            break;
        }
        let warmth = if *is_cold { Warmth::Cold } else { Warmth::AsItIs };
        match run_once(connection, &mut oneshot, &command, warmth, request.output) {
            Ok(run) => runs.push(run_answer(run, connection.stop.is_set())),
            Err(error) => {
                not_run = Some(NotRunAnswer { is_missing: error.kind() == io::ErrorKind::NotFound, reason: error.to_string() });
                break;
            }
        }
    }
    let sources = sources_answer(&oneshot);
    let left_behind = oneshot.close().iter().map(ToString::to_string).collect();
    Ok(ReadyAnswer { runs, not_run, began_ns, floor_bytes: own_peak_bytes(), sources, left_behind })
}

/// Runs the command once, while threads send what it prints and pass a stop on to it.
fn run_once(
    connection: &Connection,
    oneshot: &mut Oneshot,
    command: &[OsString],
    warmth: Warmth,
    output: bool,
) -> io::Result<Run> {
    let (running, has_ended) = (oneshot.running(), AtomicBool::new(false));
    let (streams, readers) = if output { piped()? } else { (Streams::Null, Vec::new()) };
    thread::scope(|scope| {
        for (stream, reader) in readers {
            let has_ended = &has_ended;
            scope.spawn(move || send_printed(connection, stream, reader, has_ended));
        }
        scope.spawn(|| pass_stop_on(connection, &running, &has_ended));
        let run = oneshot.run(command, streams, warmth);
        has_ended.store(true, Ordering::Release);
        run
    })
}

fn piped() -> io::Result<(Streams, Vec<(u8, PipeReader)>)> {
    let (read_output, output) = io::pipe()?;
    let (read_errors, errors) = io::pipe()?;
    Ok((Streams::Piped { output, errors }, vec![(OUTPUT_ID, read_output), (ERRORS_ID, read_errors)]))
}

/// Sends what comes through the pipe until nobody can write into it, or the command has ended and the pipe is empty.
fn send_printed(connection: &Connection, stream: u8, mut reader: PipeReader, has_ended: &AtomicBool) {
    let mut piece = vec![stream; 1 + PIECE_BYTES];
    loop {
        let is_last = has_ended.load(Ordering::Acquire);
        let mut watched = [PollFd::new(&reader, PollFlags::IN)];
        match poll(&mut watched, Some(&LOOK_EVERY)) {
            Ok(0) if is_last => return,
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        match reader.read(&mut piece[1..]) {
            Ok(0) | Err(_) => return,
            Ok(length) => connection.send(Kind::Printed, &piece[..=length]),
        }
    }
}

/// Ends the running command when the controller wants the end: by SIGTERM, and if it stays, by SIGKILL.
fn pass_stop_on(connection: &Connection, running: &AtomicI32, has_ended: &AtomicBool) {
    let mut terminated_at: Option<Instant> = None;
    while !has_ended.load(Ordering::Acquire) {
        thread::sleep(Duration::from_nanos(LOOK_EVERY.tv_nsec as u64));
        let Some(pid) = Pid::from_raw(running.load(Ordering::Acquire)).filter(|_| connection.stop.is_set()) else { continue };
        match terminated_at {
            None => {
                let _ = kill_process(pid, Signal::TERM);
                terminated_at = Some(Instant::now());
            }
            Some(at) if at.elapsed() > END_PATIENCE => drop(kill_process(pid, Signal::KILL)),
            Some(_) => {}
        }
    }
}

fn run_answer(run: Run, interrupted: bool) -> RunAnswer {
    let (exit_status, signal) = match run.exit {
        Exit::Status(status) => (Some(status), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    RunAnswer {
        real_ns: run.real_ns,
        usage: by_name(&run.usage.by_column()),
        waited: by_name(&run.waited.by_name()),
        exit_status,
        signal,
        left_running: run.left_running as u64,
        let_go: run.let_go as u64,
        lost: run.lost,
        cold: run.cold.map(cold_answer),
        interrupted,
    }
}

/// Values by their names, as an answer has them.
fn by_name<V: Copy>(values: &[(&'static str, V)]) -> BTreeMap<String, V> {
    values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

fn cold_answer(cold: Cold) -> ColdAnswer {
    let file = |file: loadgo_host::commands::cold::ColdFile| (file.path.display().to_string(), file.bytes, file.stayed_bytes);
    ColdAnswer { files: cold.files.into_iter().map(file).collect(), names_dropped: cold.names_dropped }
}

fn sources_answer(oneshot: &Oneshot) -> SourcesAnswer {
    let sources = oneshot.sources();
    let no_groups = oneshot.no_groups().map(str::to_owned);
    SourcesAnswer {
        cpu: sources.cpu.into(),
        faults: sources.faults.into(),
        waits: sources.waits.into(),
        cpu_resolution_ns: sources.cpu_resolution_ns,
        split: sources.split.into(),
        groups: no_groups.is_none(),
        notes: no_groups.into_iter().chain(sources.notes.iter().chain(oneshot.undone()).cloned()).collect(),
    }
}
