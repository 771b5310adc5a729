//! The life of a run in which each step fails in turn: afterwards no thread, no descriptor and no home is left.
//!
//! The users are in virtual time, the store and the list of what is undone are the real ones; the disk refuses a write.

#[path = "../../../core/tests/virtual_host/mod.rs"]
mod virtual_host;

mod faulty;
mod faulty_users;

use super::{RunArguments, RunResult, Running};
use crate::account::Account;
use crate::asked::Asked;
use crate::conditions;
use crate::driver::{Begun, DriverArguments};
use crate::progress::Decision;
use crate::refusal::{Failure, RunRefusal};
use crate::sampling::Sampled;
use crate::sections::{DriverPart, Setting, SystemPart};
use faulty::{FaultyDisk, Happens};
use faulty_users::{CountingMeters, Fault, Life, Users};
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

/// Threads and descriptors are the process's: one test at a time counts them.
static ALONE: Mutex<()> = Mutex::new(());

/// Lines that each of the two users types.
const PASSES: u32 = 20;

/// One life of a run, and what it has left.
struct Lived {
    result: Result<RunResult, Failure>,
    panicked: bool,
    folder: PathBuf,
    life: Arc<Life>,
    writes: u64,
    _dir: tempfile::TempDir,
}

fn live(fault: Fault) -> Lived {
    let dir = tempfile::tempdir().expect("a directory");
    let before = Footprint::now();
    let (happens, from) = if let Fault::Disk(happens, from) = fault { (happens, from) } else { (Happens::RunRefusal, u64::MAX) };
    let disk = Arc::new(FaultyDisk::new(happens, from));
    let life = Arc::new(Life {
        homes: dir.path().join("loadgo-homes"),
        homes_outlived_users: AtomicBool::new(true),
        meters_at_work: AtomicBool::new(false),
        lines: AtomicU64::new(0),
    });
    let folder = dir.path().join("run");
    let (running, disk_used) = (AssertUnwindSafe((&folder, &life, &dir)), Arc::clone(&disk));
    let outcome = catch_unwind(move || {
        let (folder, life, dir) = *running;
        whole_run(fault, folder, dir.path(), disk_used, life)
    });
    let panicked = outcome.is_err();
    let result = outcome.unwrap_or_else(|_| Err(Refusal::new("the caller panicked").into()));
    before.is_back(fault);
    assert!(life.homes_outlived_users.load(Ordering::Acquire), "{fault:?}: homes went before their users");
    assert!(!life.meters_at_work.load(Ordering::Acquire), "{fault:?}: meters are left");
    let state: Vec<_> = std::fs::read_dir(dir.path().join("state")).into_iter().flatten().flatten().collect();
    let listed = state.iter().filter(|entry| entry.path().extension().is_some_and(|end| end == "run")).count();
    let stays = usize::from(fault == Fault::DirectoryStays);
    assert_eq!((life.homes.exists(), listed), (false, stays), "{fault:?}: something is left on the host");
    Lived { result, panicked, folder, life, writes: disk.writes(), _dir: dir }
}

fn whole_run(fault: Fault, folder: &Path, dir: &Path, disk: Arc<FaultyDisk>, life: &Arc<Life>) -> Result<RunResult, Failure> {
    let asked = asked(folder);
    let account = Account::begin(&asked, this_host());
    let folder = Folder::create_on(disk, folder, &account.toml())?;
    let mut running = Running::begin(account, Some(folder));
    let driven = steps(&mut running, fault, asked, dir, life);
    if fault == Fault::Dropped {
        drop(running);
        return Err(Refusal::new("dropped").into());
    }
    running.end(driven, "done").map(|(_, end)| end)
}

/// The steps of a run, as on this host.
fn steps(running: &mut Running, fault: Fault, request: Asked, dir: &Path, life: &Arc<Life>) -> Result<bool, RunRefusal> {
    running.folder().lay("script.toml", &request.script_text)?;
    let leftovers = Leftovers::begin_in(&dir.join("state"), "tested").map_err(RunRefusal::from_state)?;
    let leftovers = running.leftovers.insert(leftovers);
    leftovers.note(Thing::Home(life.homes.clone())).map_err(RunRefusal::from_state)?;
    std::fs::create_dir(&life.homes).map_err(RunRefusal::from_state)?;
    if fault == Fault::DirectoryStays {
        std::fs::create_dir(dir.join("loadgo-stays")).map_err(RunRefusal::from_state)?;
        leftovers.note(Thing::File(dir.join("loadgo-stays"))).map_err(RunRefusal::from_state)?; // no directory is removed as a file
    }
    if fault == Fault::HomesRefused {
        return Err(Refusal::new("no homes").into());
    }
    let (watched, system_life) = (Arc::clone(life), Arc::clone(life));
    let sampling = Box::new(move |_| {
        assert_ne!(fault, Fault::SamplerPanicsAtItsBegin, "as the test has it");
        watched.meters_at_work.store(true, Ordering::Release);
        Box::new(CountingMeters { fault, samples: 0, life: watched }) as Box<dyn Sampled>
    });
    let plan = RunArguments { asked: request, when_full: WhenFull::Lose, sampling: Some(sampling) };
    let bring_up = move |order: &DriverArguments| {
        assert_ne!(fault, Fault::SystemPanicsAtItsBegin, "as the test has it");
        if fault == Fault::SystemRefused {
            return Err(Refusal::new("no descriptor is left").into());
        }
        let endless = matches!(
            fault,
            Fault::CallbackPanics | Fault::CallbackStops | Fault::CallbackFails | Fault::Disk(Happens::AccountRefusal, _)
        );
        let host = VirtualHost::constant(Span::from_millis(5));
        Ok((Users { host, fault, lines: 0, stop: order.stop.clone(), is_told: false, endless, life: system_life }, begun()))
    };
    let mut looks = 0;
    running.run(plan, bring_up, &mut |_| {
        looks += 1;
        assert!(fault != Fault::CallbackPanics || looks < 2, "as the test has it");
        match fault {
            Fault::CallbackStops => Decision::Stop,
            Fault::CallbackFails => Decision::Fail("KeyError: 'phase'".into()),
            _ => Decision::Continue,
        }
    })
}

