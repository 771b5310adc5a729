//! A disk that fills while a run is recorded or finished: rows that fit are kept, and the others are counted as lost.
//!
//! The disk is a tmpfs of 16 MB, which only root may mount. Without root, the tests print that and check nothing.

mod timeouts;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt64Type;
use loadgo_core::record::Recorder as _;
use loadgo_store::{Error, Folder, Follower, Recording, StoppedRecording, Table, WhenFull, finish, whole_part};
use timeouts::interaction;

const ROWS: u64 = 200_000;
const RUN: &str = "format = 1\nfinished = false\n";

/// Locked by the test that has a disk mounted. A process that another test starts inherits this test's open files until it
/// executes its program, and the disk could not be unmounted.
static ONE_DISK: Mutex<()> = Mutex::new(());

/// A small mounted disk, which is unmounted when this is dropped.
struct Disk {
    folder: tempfile::TempDir,
    _one_disk: MutexGuard<'static, ()>,
}

impl Disk {
    fn mounted() -> Option<Disk> {
        let one_disk = ONE_DISK.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "loadgo-test"]).arg(dir.path()).output();
        match mount {
            Ok(done) if done.status.success() => return Some(Disk { folder: dir, _one_disk: one_disk }),
            Ok(refused) => {
                writeln!(std::io::stderr(), "NOT TESTED, no small disk to be had: {}", String::from_utf8_lossy(&refused.stderr))
                    .expect("said")
            }
            Err(error) => writeln!(std::io::stderr(), "NOT TESTED, no mount command: {error}").expect("said"),
        }
        None
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.folder.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{} stays mounted", self.folder.path().display());
    }
}

fn record(folder: Folder, rows: u64) -> StoppedRecording {
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Wait).unwrap();
    for number in 0..rows {
        recorder.interaction(&interaction(number));
    }
    drop(recorder);
    recording.stop()
}

fn fill(path: &Path) {
    let mut size = 1 << 20;
    let mut all = Vec::new();
    while size > 0 {
        all.resize(all.len() + size, 0);
        if fs::write(path, &all).is_err() {
            all.truncate(all.len() - size);
            size /= 2;
        }
    }
    let _ = fs::write(path, &all);
}

#[test]
fn what_does_not_fit_on_the_disk_is_counted_to_the_row() {
    let Some(disk) = Disk::mounted() else { return };
    let stopped = record(Folder::create(disk.run(), RUN).unwrap(), ROWS);
    let stream = stopped.folder.stream(Table::Interactions);
    let held = whole_part(&stream).unwrap();
    assert_eq!(held.rows, stopped.interactions);
    assert!(fs::metadata(&stream).unwrap().len() <= held.bytes + 8, "nothing but whole batches and the end mark");
    let in_run: u64 = stopped.unwritten.iter().map(|lost| lost.count).sum();
    let in_table = counted(&stopped.folder.stream(Table::Lost));
    assert_eq!(held.rows + in_table + in_run, ROWS, "{:?}", stopped.unwritten);
    assert!(held.rows > 0 && held.rows < ROWS, "the disk is too small for all, not for some");
    fs::remove_file(&stream).unwrap();
    finish(&stopped.folder, "format = 1\nfinished = true\n", &stopped.unwritten).unwrap();
    let run: toml::Table = fs::read_to_string(disk.run().join("run.toml")).unwrap().parse().unwrap();
    let in_run_toml = run.get("lost").map_or(0, |lost| lost.as_array().unwrap().len());
    assert_eq!(in_run_toml, stopped.unwritten.len());
}

#[test]
fn a_disk_that_fills_while_a_run_is_finished_leaves_the_streams() {
    let Some(disk) = Disk::mounted() else { return };
    let stopped = record(Folder::create(disk.run(), RUN).unwrap(), 1000);
    let stream = stopped.folder.stream(Table::Interactions);
    let ballast = disk.folder.path().join("ballast");
    fill(&ballast);
    let error = finish(&stopped.folder, "format = 1\nfinished = true\n", &[]).unwrap_err();
    assert!(matches!(error, Error::Refused(..)) && error.to_string().contains("make room on this disk"), "{error}");
    assert_eq!(whole_part(&stream).unwrap().rows, 1000);
    assert!(Table::ALL.iter().all(|table| !stopped.folder.parquet(*table).exists()), "no half of a conversion is left");
    let run = fs::read_to_string(disk.run().join("run.toml")).unwrap();
    assert!(run.starts_with("format = 1\nfinished = true\n# crc32"), "room was reserved for the last run.toml: {run}");

    fs::remove_file(&ballast).unwrap();
    finish(&stopped.folder, "format = 1\nfinished = true\n", &[]).unwrap();
    assert!(stopped.folder.parquet(Table::Interactions).exists() && !stream.exists(), "with room again it is finished");
}

#[test]
fn rows_are_written_again_when_there_is_room_again() {
    let Some(disk) = Disk::mounted() else { return };
    let folder = Folder::create(disk.run(), RUN).unwrap();
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Wait).unwrap();
    let (run, ballast) = (Folder::open(disk.run()).unwrap(), disk.folder.path().join("ballast"));
    fill(&ballast);
    let mut tried = 0;
    while recording.lost() == 0 {
        recorder.interaction(&interaction(tried));
        tried += 1;
    }
    let lost = recording.lost();
    fs::remove_file(&ballast).unwrap();
    recorder.interaction(&interaction(tried));
    drop(recorder);
    let stopped = recording.stop();
    let held = whole_part(&run.stream(Table::Interactions)).unwrap().rows;
    let in_lost = counted(&run.stream(Table::Lost));
    assert!(held >= 1 && in_lost >= lost, "held {held}, in `lost` {in_lost}, lost {lost}");
    assert_eq!((held + in_lost, stopped.unwritten), (tried + 1, vec![]));
}

/// The sum of `count` in the stream of `lost` at `path`.
fn counted(path: &Path) -> u64 {
    let mut follower = Follower::open(path).unwrap();
    let batches = std::iter::from_fn(|| follower.next_batch().unwrap());
    batches.map(|batch| batch["count"].as_primitive::<UInt64Type>().values().iter().sum::<u64>()).sum()
}
