//! A run on this host: checks, folder, groups and homes, the driver's thread, the meters, and the end of them all.

use crate::account::Account;
use crate::beside::Company;
use crate::finished::{Finished, LOOK_EVERY, lay};
use crate::metering::{self, Metering};
use crate::progress::{self, Progress, Watched};
use crate::refusal::Refusal;
use crate::request::Request;
use crate::users::{self, Prepared};
use crate::{commands, conditions, sampling};
use loadgo_core::driver::{Summary, drive};
use loadgo_core::time::Instant;
use loadgo_host::leftovers::{Leftovers, clear_stale};
use loadgo_host::scheduling::{self, Granted};
use loadgo_host::terminals::host::Host;
use loadgo_host::usage::sampler::OurThreads;
use loadgo_meters::Meters;
use loadgo_store::{Folder, Front, Recording, WhenFull};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::events::Bell;
use std::sync::{Arc, mpsc};
use std::thread;

/// Runs what is asked for; `go_on` is told how it stands ten times a second, and stops it by `false`.
///
/// # Errors
/// [`Refusal`] when the run cannot begin, or nobody could log in.
pub fn run(request: &Request, mut go_on: impl FnMut(&Progress) -> bool) -> Result<Finished, Refusal> {
    let mut notes = clear_stale();
    notes.extend(request.check()?);
    let mut account = Account::begin(&request.asked, conditions::here(request));
    let folder = Folder::create(&request.asked.folder, &account.toml())?;
    lay(&folder, "script.toml", &request.asked.script_text)?;
    let company = match Company::start(request, folder.dir()) {
        Ok(company) => company,
        Err(refusal) => return Err(give_up(refusal, account, &folder)),
    };
    let request = &company.known_to_users(request);
    let mut leftovers = Leftovers::begin(&request.asked.id).map_err(Refusal::from_state)?;
    let origin_ns = monotonic_ns();
    let prepared = users::prepare(request, &mut leftovers, &mut notes);
    let (mut prepared, mut metering) = match prepared.and_then(|prepared| Ok((prepared, begin_meters(request, origin_ns)?))) {
        Ok(begun) => begun,
        Err(refusal) => return Err(give_up(refusal, account, &folder)),
    };
    prepared.take_waits_from(metering.meters.as_mut(), &request.asked.script);
    notes.extend_from_slice(&metering.part.notes);
    account.usage(conditions::usage_part(&prepared.sources));
    account.meters(metering.part);
    account.notes(&notes);
    let grounded = Grounded { prepared, folder, company, meters: metering.meters, origin_ns };
    let outcome = drive_and_record(request, grounded, &mut account, &mut go_on);
    notes.extend(leftovers.finish());
    let finished = outcome?;
    Ok(Finished { notes: [notes, finished.notes].concat(), ..finished })
}

/// A run that could not begin leaves its folder only to say so.
fn give_up(refusal: Refusal, mut account: Account, folder: &Folder) -> Refusal {
    account.ended("failed", conditions::at_the_end);
    let _ = loadgo_store::finish(folder, &account.toml(), &[]);
    refusal
}

/// The meters that are asked for, or those that this host allows.
fn begin_meters(request: &Request, origin_ns: u64) -> Result<Metering, Refusal> {
    let asked = &request.asked;
    let commands = || commands::commands(&asked.script);
    let now = Instant(monotonic_ns() - origin_ns);
    metering::begin(request.meters, now, |tier| metering::wanted(tier, asked.load.users, commands()))
}

/// All that is there before the first log-in.
struct Grounded {
    prepared: Prepared,
    folder: Folder,
    company: Company,
    meters: Option<Meters>,
    origin_ns: u64,
}

fn drive_and_record(
    request: &Request,
    grounded: Grounded,
    account: &mut Account,
    go_on: &mut impl FnMut(&Progress) -> bool,
) -> Result<Finished, Refusal> {
    let Grounded { prepared, folder, mut company, meters, origin_ns } = grounded;
    let (front, recording) = Recording::start(folder.clone(), WhenFull::Lose)?;
    let bell = Arc::new(Bell::new().map_err(Refusal::from_kernel)?);
    let progress = Arc::new(progress::Shared::default());
    let groups = prepared.groups.clone();
    let driver = start_driver(request, prepared, front, Arc::clone(&bell), Arc::clone(&progress), origin_ns)?;
    let threads = OurThreads { driver: vec![driver.thread_id], meters: Vec::new() };
    let sampling = sampling::start(sampling::Subject { groups, threads, meters, origin_ns }, &recording);
    account.driver(conditions::driver_part(&driver.granted));
    account.write(&folder)?;
    let mut stopped = false;
    while !driver.thread.is_finished() {
        if !go_on(&progress.at(&request.asked, Instant(monotonic_ns() - origin_ns))) && !stopped {
            stopped = true;
            bell.ring();
        }
        company.look();
        thread::park_timeout(LOOK_EVERY);
    }
    let driven =
        driver.thread.join().map_err(|_| Refusal::Broken("the driver's thread panicked; its message is above".into()))?;
    if let Some(meters) = sampling.stop() {
        account.meters_came_to(&meters);
    }
    let done = recording.stop();
    let notes = company.finish();
    account.notes(&notes);
    let outcome = if driven.stopped { "stopped" } else { "done" };
    let failed = driven.logged_in == 0 && driven.refused > 0;
    account.ended(if failed { "failed" } else { outcome }, conditions::at_the_end);
    loadgo_store::finish(&done.folder, &account.toml(), &done.unwritten)?;
    if failed {
        let reason = driven.refusal.unwrap_or_else(|| "no reason was given".into());
        return Err(Refusal::Host(format!("nobody could log in with {:?}: {reason}", request.asked.script.login)));
    }
    Ok(Finished { summary: driven, interactions: done.interactions, outcome, notes })
}

/// The driver's thread, once it has told how it is scheduled.
struct Driver {
    thread: thread::JoinHandle<Summary>,
    thread_id: i32,
    granted: Granted,
}

fn start_driver(
    request: &Request,
    prepared: Prepared,
    front: Front,
    bell: Arc<Bell>,
    progress: Arc<progress::Shared>,
    origin_ns: u64,
) -> Result<Driver, Refusal> {
    let (tell, told) = mpsc::channel();
    let (request, waiter) = (request.clone(), thread::current());
    let begin = move || {
        let setting = prepared.setting(&request, origin_ns);
        let host = Host::new(setting, prepared.meter, prepared.groups, bell);
        let granted = scheduling::take(request.scheduling());
        let mut host = match host {
            Ok(host) => host,
            Err(reason) => {
                let _ = tell.send(Err(reason));
                return Summary::default();
            }
        };
        let _ = tell.send(Ok((loadgo_sys::scheduling::thread_id(), granted)));
        let mut recorder = Watched::new(front, progress, &request.asked);
        let summary = drive(&request.asked.script, &request.asked.load_that_ends(), &mut host, &mut recorder);
        host.finish();
        recorder.lost_usage(host.meter().take_lost(), Instant(monotonic_ns() - origin_ns));
        waiter.unpark();
        summary
    };
    let thread = thread::Builder::new().name("loadgo-driver".into()).spawn(begin).map_err(Refusal::from_kernel)?;
    let began = told.recv().map_err(|_| Refusal::Broken("the driver's thread did not begin".into()))?;
    let (thread_id, granted) = began.map_err(Refusal::from_kernel)?;
    Ok(Driver { thread, thread_id, granted })
}