fn begun() -> Begun {
    let scheduling = DriverPart { scheduling: "virtual".into(), processor: None, proof: String::new(), notes: Vec::new() };
    Begun { thread_id: loadgo_sys::scheduling::thread_id(), scheduling: Some(scheduling) }
}

fn asked(folder: &Path) -> Asked {
    Asked {
        id: "tested".into(),
        folder: folder.into(),
        script_name: "tested".into(),
        script_text: "name = \"test\"\n".into(),
        script: Arc::new(script("think = \"fixed(1s)\"", "[\"edit\"]")),
        load: OfferedLoad::closed(2, PASSES),
        until: None,
        command: Vec::new(),
    }
}

fn this_host() -> Setting {
    let setting = conditions::this_host("sh", &[]);
    assert!(matches!(setting.system, SystemPart::Host(_)));
    setting
}

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

    /// The kernel shows a thread for a moment after it was waited for.
    fn is_back(&self, fault: Fault) {
        for _ in 0..1000 {
            if Footprint::now() == *self {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Footprint::now(), *self, "{fault:?}: something is left in the process");
    }
}

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_toml(folder: &Path) -> toml::Table {
    std::fs::read_to_string(folder.join("run.toml")).expect("run.toml").parse().expect("it is TOML")
}

fn outcome(folder: &Path) -> Option<String> {
    run_toml(folder).get("outcome").map(|outcome| outcome.as_str().expect("a word").to_owned())
}

#[test]
fn a_run_that_nothing_happens_to_is_done_and_leaves_its_folder_alone() {
    let _alone = alone();
    let lived = live(Fault::Nothing);
    let end = lived.result.expect("it is done");
    assert_eq!((end.outcome, end.interactions), ("done", u64::from(2 * PASSES)));
    assert_eq!(outcome(&lived.folder).as_deref(), Some("done"));
    assert!(lived.folder.join("interactions.parquet").exists() && !lived.folder.join("interactions.arrows").exists());
}

#[test]
fn what_cannot_be_undone_is_in_the_result_and_in_the_folder() {
    let _alone = alone();
    let lived = live(Fault::DirectoryStays);
    let end = lived.result.expect("it is done all the same");
    assert_eq!((end.outcome, end.left_behind.len()), ("done", 1));
    let text = &end.left_behind[0];
    assert!(text.contains("loadgo-stays") && text.contains("Is a directory") && text.contains("remove it by hand"), "{text}");
    assert_eq!(run_toml(&lived.folder)["notes"][0].as_str(), Some(text.as_str()));
    assert_eq!(end.finished(Vec::new()).notes.len(), 1);
}

#[test]
fn whatever_is_refused_or_panics_the_rest_is_ended_and_the_folder_says_how() {
    let _alone = alone();
    for (fault, words) in [
        (Fault::HomesRefused, "no homes"),
        (Fault::SystemRefused, "no descriptor is left"),
        (Fault::SystemPanicsAtItsBegin, "the driver's thread panicked: "),
        (Fault::DriverPanicsAtLine(1), "the driver's thread panicked: "),
        (Fault::DriverPanicsAtLine(2 * PASSES), "as the test has it"),
        (Fault::SystemPanicsAtItsEnd, "the driver's thread panicked: "),
    ] {
        let lived = live(fault);
        let refusal = lived.result.expect_err("it has failed").refusal.to_string();
        assert!(refusal.contains(words), "{fault:?}: {refusal}");
        assert_eq!(outcome(&lived.folder).as_deref(), Some("failed"), "{fault:?}");
        assert_eq!(run_toml(&lived.folder)["finished"].as_bool(), Some(true), "{fault:?}");
    }
}

