//! Runs in which one step fails, for each step in turn. Afterwards no thread, no descriptor and no home is left.
//!
//! The users are in virtual time. The store and the list of things to undo are the real ones, on a disk that can refuse a write.

#[path = "../../../core/tests/virtual_host/mod.rs"]
mod virtual_host;

mod disks;
mod faulty;
mod faulty_users;

use super::{RunArguments, RunResult, Running};
use crate::conditions;
use crate::driver::{DriverArguments, DriverReady};
use crate::progress::Decision;
use crate::refusal::{Failure, RunRefusal};
use crate::run_spec::RunSpec;
use crate::run_toml::RunToml;
use crate::sampling::SampledSystem;
use crate::sections::{DriverPart, Setting, SystemPart};
use faulty::{DiskFault, FaultyDisk};
use faulty_users::{CountingMeters, Fault, Observed, Users};
use loadgo_core::load::OfferedLoad;
use loadgo_core::time::Span;
use loadgo_host::leftovers::{Leftovers, Thing};
use loadgo_host::refusal::Refusal;
use loadgo_store::{Folder, Table, WhenFull, whole_part};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use virtual_host::{VirtualHost, script};

/// Locked by each test, because threads and descriptors are counted for the whole process.
static ONE_TEST: Mutex<()> = Mutex::new(());

/// Number of lines that each of the two users types.
const PASSES: u32 = 20;

/// A run that has ended, with the things that it left.
struct EndedRun {
    result: Result<RunResult, Failure>,
    panicked: bool,
    folder: PathBuf,
    observed: Arc<Observed>,
    disk: Arc<FaultyDisk>,
    _dir: tempfile::TempDir,
}

fn run_with(fault: Fault) -> EndedRun {
    let dir = tempfile::tempdir().expect("a directory");
    let before = Footprint::now();
    let (happens, from) =
        if let Fault::Disk(happens, from) = fault { (happens, from) } else { (DiskFault::AllRefused, u64::MAX) };
    let disk = Arc::new(FaultyDisk::new(happens, from));
    let observed = Arc::new(Observed {
        homes: dir.path().join("loadgo-homes"),
        homes_outlived_users: AtomicBool::new(true),
        meters_at_work: AtomicBool::new(false),
        lines: AtomicU64::new(0),
    });
    let folder = dir.path().join("run");
    let (running, disk_used) = (AssertUnwindSafe((&folder, &observed, &dir)), Arc::clone(&disk));
    let outcome = catch_unwind(move || {
        let (folder, observed, dir) = *running;
        whole_run(fault, folder, dir.path(), disk_used, observed)
    });
    let panicked = outcome.is_err();
    let result = outcome.unwrap_or_else(|_| Err(Refusal::new("the caller panicked").into()));
    before.check_restored(fault);
    assert!(observed.homes_outlived_users.load(Ordering::Acquire), "{fault:?}: homes went before their users");
    assert!(!observed.meters_at_work.load(Ordering::Acquire), "{fault:?}: meters are left");
    let state: Vec<_> = std::fs::read_dir(dir.path().join("state")).into_iter().flatten().flatten().collect();
    let listed = state.iter().filter(|entry| entry.path().extension().is_some_and(|end| end == "run")).count();
    let stays = usize::from(fault == Fault::DirectoryStays);
    assert_eq!((observed.homes.exists(), listed), (false, stays), "{fault:?}: something is left on the host");
    EndedRun { result, panicked, folder, observed, disk, _dir: dir }
}

fn whole_run(
    fault: Fault,
    folder: &Path,
    dir: &Path,
    disk: Arc<FaultyDisk>,
    observed: &Arc<Observed>,
) -> Result<RunResult, Failure> {
    let spec = spec(folder);
    let run_toml = RunToml::begin(&spec, this_host());
    let folder = Folder::create_on(disk, folder, &run_toml.toml())?;
    let mut running = Running::begin(run_toml, Some(folder));
    let driven = steps(&mut running, fault, spec, dir, observed);
    if fault == Fault::Dropped {
        drop(running);
        return Err(Refusal::new("dropped").into());
    }
    running.end(driven, "done").map(|(_, end)| end)
}

