//! `loadgo-agent`: serves one controller on the standard streams, and ends with them. `loadgo-agent hash` prints its own
//! SHA-256, `loadgo-agent clear` undoes what killed agents have left, and `loadgo-agent wake PID` lets a stopped agent run on.
//! `loadgo-agent ready|meter|doctor` need no controller.

mod alone;
mod commands;
mod connection;
mod driving;
mod metering;
mod program;
mod refusals;
mod table_sender;
mod temporary_folder;

use connection::Connection;
use loadgo_agent::abilities::host_abilities;
use loadgo_agent::frame::Kind;
use loadgo_agent::message::{Hello, RefusalAnswer, Request};
use loadgo_host::conditions::describe;
use loadgo_host::leftovers::clear_stale;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

const USAGE_TEXT: &str = "\
usage: loadgo-agent ready [-n RUNS] [--quiet-output] -- COMMAND…   what a command used
       loadgo-agent meter --for 10s [--meters TIER]                where this host's processor time goes
       loadgo-agent meter [--meters TIER]                          the same until it is interrupted
       loadgo-agent meter [--meters TIER] -- COMMAND…              the same while a command runs
       loadgo-agent doctor [--full]                                what can be measured here, and why not the rest
       loadgo-agent version
       loadgo-agent clear                                          undoes what killed agents have left on this host
loadgo on another host starts `loadgo-agent serve` by ssh (`loadgo doctor --on ssh://HOST`), and uses `hash` and `wake PID`.
";
/// Exit status of a command line that is not understood.
const USAGE_STATUS: u8 = 2;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    let arguments: Vec<String> = typed.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let after_name = || typed.iter().skip(1).cloned().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ready", ..] => alone::ready(after_name()),
        ["meter", ..] => alone::meter(after_name()),
        ["doctor", ..] => alone::doctor(after_name()),
        ["version" | "--version" | "-V"] => print_line(&format!("loadgo-agent {}", env!("CARGO_PKG_VERSION"))),
        ["help" | "--help" | "-h"] => print_line(USAGE_TEXT.trim_end()),
        ["serve"] => serve(),
        ["hash"] => print_hash(),
        ["clear"] => clear(),
        ["wake", pid] => wake(pid),
        _ => {
            let _ = write!(std::io::stderr(), "{USAGE_TEXT}");
            ExitCode::from(USAGE_STATUS)
        }
    }
}

fn print_hash() -> ExitCode {
    program::hash().map_or(ExitCode::FAILURE, |hash| print_line(&hash))
}

fn print_line(line: &str) -> ExitCode {
    let Err(error) = writeln!(std::io::stdout(), "{line}") else { return ExitCode::SUCCESS };
    failed(&format!("the output cannot be written: {error}"))
}

/// Undoes what killed agents and runs have left on this host.
fn clear() -> ExitCode {
    let cleared = clear_stale();
    let left_behind = cleared.left_behind.iter().map(ToString::to_string);
    let lines: Vec<String> = cleared.undone.into_iter().chain(left_behind).collect();
    let _ = lines.iter().try_for_each(|line| writeln!(std::io::stdout(), "{line}"));
    if cleared.left_behind.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Continues the stopped process `pid`, if it runs this same program.
fn wake(pid: &str) -> ExitCode {
    let woken = program::is_ours(pid).then(|| pid.parse().ok().and_then(Pid::from_raw)).flatten();
    let woken = woken.is_some_and(|pid| kill_process(pid, Signal::CONT).is_ok());
    if woken { ExitCode::SUCCESS } else { failed(&format!("no process {pid} of this program can be continued")) }
}

fn failed(message: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "loadgo-agent: {message}");
    ExitCode::FAILURE
}

/// Answers requests one after the other, until the controller is gone.
fn serve() -> ExitCode {
    let (connection, requests) = match hello().and_then(|hello| Connection::open(&hello)) {
        Ok(opened) => opened,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "loadgo-agent cannot begin: {error}");
            return ExitCode::FAILURE;
        }
    };
    for body in requests {
        match serde_json::from_slice::<Request>(&body) {
            Ok(request) => answer(&connection, &request),
            Err(error) => refuse(&connection, RefusalAnswer { reason: format!("not a request: {error}"), left_behind: vec![] }),
        }
    }
    if connection.is_damaged.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn hello() -> std::io::Result<Hello> {
    let here = describe();
    Ok(Hello {
        hash: program::hash()?,
        pid: std::process::id(),
        hostname: here.hostname,
        kernel: here.kernel,
        is_root: rustix::process::geteuid().is_root(),
    })
}

/// Why an agent that is root by sudo runs no command of the controller's. A rule in sudoers for the agent would allow them all.
const NO_COMMANDS_BY_SUDO: &str = "an agent that was started by sudo measures, and runs no commands and no users: leave sudo out, or \
    log in as root";

fn answer(connection: &Connection, request: &Request) {
    let runs_commands = matches!(request, Request::Try(_) | Request::Drive(_) | Request::Ready(_));
    if runs_commands && program::account_by_sudo().is_some() {
        return refuse(connection, refusals::refused(NO_COMMANDS_BY_SUDO.into()));
    }
    match request {
        Request::Doctor {} => connection.send_json(Kind::Answer, &host_abilities()),
        Request::Meter(request) => send(connection, metering::meter(connection, request)),
        Request::Try(request) => send(connection, driving::try_log_in(connection, request)),
        Request::Drive(request) => send(connection, driving::drive(connection, request)),
        Request::Ready(request) => send(connection, commands::run_command(connection, request)),
    }
}

fn send(connection: &Connection, result: Result<impl Serialize, RefusalAnswer>) {
    match result {
        Ok(answer) => connection.send_json(Kind::Answer, &answer),
        Err(refusal) => refuse(connection, refusal),
    }
}

fn refuse(connection: &Connection, refusal: RefusalAnswer) {
    connection.send_json(Kind::Refusal, &refusal);
}
