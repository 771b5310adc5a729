//! Runs whose disk fails once, at each write, file and sync in turn.

use super::faulty::{Asked, DiskFault};
use super::faulty_users::Fault;
use super::{EndedRun, PASSES, one_test, outcome, rows, run_with};
use loadgo_store::{Folder, Table};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn a_disk_that_refuses_from_any_write_on_leaves_nothing_behind() {
    let _one_test = one_test();
    for (from, ended) in runs_with_each_write(DiskFault::AllRefused) {
        assert!(!ended.panicked, "write {from}");
        let refusal = ended.result.expect_err("its end cannot be written").refusal.to_string();
        assert!(refusal.contains("make room"), "write {from}: {refusal}");
    }
}

#[test]
fn a_disk_that_refuses_one_write_costs_the_rows_of_that_write_or_the_run() {
    let _one_test = one_test();
    let writes = asked_by_a_run(|asked| &asked.writes);
    for number in 0..writes {
        let ended = run_with(Fault::Disk(DiskFault::OneRefused, number));
        match ended.result {
            Ok(end) => {
                let lost: u64 = rows(&ended.folder, Table::Lost);
                assert!(end.interactions == u64::from(2 * PASSES) || lost > 0, "write {number}");
            }
            Err(failure) => {
                let refusal = failure.refusal.to_string();
                assert!(refusal.contains("make room"), "write {number}: {refusal}");
                // If the last write of run.toml was refused, the folder looks like that of a killed run.
                let said = ended.folder.join("run.toml").exists().then(|| outcome(&ended.folder)).flatten();
                assert!(said.is_none_or(|outcome| ["failed", "done"].contains(&outcome.as_str())), "write {number}");
            }
        }
    }
}

#[test]
fn a_panic_at_any_write_of_any_thread_leaves_nothing_behind() {
    let _one_test = one_test();
    for (number, ended) in runs_with_each_write(DiskFault::OnePanic) {
        assert!(ended.panicked || ended.result.is_err(), "write {number}");
    }
}

#[test]
fn a_write_of_which_half_reaches_a_full_disk_leaves_each_table_readable_to_its_last_whole_batch() {
    let _one_test = one_test();
    let unharmed = run_with(Fault::Nothing);
    for (number, ended) in runs_with_each_write(DiskFault::Torn) {
        assert!(!ended.panicked, "write {number}");
        let refusal = ended.result.expect_err("its end cannot be written").refusal.to_string();
        assert!(refusal.contains("make room"), "write {number}: {refusal}");
        for &table in Table::ALL.iter().filter(|&&table| has_file(&ended.folder, table)) {
            let most = if table == Table::Lost { u64::MAX } else { rows(&unharmed.folder, table) };
            assert!(rows(&ended.folder, table) <= most, "write {number}: {table:?} has more rows than the run had");
        }
    }
}

#[test]
fn a_file_that_cannot_be_made_is_told_by_the_run() {
    let _one_test = one_test();
    for number in 0..asked_by_a_run(|asked| &asked.files) {
        check_told(&run_with(Fault::Disk(DiskFault::FileRefused, number)), &format!("file {number}"));
    }
}

#[test]
fn a_disk_that_does_not_take_what_was_written_is_told_by_the_run() {
    let _one_test = one_test();
    for number in 0..asked_by_a_run(|asked| &asked.syncs) {
        check_told(&run_with(Fault::Disk(DiskFault::SyncRefused, number)), &format!("sync {number}"));
    }
}

/// A run whose disk failed once has failed in words, or has all its rows, or tells what it lost.
fn check_told(ended: &EndedRun, what: &str) {
    assert!(!ended.panicked, "{what}");
    match &ended.result {
        Ok(_) => {
            let (kept, lost) = (rows(&ended.folder, Table::Interactions), rows(&ended.folder, Table::Lost));
            assert!(kept == u64::from(2 * PASSES) || lost > 0, "{what}: {kept} rows, and nothing is told");
        }
        Err(failure) => assert!(failure.refusal.to_string().contains("cannot write"), "{what}: {}", failure.refusal),
    }
}

/// Least number of writes of a run without faults.
const LEAST_WRITES: u64 = 30;

/// Runs with this fault at each write in turn. The first run with too few writes has no fault, and ends the series.
///
/// Nobody knows the number of writes before a run has ended: one that takes half a second or more writes more often.
fn runs_with_each_write(fault: DiskFault) -> impl Iterator<Item = (u64, EndedRun)> {
    (0..).map(move |number| (number, run_with(Fault::Disk(fault, number)))).take_while(|(number, ended)| {
        let happened = ended.disk.asked().writes.load(Ordering::SeqCst) > *number;
        assert!(happened || (*number > LEAST_WRITES && ended.result.is_ok()), "write {number}");
        happened
    })
}

/// How often a run without faults asks its disk for something.
fn asked_by_a_run(count: impl Fn(&Asked) -> &AtomicU64) -> u64 {
    let asked = count(run_with(Fault::Nothing).disk.asked()).load(Ordering::SeqCst);
    assert!(asked > 3, "a run asks {asked} times");
    asked
}

fn has_file(folder: &Path, table: Table) -> bool {
    let Ok(folder) = Folder::open(folder) else { return false }; // the disk refused its run.toml
    folder.stream(table).exists() || folder.parquet(table).exists()
}