/// The steps of a run, as on this host.
fn steps(
    running: &mut Running,
    fault: Fault,
    request: RunSpec,
    dir: &Path,
    observed: &Arc<Observed>,
) -> Result<bool, RunRefusal> {
    running.folder().lay("script.toml", &request.script_text)?;
    let leftovers = Leftovers::begin_in(&dir.join("state"), "tested").map_err(RunRefusal::from_state)?;
    let leftovers = running.leftovers.insert(leftovers);
    leftovers.note(Thing::Home(observed.homes.clone())).map_err(RunRefusal::from_state)?;
    std::fs::create_dir(&observed.homes).map_err(RunRefusal::from_state)?;
    if fault == Fault::DirectoryStays {
        std::fs::create_dir(dir.join("loadgo-stays")).map_err(RunRefusal::from_state)?;
        leftovers.note(Thing::File(dir.join("loadgo-stays"))).map_err(RunRefusal::from_state)?; // no directory is removed as a file
    }
    if fault == Fault::HomesRefused {
        return Err(Refusal::new("no homes").into());
    }
    let (watched, system_life) = (Arc::clone(observed), Arc::clone(observed));
    let sampling = Box::new(move |_| {
        assert_ne!(fault, Fault::SamplerPanicsAtItsBegin, "a fault of this test");
        watched.meters_at_work.store(true, Ordering::Release);
        Box::new(CountingMeters { fault, samples: 0, observed: watched }) as Box<dyn SampledSystem>
    });
    let plan = RunArguments { spec: request, when_full: WhenFull::Lose, sampling: Some(sampling) };
    let start_system = move |order: &DriverArguments| {
        assert_ne!(fault, Fault::SystemPanicsAtItsBegin, "a fault of this test");
        if fault == Fault::SystemRefused {
            return Err(Refusal::new("no descriptor is left").into());
        }
        let endless = matches!(
            fault,
            Fault::CallbackPanics | Fault::CallbackStops | Fault::CallbackFails | Fault::Disk(DiskFault::RunTomlRefused, _)
        );
        let host = VirtualHost::constant(Span::from_millis(5));
        let stop = order.stop.clone();
        Ok((Users { host, fault, lines: 0, stop, stop_reported: false, endless, observed: system_life }, begun()))
    };
    let mut looks = 0;
    running.run(plan, start_system, &mut |_| {
        looks += 1;
        assert!(fault != Fault::CallbackPanics || looks < 2, "a fault of this test");
        match fault {
            Fault::CallbackStops => Decision::Stop,
            Fault::CallbackFails => Decision::Fail("KeyError: 'phase'".into()),
            _ => Decision::Continue,
        }
    })
}

fn begun() -> DriverReady {
    let scheduling = DriverPart { scheduling: "virtual".into(), ..DriverPart::default() };
    DriverReady { thread_id: loadgo_sys::scheduling::thread_id(), scheduling: Some(scheduling) }
}

fn spec(folder: &Path) -> RunSpec {
    RunSpec {
        id: "tested".into(),
        folder: folder.into(),
        script_name: "tested".into(),
        script_text: "name = \"test\"\n".into(),
        script: Arc::new(script("think = \"fixed(1s)\"", "[\"edit\"]")),
        load: OfferedLoad::closed(2, PASSES),
        until: None,
        command: Vec::new(),
        fail_if: Vec::new(),
    }
}

fn this_host() -> Setting {
    let setting = conditions::this_host("sh", &[]);
    assert!(matches!(setting.system, SystemPart::Host(_)));
    setting
}

/// Looks for what a run has left, a millisecond apart: on a busy host a thread that was waited for takes long to be gone.
const MOST_LOOKS: u32 = 300_000;

/// Resources of this process: loadgo's threads by name, and the number of descriptors.
#[derive(Debug, PartialEq)]
struct Footprint {
    threads: Vec<String>,
    descriptors: usize,
}

impl Footprint {
    fn now() -> Footprint {
        let tasks = std::fs::read_dir("/proc/self/task").expect("/proc").flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        let threads = names.filter(|name| name.starts_with("loadgo-")).collect();
        Footprint { threads, descriptors: std::fs::read_dir("/proc/self/fd").expect("/proc").count() }
    }

    /// Checks that the present resources are these. It tries again, because the kernel shows a thread for a moment after its end.
    fn check_restored(&self, fault: Fault) {
        for _ in 0..MOST_LOOKS {
            if Footprint::now() == *self {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Footprint::now(), *self, "{fault:?}: something is left in the process");
    }
}

fn one_test() -> MutexGuard<'static, ()> {
    ONE_TEST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_toml(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("run.toml")).expect("run.toml").parse().expect("it is TOML")
}

fn outcome(folder: &Path) -> Option<String> {
    run_toml(folder).get("outcome").map(|outcome| outcome.as_str().expect("a word").to_owned())
}

#[test]
fn a_run_without_a_fault_is_done_and_leaves_only_its_folder() {
    let _one_test = one_test();
    let ended = run_with(Fault::Nothing);
    let end = ended.result.expect("it is done");
    assert_eq!((end.outcome, end.interactions), ("done", u64::from(2 * PASSES)));
    assert_eq!(outcome(&ended.folder).as_deref(), Some("done"));
    assert!(ended.folder.join("interactions.parquet").exists() && !ended.folder.join("interactions.arrows").exists());
}

#[test]
fn things_that_cannot_be_undone_are_in_the_result_and_in_run_toml() {
    let _one_test = one_test();
    let ended = run_with(Fault::DirectoryStays);
    let end = ended.result.expect("it is done all the same");
    assert_eq!((end.outcome, end.left_behind.len()), ("done", 1));
    let text = &end.left_behind[0];
    assert!(text.contains("loadgo-stays") && text.contains("Is a directory") && text.contains("remove it by hand"), "{text}");
    assert_eq!(run_toml(&ended.folder)["notes"][0].as_str(), Some(text.as_str()));
    assert_eq!(end.finished(Vec::new()).notes.len(), 1);
}

