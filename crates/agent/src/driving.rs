//! A range of users driven from this host for a controller. The driver is that of every run; its records go the way of a metering's.

use crate::connection::Connection;
use crate::refusals::{of_failure, refused};
use crate::table_sender::TableSender;
use crate::temporary_folder::TemporaryFolder;
use loadgo_agent::frame::Kind;
use loadgo_agent::message::{
    CONTROLLER_SILENCE_S, DRIVING_SILENCE_S, DestinationPart, DriveAnswer, DriveRequest, DrivingProgress, MOST_STANDSTILL_S,
    RefusalAnswer, TRIAL_LIMIT_S, TryAnswer, TryRequest,
};
use loadgo_core::system::Barrier;
use loadgo_core::time::Span;
use loadgo_host::scheduling::{Class, Wanted};
use loadgo_host::terminals::next_lines::{NEXT_LINE_BYTES, NextLines};
use loadgo_host::terminals::trial::Trial;
use loadgo_run::{ControllerTerms, Decision, Finished, Progress, Request, TierAsked, UsersOfHost, driven_from_here, run};
use std::fs;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two reports without news.
const REPORT_EVERY: Duration = Duration::from_millis(500);
/// The directories of programs where the environment names none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Tries a log-in to another host from here.
///
/// # Errors
/// The command cannot be started.
pub(crate) fn try_log_in(connection: &Connection, request: &TryRequest) -> Result<TryAnswer, RefusalAnswer> {
    let environment: Vec<_> = request.environment.clone().into_iter().collect();
    let trial = Trial {
        command: &request.command,
        search_path: &search_path(),
        run_id: &request.id,
        environment: &environment,
        limit: Duration::from_secs(TRIAL_LIMIT_S),
    };
    let end = trial.run(&connection.stop).map_err(|refusal| refused(refusal.to_string()))?;
    Ok(TryAnswer { status: end.status, messages: end.messages })
}

/// Drives users until they have left, and sends the records. The controller may stop it.
///
/// # Errors
/// This host does not allow it, nobody can log in, or the records cannot be kept here meanwhile.
pub(crate) fn drive(connection: &Connection, request: &DriveRequest) -> Result<DriveAnswer, RefusalAnswer> {
    connection.allow_silence(DRIVING_SILENCE_S);
    let mut place = TemporaryFolder::make(&request.id)?;
    let driven = run_request(connection, request, &place.folder()).and_then(|run| drive_into(connection, &run, &place.folder()));
    let sent = fs::read(place.folder().join("run.toml"));
    let left_behind = place.remove();
    connection.allow_silence(CONTROLLER_SILENCE_S);
    let finished = driven.map_err(|mut refusal| {
        refusal.left_behind.extend_from_slice(&left_behind);
        refusal
    })?;
    connection.send(Kind::RunToml, &sent.map_err(|error| refused(format!("run.toml cannot be read: {error}")))?);
    Ok(answer(finished, left_behind))
}

fn answer(finished: Finished, left_behind: Vec<String>) -> DriveAnswer {
    let counts = finished.summary;
    DriveAnswer {
        outcome: finished.outcome.into(),
        interactions: finished.interactions,
        logged_in: counts.logged_in,
        done: counts.done,
        died: counts.died,
        refused: counts.refused,
        notes: finished.notes,
        left_behind: finished.left_behind.into_iter().chain(left_behind).collect(),
    }
}

/// The run on this host that the controller asks for.
fn run_request(connection: &Connection, request: &DriveRequest, folder: &Path) -> Result<Request, RefusalAnswer> {
    let spec = request.load.clone().spec(folder.to_owned()).map_err(|wrong| refused(wrong.to_string()))?;
    let next_lines = next_lines(connection, request)?;
    let users_of = |part: &DestinationPart| UsersOfHost {
        last_user: part.last_user,
        login: part.login.clone(),
        sessions: part.sessions.clone(),
        next_lines: next_lines.clone().filter(|_| part.next_lines),
    };
    let users = request.destinations.iter().map(users_of).collect();
    let other_host = driven_from_here(&request.address).with_users(users);
    Ok(Request {
        // The folder's name is the agent's own; that of the run is in the users' environment.
        spec: loadgo_run::RunSpec { id: request.id.clone(), ..spec },
        limit: None,
        limit_each: None,
        scheduling: Wanted { class: if request.fifo { Class::Fifo } else { Class::Ordinary }, processor: request.processor },
        meters: TierAsked::No,
        usage_every: request.usage_every,
        working_sets: false,
        homes: std::env::temp_dir(),
        search_path: search_path(),
        other_host: Some(other_host.map_err(|refusal| refused(refusal.to_string()))?),
        orders: connection.orders.clone(),
        controller: Some(ControllerTerms { most_standstill: Span::from_secs(MOST_STANDSTILL_S) }),
    })
}

