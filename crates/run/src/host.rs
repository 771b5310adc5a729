//! A run on this host: checks, folder, homes, control groups and meters are made, and then the driver runs.

use crate::beside::BesidePrograms;
use crate::clock::Clock;
use crate::driver::{DrivenSystem, DriverReady};
use crate::finished::Finished;
use crate::metering::{self, Metering};
use crate::progress::{CountingRecorder, Decision, Progress};
use crate::refusal::{Failure, RunRefusal};
use crate::request::Request;
use crate::run_spec::RunSpec;
use crate::run_toml::RunToml;
use crate::running::{RunArguments, Running};
use crate::sampling::{BeginSampling, ProcessorSpeed, SampledHost, SampledParts};
use crate::users::{self, Prepared};
use crate::{commands, conditions};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::System as _;
use loadgo_core::time::Instant;
use loadgo_host::leftovers::{Leftovers, clear_stale};
use loadgo_host::scheduling;
use loadgo_host::terminals::host::Host;
use loadgo_host::usage::sampler::SampledUsers;
use loadgo_meters::Meters;
use loadgo_store::{Folder, WhenFull};
use loadgo_sys::clock::monotonic_ns;

/// Runs `request`, and calls `decide` ten times a second with the run's progress.
///
/// # Errors
/// [`Failure`] if the run cannot begin or fails, or if nobody could log in. Only the run's folder is left then, and the things
/// that the failure names.
pub fn run(request: &Request, mut decide: impl FnMut(&Progress) -> Decision) -> Result<Finished, Failure> {
    let cleared = clear_stale();
    let before: Vec<_> = cleared.left_behind.iter().map(ToString::to_string).collect();
    let mut result = run_on_cleared_host(request, [cleared.undone, before.clone()].concat(), &mut decide);
    let left_behind = match &mut result {
        Ok(finished) => &mut finished.left_behind,
        Err(failure) => &mut failure.left_behind,
    };
    left_behind.splice(0..0, before);
    result
}

/// Runs `request` after the remains of killed runs have been removed. `notes` say what was removed.
fn run_on_cleared_host(
    request: &Request,
    mut notes: Vec<String>,
    decide: &mut dyn FnMut(&Progress) -> Decision,
) -> Result<Finished, Failure> {
    notes.extend(request.check()?);
    let (run_toml, folder) = begun_folder(request)?;
    let mut running = Running::begin(run_toml, Some(folder));
    let driven = on_host(&mut running, request, &mut notes, decide);
    let origin_ns = running.clock.origin_ns();
    let (_, end) = running.end(driven, "done")?;
    Ok(Finished { origin_ns, ..end.finished(notes) })
}

/// Makes the folder of a run that is driven elsewhere, with the run's description and its script. The folder is locked as long as
/// it is kept.
///
/// # Errors
/// The folder's refusal.
pub fn begin_folder(request: &Request) -> Result<Folder, RunRefusal> {
    let (_, folder) = begun_folder(request)?;
    folder.lay("script.toml", &request.spec.script_text)?;
    Ok(folder)
}

fn begun_folder(request: &Request) -> Result<(RunToml, Folder), RunRefusal> {
    let run_toml = RunToml::begin(&request.spec, conditions::here(request));
    let folder = Folder::create(&request.spec.folder, &run_toml.toml())?;
    Ok((run_toml, folder))
}

fn on_host(
    running: &mut Running,
    request: &Request,
    notes: &mut Vec<String>,
    decide: &mut dyn FnMut(&Progress) -> Decision,
) -> Result<(), RunRefusal> {
    running.folder().lay("script.toml", &request.spec.script_text)?;
    let leftovers = Leftovers::begin(&request.spec.id).map_err(RunRefusal::from_state)?;
    let leftovers = running.leftovers.insert(leftovers);
    let mut prepared = users::prepare(request, leftovers, notes)?;
    // After the limits: a controller is enabled only when our own group is empty, and these programs begin in our group.
    running.beside_programs = BesidePrograms::start(request, running.folder().dir())?;
    let request = running.beside_programs.add_to_environment(request);
    let origin_ns = monotonic_ns();
    running.clock = Clock::Host { origin_ns };
    let mut metering = begin_meters(&request, origin_ns)?;
    prepared.take_waits_from(metering.meters.as_mut(), &request.spec.script);
    notes.extend_from_slice(&metering.part.notes);
    let sources = prepared.sources();
    running.run_toml.usage(conditions::usage_part(&sources.now()));
    running.run_toml.meters(metering.part);
    running.run_toml.notes(notes);
    let plan = RunArguments {
        spec: request.spec.clone(),
        when_full: WhenFull::Lose,
        sampling: request.meters_this_host().then(|| begin_sampling(&request, &prepared, metering.meters, origin_ns)),
    };
    let groups = prepared.groups.clone();
    let ran = running.run(plan, move |order| start_system(&request, prepared, &order.stop, origin_ns), decide);
    running.run_toml.users_memory_kills(groups.and_then(|groups| groups.memory_kills()));
    running.run_toml.usage(conditions::usage_part(&sources.now()));
    running.run_toml.delays_switched_off(sources.delays_switched_off());
    ran.map(|_| ())
}

/// The meters that are asked for, or those that this host allows.
fn begin_meters(request: &Request, origin_ns: u64) -> Result<Metering, RunRefusal> {
    let spec = &request.spec;
    let commands = || commands::commands(&commands::names_by_line(&spec.script));
    let now = Instant(monotonic_ns() - origin_ns);
    metering::begin(request.meters, now, |tier| metering::wanted(tier, spec.load.users, commands()))
}

fn begin_sampling(request: &Request, prepared: &Prepared, meters: Option<Meters>, origin_ns: u64) -> BeginSampling {
    let users = SampledUsers::of_groups(prepared.groups.clone()).with_working_sets(request.working_sets);
    // A host that only drives has none of the work that its speed would explain.
    let speed = if request.other_host.is_none() { ProcessorSpeed::Measured } else { ProcessorSpeed::Left };
    let subject = SampledParts { users, meters, speed, origin_ns };
    Box::new(move |threads| Box::new(SampledHost::begin(subject, threads)))
}

/// Makes the host's event loop, on the driver's thread.
fn start_system(
    request: &Request,
    prepared: Prepared,
    stop: &StopRequest,
    origin_ns: u64,
) -> Result<(Host, DriverReady), RunRefusal> {
    let setting = prepared.setting(request, origin_ns);
    let host = Host::new(setting, prepared.meter, prepared.groups, stop).map_err(RunRefusal::from_kernel)?;
    let granted = scheduling::take(request.scheduling());
    let thread_id = loadgo_sys::scheduling::thread_id();
    Ok((host, DriverReady { thread_id, scheduling: Some(conditions::driver_part(&granted, request.other_host.as_ref())) }))
}

impl DrivenSystem for Host {
    fn log_in_words(spec: &RunSpec) -> String {
        format!(" with {:?}", spec.script.login)
    }

    fn close(mut self, recorder: &mut CountingRecorder) -> Option<String> {
        self.finish();
        let lost = self.meter().take_lost();
        recorder.lost_usage(lost, self.now());
        None
    }
}
