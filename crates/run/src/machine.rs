//! A run on a simulated machine: the same driver, recorder and folder as on a host, in virtual time.
//!
//! The driver's thread computes as fast as it can, and waits for the writer, so that no record is lost. The calling thread
//! watches the progress and may stop the run.

use crate::clock::Clock;
use crate::conditions::each_part;
use crate::driver::{DrivenSystem, DriverArguments, DriverReady};
use crate::finished::Finished;
use crate::progress::{CountingRecorder, Decision, Progress};
use crate::refusal::{Failure, RunRefusal};
use crate::run_spec::RunSpec;
use crate::run_toml::RunToml;
use crate::running::{RunArguments, Running};
use crate::sections::{
    ConditionsPart, DriverPart, MachineConditions, MachinePart, Setting, Shifts, SystemPart, TariffPart, UsagePart,
};
use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_host::limits::each::{EachLimit, UserLimits};
use loadgo_host::refusal::Refusal;
use loadgo_machine::engine::{Engine, EngineError};
use loadgo_machine::limits;
use loadgo_machine::spec::{Discipline, Machine, Residence};
use loadgo_machine::system::{MachineSystem, SampleSink, unknown_commands};
use loadgo_store::{Folder, RowSender, WhenFull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A request for a run on a simulated machine.
#[derive(Clone, Debug)]
pub struct OnMachine {
    /// The part of the request that any system understands.
    pub spec: RunSpec,
    /// The machine.
    pub machine: Arc<Machine>,
    /// The machine's name: that of a bundled machine, or of the file.
    pub name: String,
    /// Text of the machine file, merged with the files that it extends and with `set`.
    pub text: String,
    /// Settings that replace those of the file, as `key=value`.
    pub set: Vec<String>,
    /// Limits of each user's processor time and weight. A machine has no others.
    pub limit_each: Option<UserLimits>,
}

/// Runs `request`, and calls `decide` ten times a second with the run's progress.
///
/// # Errors
/// [`Failure`] when the script has a command that the machine does not know, the machine is impossible, or nobody could log in.
pub fn run_on_machine(request: &OnMachine, mut decide: impl FnMut(&Progress) -> Decision) -> Result<Finished, Failure> {
    if let Some(unknown) = unknown_commands(&request.spec.script, &request.machine) {
        return Err(Refusal::new(unknown).into());
    }
    let engine = engine(request)?;
    let mut run_toml = RunToml::begin(&request.spec, setting(request));
    run_toml.laid("machine.toml", &request.text);
    run_toml.usage(exact());
    run_toml.driver(DriverPart { scheduling: "virtual time".into(), ..DriverPart::default() });
    let folder = Folder::create(&request.spec.folder, &run_toml.toml())?;
    let mut running = Running::begin(run_toml, Some(folder));
    let driven = on_machine(&mut running, request, engine, &mut decide);
    let (unrecorded, end) = running.end(driven, "done")?;
    if unrecorded {
        let (rows, folder) = (end.interactions, request.spec.folder.display());
        let attempt = format!(
            "the disk takes no more: the run was stopped, with {rows} interactions, which `loadgo report {folder}` shows"
        );
        let refusal = Refusal::new(attempt).with_remedy("make room, or end the run sooner (`until`, `duration`)");
        return Err(RunRefusal::HostTrouble(refusal.about("until").about("duration")).into());
    }
    Ok(end.finished(notes(request)))
}

/// The machine, whose users are held to the limits of the request.
fn engine(request: &OnMachine) -> Result<Engine, Refusal> {
    let (machine, seed) = (&request.machine, request.spec.load.seed);
    let refused = |error: EngineError| Refusal::new(error.to_string());
    let engine = Engine::new(machine, seed).map_err(refused)?;
    match &request.limit_each {
        None => Ok(engine),
        Some(limits) => Engine::limited(machine, seed, of_machine(limits)).map_err(|error| refused(error).about("limit_each")),
    }
}

/// The limits as a machine knows them.
fn of_machine(limits: &UserLimits) -> limits::UserLimits {
    let one = |limit: &EachLimit| limits::UserLimit { cpus: limit.cpus, nice: limit.nice };
    let single = limits.single.iter().map(|(user, limit)| (*user, one(limit))).collect();
    limits::UserLimits { everybody: one(&limits.everybody), single }
}

/// Notes about limits that hold nobody back.
fn notes(request: &OnMachine) -> Vec<String> {
    let limits = request.limit_each.iter().flat_map(|limits| [&limits.everybody].into_iter().chain(limits.single.values()));
    let never_binds = limits.filter_map(|limit| limit.cpus).any(|cpus| cpus >= 1.0);
    let note = "a quota of 1 processor or more holds nobody back: a user of a simulated machine is one process";
    never_binds.then(|| note.to_owned()).into_iter().collect()
}

/// Drives the users on the machine. Returns whether the run was stopped because nothing more could be recorded.
fn on_machine(
    running: &mut Running,
    request: &OnMachine,
    engine: Engine,
    decide: &mut dyn FnMut(&Progress) -> Decision,
) -> Result<bool, RunRefusal> {
    running.folder().lay("script.toml", &request.spec.script_text)?;
    running.folder().lay("machine.toml", &request.text)?;
    let now_ns = Arc::new(AtomicU64::new(0));
    running.clock = Clock::Virtual(Arc::clone(&now_ns));
    let plan = RunArguments { spec: request.spec.clone(), when_full: WhenFull::Wait, sampling: None };
    let machine = Arc::clone(&request.machine);
    let start_system = move |order: &DriverArguments| {
        let meters = WriterSink { row_sender: order.row_sender.clone(), now_ns };
        Ok((MachineSystem::new(engine, &machine, meters, order.stop.clone()), DriverReady::default()))
    };
    running.run(plan, start_system, decide)
}

/// Passes the machine's meter rows to the writer, and its time to the thread that watches.
struct WriterSink {
    row_sender: RowSender,
    now_ns: Arc<AtomicU64>,
}

impl SampleSink for WriterSink {
    fn sample(&mut self, at: Instant, sample: MeterRows) {
        self.now_ns.store(at.0, Ordering::Relaxed);
        self.row_sender.sample(sample);
    }
}

impl DrivenSystem for MachineSystem<WriterSink> {
    fn log_in_words(_: &RunSpec) -> String {
        String::new()
    }

    fn close(self, _: &mut CountingRecorder) -> Option<String> {
        self.finish().map(|error| error.to_string())
    }
}

fn setting(request: &OnMachine) -> Setting {
    let machine = &request.machine;
    let frames = match &machine.residence {
        Residence::Paging(paging) => Some(paging.frames),
        _ => None,
    };
    let part = MachinePart {
        kind: "machine",
        name: request.name.clone(),
        title: machine.title.clone(),
        source: machine.source.clone(),
        set: request.set.clone(),
        processors: machine.processors.count,
        speed: machine.processors.speed,
        discipline: discipline(&machine.processors.discipline),
        frames,
        tariff: tariff(machine),
    };
    Setting {
        system: SystemPart::Machine(part),
        conditions: ConditionsPart::Machine(MachineConditions { virtual_s: None, computed_s: None }),
        limit: None,
        limit_each: request.limit_each.as_ref().map(each_part),
    }
}

fn tariff(machine: &Machine) -> Option<TariffPart> {
    let paging_wait_hour = machine.paging_wait_hour;
    match machine.tariff.as_slice() {
        [] => None,
        [(_, price)] => Some(TariffPart { cpu_hour: Some(*price), shifts: None, paging_wait_hour }),
        shifts => Some(TariffPart { cpu_hour: None, shifts: Some(Shifts(shifts.to_vec())), paging_wait_hour }),
    }
}

/// The name of a discipline in a machine file.
fn discipline(discipline: &Discipline) -> &'static str {
    match discipline {
        Discipline::FirstCome => "first-come",
        Discipline::Sharing => "sharing",
        Discipline::RoundRobin { .. } => "round-robin",
        Discipline::Priority { .. } => "priority",
        Discipline::Ctss { .. } => "ctss",
        Discipline::Multics { .. } => "multics",
        Discipline::Tenex { .. } => "tenex",
        Discipline::Linux { .. } => "linux",
    }
}

/// The usage section of a simulated machine, which knows all of its own work.
fn exact() -> UsagePart {
    let source = || "the machine itself".to_string();
    UsagePart {
        cpu: source(),
        faults: source(),
        waits: source(),
        cpu_resolution_ns: 1,
        every: 1,
        split: "the work and the supervisor's part".into(),
        notes: Vec::new(),
        delays_switched_off: false,
    }
}