/// The way of the driver's news to the controller: a thread sends what comes out of a pipe, until the driver has closed it.
fn next_lines(connection: &Connection, request: &DriveRequest) -> Result<Option<NextLines>, RefusalAnswer> {
    if !request.destinations.iter().any(|part| part.next_lines) {
        return Ok(None);
    }
    let cannot = |error: io::Error| refused(format!("the driver cannot tell its users' lines: {error}"));
    let (reading, writing) = io::pipe().map_err(cannot)?;
    let news = NextLines::into_pipe(writing.as_raw_fd()).map_err(cannot)?;
    let connection = connection.clone();
    thread::Builder::new().name("loadgo-lines".into()).spawn(move || send_news(&connection, reading)).map_err(cannot)?;
    Ok(Some(news))
}

fn send_news(connection: &Connection, mut pipe: PipeReader) {
    let mut piece = [0; 4096 / NEXT_LINE_BYTES * NEXT_LINE_BYTES];
    while let Ok(length @ 1..) = pipe.read(&mut piece) {
        connection.send(Kind::NextLines, &piece[..length]);
    }
}

fn search_path() -> String {
    std::env::var("PATH").unwrap_or_else(|_| USUAL_PATH.into())
}

fn drive_into(connection: &Connection, request: &Request, folder: &Path) -> Result<Finished, RefusalAnswer> {
    let mut reports = Reports { connection, folder: folder.to_owned(), sender: None, last: None };
    let driven = run(request, |progress| reports.report(progress));
    let unsent = reports.sender.take().and_then(TableSender::end);
    let finished = driven.map_err(of_failure)?;
    match unsent {
        Some(reason) => {
            Err(RefusalAnswer { reason: format!("some records could not be sent: {reason}"), left_behind: finished.left_behind })
        }
        None => Ok(finished),
    }
}

/// The reports of a drive to its controller, from its first moment on.
struct Reports<'a> {
    connection: &'a Connection,
    folder: PathBuf,
    sender: Option<TableSender>,
    last: Option<(DrivingProgress, Instant)>,
}

impl Reports<'_> {
    /// Reports the progress if it is news, and says whether the run goes on. The first time the streams begin to be sent.
    fn report(&mut self, progress: &Progress) -> Decision {
        if self.connection.stop.is_set() {
            return Decision::Stop;
        }
        if self.sender.is_none() {
            match self.begin(progress) {
                Ok(sender) => self.sender = Some(sender),
                Err(reason) => return Decision::Fail(reason),
            }
        }
        let (report, now) = (driving_progress(progress), Instant::now());
        let is_news = self.last.as_ref().is_none_or(|(last, at)| {
            let is_further = (&report.phase, &report.reached) != (&last.phase, &last.reached);
            is_further || now.duration_since(*at) >= REPORT_EVERY && report != *last
        });
        if is_news {
            self.connection.send_json(Kind::Progress, &report);
            self.last = Some((report, now));
        }
        Decision::Continue
    }

    fn begin(&self, progress: &Progress) -> Result<TableSender, String> {
        let run_toml = fs::read(self.folder.join("run.toml")).map_err(|error| format!("run.toml cannot be read: {error}"))?;
        self.connection.send(Kind::Origin, &progress.origin_ns.to_be_bytes());
        self.connection.send(Kind::RunToml, &run_toml);
        TableSender::start(self.connection, &self.folder).map_err(|unsent| unsent.to_string())
    }
}

fn driving_progress(progress: &Progress) -> DrivingProgress {
    let word = |barrier| match barrier {
        Barrier::LogIns => "log-ins",
        Barrier::Lines => "lines",
    };
    DrivingProgress {
        phase: progress.phase.into(),
        reached: progress.reached.map(|barrier| word(barrier).into()),
        users_logged_in: progress.logged_in,
        interactions: progress.interactions,
    }
}