#[test]
fn a_refusal_while_the_users_are_at_work_stops_them_before_their_homes_go() {
    let _alone = alone();
    let lived = live(Fault::Disk(Happens::AccountRefusal, u64::MAX));
    let refusal = lived.result.expect_err("run.toml was refused").refusal.to_string();
    assert!(refusal.contains("run.toml") && refusal.contains("make room"), "{refusal}");
    let run = run_toml(&lived.folder);
    assert_eq!((run["outcome"].as_str(), run["finished"].as_bool()), (Some("failed"), Some(true)));
    assert!(run["notes"].to_string().contains("the run failed: cannot write"), "{}", run["notes"]);
    assert!(lived.life.lines.load(Ordering::Relaxed) < u64::from(2 * PASSES), "they were stopped");
}

#[test]
fn a_driver_that_panics_leaves_the_rows_before_and_a_loss() {
    let _alone = alone();
    let lived = live(Fault::DriverPanicsAtLine(2 * PASSES));
    assert_eq!(lived.life.lines.load(Ordering::Relaxed), u64::from(2 * PASSES));
    assert!(rows(&lived.folder, Table::Interactions) >= u64::from(2 * PASSES) - 2, "all lines but those in hand");
    assert_eq!(rows(&lived.folder, Table::Lost), 1);
}

#[test]
fn a_sampler_that_panics_or_meters_that_fail_are_losses_of_a_run_that_goes_on() {
    let _alone = alone();
    for fault in [Fault::SamplerPanicsAtItsBegin, Fault::SamplerPanicsAtSample(1), Fault::MetersLose] {
        let lived = live(fault);
        let end = lived.result.unwrap_or_else(|failure| panic!("{fault:?}: {}", failure.refusal));
        assert_eq!((end.outcome, end.interactions), ("done", u64::from(2 * PASSES)), "{fault:?}");
        assert_eq!(rows(&lived.folder, Table::Lost), 1, "{fault:?}");
    }
}

#[test]
fn a_caller_that_stops_fails_panics_or_drops_the_run_ends_it() {
    let _alone = alone();
    let stopped = live(Fault::CallbackStops);
    assert_eq!(stopped.result.expect("stopping is no failure").outcome, "stopped");
    assert_eq!(outcome(&stopped.folder).as_deref(), Some("stopped"));
    let failed = live(Fault::CallbackFails);
    assert_eq!(failed.result.expect_err("its caller has failed").refusal.to_string(), "its caller raised KeyError: 'phase'");
    let run = run_toml(&failed.folder);
    assert_eq!((run["outcome"].as_str(), run["finished"].as_bool()), (Some("failed"), Some(true)));
    assert_eq!(run["notes"][0].as_str(), Some("the run failed: its caller raised KeyError: 'phase'"));
    let panicked = live(Fault::CallbackPanics);
    assert!(panicked.panicked);
    assert_eq!(outcome(&panicked.folder).as_deref(), Some("failed"));
    let dropped = live(Fault::Dropped);
    assert_eq!(outcome(&dropped.folder).as_deref(), Some("done"), "its users had left");
}

#[test]
fn a_disk_that_refuses_from_any_write_on_leaves_nothing_behind() {
    let _alone = alone();
    let writes = live(Fault::Nothing).writes;
    assert!(writes > 30, "a run writes {writes} times");
    for from in 0..writes {
        let lived = live(Fault::Disk(Happens::RunRefusal, from));
        assert!(!lived.panicked, "write {from}");
        let refusal = lived.result.expect_err("its end cannot be written").refusal.to_string();
        assert!(refusal.contains("make room"), "write {from}: {refusal}");
    }
}

#[test]
fn a_disk_that_refuses_one_write_costs_what_was_written_or_the_run() {
    let _alone = alone();
    let writes = live(Fault::Nothing).writes;
    for number in 0..writes {
        let lived = live(Fault::Disk(Happens::OneRefusal, number));
        match lived.result {
            Ok(end) => {
                let lost: u64 = rows(&lived.folder, Table::Lost);
                assert!(end.interactions == u64::from(2 * PASSES) || lost > 0, "write {number}");
            }
            Err(failure) => {
                let refusal = failure.refusal.to_string();
                assert!(refusal.contains("make room"), "write {number}: {refusal}");
                // Where the last state of run.toml was refused itself, the folder is that of a run that was killed.
                let said = lived.folder.join("run.toml").exists().then(|| outcome(&lived.folder)).flatten();
                assert!(said.is_none_or(|outcome| ["failed", "done"].contains(&outcome.as_str())), "write {number}");
            }
        }
    }
}

#[test]
fn a_panic_at_any_write_of_any_thread_leaves_nothing_behind() {
    let _alone = alone();
    let writes = live(Fault::Nothing).writes;
    for number in 0..writes {
        let lived = live(Fault::Disk(Happens::OnePanic, number));
        assert!(lived.panicked || lived.result.is_err(), "write {number}");
    }
}

/// Rows of a table, in Parquet or where it could not be written in the stream.
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
