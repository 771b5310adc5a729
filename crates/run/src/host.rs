//! A run on this host: checks, folder, homes and groups, meters, and then the driver under its owner's eyes.

use crate::account::Account;
use crate::asked::Asked;
use crate::beside::Company;
use crate::clock::Clock;
use crate::driver::{Begun, Driveable};
use crate::finished::Finished;
use crate::metering::{self, Metering};
use crate::progress::{Decision, Progress, Watched};
use crate::refusal::{Failure, RunRefusal};
use crate::request::Request;
use crate::running::{RunArguments, Running};
use crate::sampling::{BeginSampling, Round, Subject};
use crate::users::{self, Prepared};
use crate::{commands, conditions};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::System as _;
use loadgo_core::time::Instant;
use loadgo_host::leftovers::{Leftovers, clear_stale};
use loadgo_host::scheduling;
use loadgo_host::terminals::host::Host;
use loadgo_meters::Meters;
use loadgo_store::{Folder, WhenFull};
use loadgo_sys::clock::monotonic_ns;

/// Runs `request`, and calls `decide` ten times a second with the run's progress.
///
/// # Errors
/// [`Failure`] when the run cannot begin, fails on the way, or nobody could log in. Only the folder of such a
/// run is left, and the things that the failure names.
pub fn run(request: &Request, mut decide: impl FnMut(&Progress) -> Decision) -> Result<Finished, Failure> {
    let cleared = clear_stale();
    let before: Vec<_> = cleared.left_behind.iter().map(ToString::to_string).collect();
    let mut result = run_when_cleared(request, [cleared.undone, before.clone()].concat(), &mut decide);
    let left_behind = match &mut result {
        Ok(finished) => &mut finished.left_behind,
        Err(failure) => &mut failure.left_behind,
    };
    left_behind.splice(0..0, before);
    result
}

/// Runs `request` on a host that is cleared of what killed runs have left; `notes` tell what was cleared.
fn run_when_cleared(
    request: &Request,
    mut notes: Vec<String>,
    decide: &mut dyn FnMut(&Progress) -> Decision,
) -> Result<Finished, Failure> {
    notes.extend(request.check()?);
    let account = Account::begin(&request.asked, conditions::here(request));
    let folder = Folder::create(&request.asked.folder, &account.toml())?;
    let mut running = Running::begin(account, Some(folder));
    let driven = on_host(&mut running, request, &mut notes, decide);
    let (_, end) = running.end(driven, "done")?;
    Ok(end.finished(notes))
}

fn on_host(
    running: &mut Running,
    request: &Request,
    notes: &mut Vec<String>,
    decide: &mut dyn FnMut(&Progress) -> Decision,
) -> Result<(), RunRefusal> {
    running.folder().lay("script.toml", &request.asked.script_text)?;
    running.company = Company::start(request, running.folder().dir())?;
    let request = running.company.known_to_users(request);
    let leftovers = Leftovers::begin(&request.asked.id).map_err(RunRefusal::from_state)?;
    let leftovers = running.leftovers.insert(leftovers);
    let origin_ns = monotonic_ns();
    running.clock = Clock::Host { origin_ns };
    let mut prepared = users::prepare(&request, leftovers, notes)?;
    let mut metering = begin_meters(&request, origin_ns)?;
    prepared.take_waits_from(metering.meters.as_mut(), &request.asked.script);
    notes.extend_from_slice(&metering.part.notes);
    running.account.usage(conditions::usage_part(&prepared.sources));
    running.account.meters(metering.part);
    running.account.notes(notes);
    let plan = RunArguments {
        asked: request.asked.clone(),
        when_full: WhenFull::Lose,
        sampling: Some(begin_sampling(&prepared, metering.meters, origin_ns)),
    };
    running.run(plan, move |order| bring_up(&request, prepared, &order.stop, origin_ns), decide)?;
    Ok(())
}

/// The meters that are asked for, or those that this host allows.
fn begin_meters(request: &Request, origin_ns: u64) -> Result<Metering, RunRefusal> {
    let asked = &request.asked;
    let commands = || commands::commands(&asked.script);
    let now = Instant(monotonic_ns() - origin_ns);
    metering::begin(request.meters, now, |tier| metering::wanted(tier, asked.load.users, commands()))
}

fn begin_sampling(prepared: &Prepared, meters: Option<Meters>, origin_ns: u64) -> BeginSampling {
    let subject = Subject { groups: prepared.groups.clone(), meters, origin_ns };
    Box::new(move |threads| Box::new(Round::begin(subject, threads)))
}

/// The host with its event loop, on the driver's own thread.
fn bring_up(request: &Request, prepared: Prepared, stop: &StopRequest, origin_ns: u64) -> Result<(Host, Begun), RunRefusal> {
    let setting = prepared.setting(request, origin_ns);
    let host = Host::new(setting, prepared.meter, prepared.groups, stop).map_err(RunRefusal::from_kernel)?;
    let granted = scheduling::take(request.scheduling());
    let thread_id = loadgo_sys::scheduling::thread_id();
    Ok((host, Begun { thread_id, scheduling: Some(conditions::driver_part(&granted)) }))
}

impl Driveable for Host {
    fn log_in_words(asked: &Asked) -> String {
        format!(" with {:?}", asked.script.login)
    }

    fn close(mut self, recorder: &mut Watched) -> Option<String> {
        self.finish();
        let lost = self.meter().take_lost();
        recorder.lost_usage(lost, self.now());
        None
    }
}