#[test]
fn after_any_refusal_or_panic_the_rest_is_ended_and_run_toml_has_the_outcome() {
    let _one_test = one_test();
    for (fault, words) in [
        (Fault::HomesRefused, "no homes"),
        (Fault::SystemRefused, "no descriptor is left"),
        (Fault::SystemPanicsAtItsBegin, "the driver's thread panicked: "),
        (Fault::DriverPanicsAtLine(1), "the driver's thread panicked: "),
        (Fault::DriverPanicsAtLine(2 * PASSES), "a fault of this test"),
        (Fault::SystemPanicsAtItsEnd, "the driver's thread panicked: "),
    ] {
        let ended = run_with(fault);
        let refusal = ended.result.expect_err("it has failed").refusal.to_string();
        assert!(refusal.contains(words), "{fault:?}: {refusal}");
        assert_eq!(outcome(&ended.folder).as_deref(), Some("failed"), "{fault:?}");
        assert_eq!(run_toml(&ended.folder)["finished"].as_bool(), Some(true), "{fault:?}");
    }
}

#[test]
fn a_refusal_while_the_users_are_at_work_stops_them_before_their_homes_go() {
    let _one_test = one_test();
    let ended = run_with(Fault::Disk(DiskFault::RunTomlRefused, u64::MAX));
    let refusal = ended.result.expect_err("run.toml was refused").refusal.to_string();
    assert!(refusal.contains("run.toml") && refusal.contains("make room"), "{refusal}");
    let run = run_toml(&ended.folder);
    assert_eq!((run["outcome"].as_str(), run["finished"].as_bool()), (Some("failed"), Some(true)));
    assert!(run["notes"].to_string().contains("the run failed: cannot write"), "{}", run["notes"]);
    assert!(ended.observed.lines.load(Ordering::Relaxed) < u64::from(2 * PASSES), "they were stopped");
}

#[test]
fn a_driver_that_panics_leaves_the_rows_before_and_a_loss() {
    let _one_test = one_test();
    let ended = run_with(Fault::DriverPanicsAtLine(2 * PASSES));
    assert_eq!(ended.observed.lines.load(Ordering::Relaxed), u64::from(2 * PASSES));
    assert!(rows(&ended.folder, Table::Interactions) >= u64::from(2 * PASSES) - 2, "all lines but those under way");
    assert_eq!(rows(&ended.folder, Table::Lost), 1);
}

#[test]
fn a_sampler_that_panics_or_meters_that_fail_are_losses_of_a_run_that_goes_on() {
    let _one_test = one_test();
    for fault in [Fault::SamplerPanicsAtItsBegin, Fault::SamplerPanicsAtSample(1), Fault::MetersLose] {
        let ended = run_with(fault);
        let end = ended.result.unwrap_or_else(|failure| panic!("{fault:?}: {}", failure.refusal));
        assert_eq!((end.outcome, end.interactions), ("done", u64::from(2 * PASSES)), "{fault:?}");
        assert_eq!(rows(&ended.folder, Table::Lost), 1, "{fault:?}");
    }
}

#[test]
fn a_caller_that_stops_fails_panics_or_drops_the_run_ends_it() {
    let _one_test = one_test();
    let stopped = run_with(Fault::CallbackStops);
    assert_eq!(stopped.result.expect("stopping is no failure").outcome, "stopped");
    assert_eq!(outcome(&stopped.folder).as_deref(), Some("stopped"));
    let failed = run_with(Fault::CallbackFails);
    assert_eq!(failed.result.expect_err("its caller has failed").refusal.to_string(), "its caller raised KeyError: 'phase'");
    let run = run_toml(&failed.folder);
    assert_eq!((run["outcome"].as_str(), run["finished"].as_bool()), (Some("failed"), Some(true)));
    assert_eq!(run["notes"][0].as_str(), Some("the run failed: its caller raised KeyError: 'phase'"));
    let panicked = run_with(Fault::CallbackPanics);
    assert!(panicked.panicked);
    assert_eq!(outcome(&panicked.folder).as_deref(), Some("failed"));
    let dropped = run_with(Fault::Dropped);
    assert_eq!(outcome(&dropped.folder).as_deref(), Some("done"), "its users had left");
}

/// Number of rows of a table, in its stream or, if there is none, in its Parquet file.
fn rows(folder: &Path, table: Table) -> u64 {
    let folder = Folder::open(folder).expect("a run");
    let stream = folder.stream(table);
    match stream.exists() {
        true => whole_part(&stream).expect("a stream").rows,
        false => {
            let file = std::fs::File::open(folder.parquet(table)).expect("a table");
            let reader = SerializedFileReader::new(file).expect("a whole table");
            reader.metadata().file_metadata().num_rows() as u64
        }
    }
}
