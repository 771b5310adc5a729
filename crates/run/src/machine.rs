//! A run on a simulated machine: the same driver, recorder and folder as on a host, in virtual time.
//!
//! The driver's thread computes as fast as it can; records wait for the writer instead of being lost. The calling thread looks on
//! and may stop the run.

use crate::account::Account;
use crate::asked::Asked;
use crate::finished::{Finished, LOOK_EVERY, lay};
use crate::progress::{Progress, Shared, Watched};
use crate::refusal::Refusal;
use crate::sections::{
    ConditionsPart, DriverPart, MachineConditions, MachinePart, Setting, Shifts, SystemPart, TariffPart, UsagePart,
};
use loadgo_core::driver::{Summary, drive};
use loadgo_core::record::Sample;
use loadgo_core::system::System as _;
use loadgo_core::time::Instant;
use loadgo_machine::engine::Engine;
use loadgo_machine::spec::{Discipline, Machine, Residence};
use loadgo_machine::system::{Simulated, Sink, unknown_commands};
use loadgo_store::{Folder, Front, Recording, Sampler, WhenFull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// A run on a simulated machine that is asked for.
#[derive(Clone, Debug)]
pub struct OnMachine {
    /// What is asked of any system.
    pub asked: Asked,
    /// The machine.
    pub machine: Arc<Machine>,
    /// Its name: a bundled one's, or the file's.
    pub name: String,
    /// Its file, merged with those that it is like and with what was set.
    pub text: String,
    /// What was set otherwise than in its file, as `key=value`.
    pub set: Vec<String>,
}

/// Runs what is asked for; `go_on` is told how it stands ten times a second, and stops it by `false`.
///
/// # Errors
/// [`Refusal`] when the script has a command that the machine does not know, the machine is impossible, or nobody could log in.
pub fn run_on_machine(request: &OnMachine, mut go_on: impl FnMut(&Progress) -> bool) -> Result<Finished, Refusal> {
    if let Some(unknown) = unknown_commands(&request.asked.script, &request.machine) {
        return Err(Refusal::Host(unknown));
    }
    let engine = Engine::new(&request.machine, request.asked.load.seed).map_err(Refusal::Host)?;
    let mut account = Account::begin(&request.asked, setting(request));
    account.usage(exact());
    account.driver(DriverPart { scheduling: "virtual time".into(), processor: None, proof: String::new(), notes: Vec::new() });
    let folder = Folder::create(&request.asked.folder, &account.toml())?;
    lay(&folder, "script.toml", &request.asked.script_text)?;
    lay(&folder, "machine.toml", &request.text)?;
    let (front, recording) = Recording::start(folder, WhenFull::Wait)?;
    let watch = Arc::new(Watch::default());
    let meters = Meters { sampler: recording.sampler(), watch: Arc::clone(&watch), phase: 0 };
    let driver = start_driver(request, engine, front, meters)?;
    let (mut stopped, mut full) = (false, false);
    while !driver.is_finished() {
        // Nobody waits at a simulated machine: what cannot be recorded need not be simulated.
        if !full && recording.lost() > 0 {
            full = true;
            watch.stop.store(true, Ordering::Relaxed);
        }
        let progress = watch.progress.at(&request.asked, watch.now());
        if !stopped && !go_on(&Progress { computed_s: Some(account.elapsed_s()), ..progress }) {
            stopped = true;
            watch.stop.store(true, Ordering::Relaxed);
        }
        thread::park_timeout(LOOK_EVERY);
    }
    let driven = driver.join().map_err(|_| Refusal::Broken("the driver's thread panicked; its message is above".into()))?;
    let finished = conclude(account, recording, driven, &watch)?;
    if full {
        let (rows, folder) = (finished.interactions, request.asked.folder.display());
        return Err(Refusal::Host(format!(
            "the disk takes no more: the run was stopped, with {rows} interactions in {folder}; make room, or end the run sooner (--until, --for)"
        )));
    }
    Ok(finished)
}

/// What the driver's thread and the calling one tell each other.
#[derive(Default)]
struct Watch {
    progress: Arc<Shared>,
    stop: Arc<AtomicBool>,
    now_ns: AtomicU64,
}

impl Watch {
    fn now(&self) -> Instant {
        Instant(self.now_ns.load(Ordering::Relaxed))
    }
}

/// Where the machine's meters go: a span ends whenever a phase begins.
struct Meters {
    sampler: Sampler,
    watch: Arc<Watch>,
    phase: u8,
}

impl Sink for Meters {
    fn sample(&mut self, at: Instant, sample: Sample) {
        self.watch.now_ns.store(at.0, Ordering::Relaxed);
        self.sampler.sample(sample);
    }

    fn cut(&mut self) -> bool {
        let phase = self.watch.progress.phase();
        std::mem::replace(&mut self.phase, phase) != phase
    }

    fn stop(&mut self) -> bool {
        self.watch.stop.swap(false, Ordering::Relaxed)
    }
}

/// What the driver came to, and why the machine stood still, if it did.
struct Driven {
    summary: Summary,
    stuck: Option<String>,
    notes: Vec<String>,
}

fn start_driver(request: &OnMachine, engine: Engine, front: Front, meters: Meters) -> Result<JoinHandle<Driven>, Refusal> {
    let (request, waiter) = (request.clone(), thread::current());
    let begin = move || {
        let watch = Arc::clone(&meters.watch);
        let mut system = Simulated::new(engine, &request.machine, meters);
        let mut recorder = Watched::new(front, Arc::clone(&watch.progress), &request.asked);
        let summary = drive(&request.asked.script, &request.asked.load_that_ends(), &mut system, &mut recorder);
        watch.now_ns.store(system.now().0, Ordering::Relaxed);
        let stuck = system.finish();
        let notes = recorder.not_enough().into_iter().collect();
        drop(recorder);
        waiter.unpark();
        Driven { summary, stuck, notes }
    };
    let thread = thread::Builder::new().name("loadgo-driver".into()).spawn(begin);
    thread.map_err(|reason| Refusal::Host(format!("the driver's thread could not be started: {reason}")))
}

fn conclude(mut account: Account, recording: Recording, driven: Driven, watch: &Watch) -> Result<Finished, Refusal> {
    let Driven { summary, stuck, notes } = driven;
    let done = recording.stop();
    let failed = stuck.is_some() || summary.logged_in == 0 && summary.refused > 0;
    let outcome = if summary.stopped { "stopped" } else { "done" };
    let computed_s = account.elapsed_s();
    let virtual_s = watch.now().0 as f64 / 1e9;
    account.ended(if failed { "failed" } else { outcome }, |conditions| {
        *conditions = ConditionsPart::Machine(MachineConditions { virtual_s: Some(virtual_s), computed_s: Some(computed_s) });
        Some(virtual_s)
    });
    loadgo_store::finish(&done.folder, &account.toml(), &done.unwritten)?;
    if let Some(stuck) = stuck {
        return Err(Refusal::Host(stuck));
    }
    if failed {
        let reason = summary.refusal.unwrap_or_else(|| "no reason was given".into());
        return Err(Refusal::Host(format!("nobody could log in: {reason}")));
    }
    Ok(Finished { summary, interactions: done.interactions, outcome, notes })
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

/// The word for a discipline, as a machine file has it.
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

/// A simulated machine knows all that it does.
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
    }
}
