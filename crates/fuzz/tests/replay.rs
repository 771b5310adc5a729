//! Each corpus is read again, and inputs that are changed from it, by a seed.
//!
//! `LOADGO_FUZZ_CASES` is the number of changed inputs of each target.

use loadgo_fuzz::{ALL_TARGETS, Mutator, Target, seeds};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// Number of changed inputs of a target in each `cargo test`. Chosen by hand: all targets take some seconds.
const CASES: usize = 3000;

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let mut inputs: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("it can be read")).collect();
    assert!(!inputs.is_empty(), "{} has no inputs", folder.display());
    inputs.extend(seeds(target.name));
    inputs
}

/// Feeds `input`, and prints it if the reader breaks a law.
fn feed(target: &Target, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.feed)(input))) {
        let shown: String = input.iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from).collect();
        eprintln!("the target {} fails with b\"{shown}\"", target.name);
        resume_unwind(panic);
    }
}

fn replay(name: &str) {
    let target = ALL_TARGETS.iter().find(|target| target.name == name).expect("a target");
    let inputs = corpus(target);
    inputs.iter().for_each(|input| feed(target, input));
    let cases = std::env::var("LOADGO_FUZZ_CASES").map_or(CASES, |cases| cases.parse().expect("a number"));
    let mut mutator = Mutator::new(1968);
    (0..cases).for_each(|_| feed(target, &mutator.changed(&inputs)));
}

#[test]
fn scripts_are_read_back_or_refused_at_a_place() {
    replay("script");
}

#[test]
fn machine_files_are_read_back_or_refused_at_a_place() {
    replay("machine");
}

#[test]
fn casts_become_scripts_or_are_refused_at_a_line() {
    replay("cast");
}

#[test]
fn growing_streams_have_the_same_rows_however_they_come() {
    replay("stream");
}

#[test]
fn ready_marks_are_found_wherever_reads_cut_them() {
    replay("ready");
}

#[test]
fn transfers_are_read_or_refused_whatever_the_other_end_sends() {
    replay("transfer");
}

#[test]
fn frames_of_agents_come_out_however_they_are_cut() {
    replay("agent");
}
