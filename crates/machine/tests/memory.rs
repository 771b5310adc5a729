//! Rows of a simulated machine's memory: every frame has an owner, and pages that come and go agree with the engine's counts.

use crate::virtual_host::{Kept, script};
use loadgo_core::driver::drive;
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::{MemoryRow, MeterRows};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use loadgo_machine::engine::Engine;
use loadgo_machine::file::parse;
use loadgo_machine::spec::Machine;
use loadgo_machine::system::{MachineSystem, SampleSink};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

const FRAMES: u64 = 64;
const WIRED: u64 = 16;
const PAGE: u64 = 4096;

/// A machine with the section `memory`.
fn machine(memory: &str) -> Arc<Machine> {
    let text = format!(
        r#"
title = "A test's machine"
source = "assumed"
[processors]
discipline = "round-robin"
quantum = "50ms"
{memory}
[storage.drum]
kind = "drum"
revolution = "16ms"
sectors = 8
[storage.disk]
kind = "server"
service = "exponential(30ms)"
[supervisor]
page_fault = "1ms"
[commands."*"]
cpu = "exponential(0.3s)"
pages = 30
image_words = 4000
"#
    );
    Arc::new(parse(&text, &mut |name| Err(format!("there is no {name}").into())).expect("the test's machine is right"))
}

fn paging(more: &str) -> Arc<Machine> {
    machine(&format!(
        "[memory]\nresidence = \"paging\"\nframes = {FRAMES}\nwired = {WIRED}\nheadway_per_page = \"0.5ms\"\ndirty = 0.3\n\
         device = \"drum\"\n{more}"
    ))
}

/// A machine for each way to replace pages.
fn all_replacements() -> [Arc<Machine>; 4] {
    [
        "replacement = \"lru\"",
        "replacement = \"clock\"",
        "behind = \"disk\"\ndevice_pages = 100",
        "replacement = \"equal\"\n[multiprogramming]\nlimit = 3",
    ]
    .map(paging)
}

#[derive(Clone, Default)]
struct Samples(Rc<RefCell<Vec<MeterRows>>>);

impl SampleSink for Samples {
    fn sample(&mut self, _: Instant, sample: MeterRows) {
        self.0.borrow_mut().push(sample);
    }
}

/// The samples of a run, span by span, in which each user types `passes` lines.
fn sampled(machine: &Arc<Machine>, users: u32, passes: u32) -> Vec<MeterRows> {
    let samples = Samples::default();
    let load = OfferedLoad::closed(users, passes);
    let engine = Engine::new(machine, load.seed).expect("the machine is possible");
    let mut system = MachineSystem::new(engine, machine, samples.clone(), StopRequest::default());
    let script = script("think = \"exponential(1s)\"\ntimeout = \"100000s\"", "[\"work\", \"more\"]");
    drive(&script, &load, &mut system, &mut Kept::default());
    assert_eq!(system.finish(), None);
    samples.0.take()
}

fn rows(samples: &[MeterRows]) -> impl Iterator<Item = &MemoryRow> {
    samples.iter().flat_map(|sample| &sample.memory)
}

fn of_users(samples: &[MeterRows]) -> impl Iterator<Item = (UserId, &MemoryRow)> {
    rows(samples).filter_map(|row| Some((row.user?, row)))
}

fn row<'a>(sample: &'a MeterRows, who: &str) -> &'a MemoryRow {
    sample.memory.iter().find(|row| &*row.who == who && row.user.is_none()).unwrap_or_else(|| panic!("{who} has no row"))
}

#[test]
fn held_and_free_memory_add_up_to_all_memory_in_each_span() {
    for machine in all_replacements() {
        let samples = sampled(&machine, 8, 5);
        assert!(samples.len() > 10);
        for sample in &samples {
            let resident: u64 = sample.memory.iter().filter_map(|row| row.resident_bytes).sum();
            assert_eq!(resident, FRAMES * PAGE);
            assert_eq!(row(sample, "free").size_bytes, Some(FRAMES * PAGE));
            assert_eq!(row(sample, "others").resident_bytes, Some(WIRED * PAGE));
        }
    }
}

#[test]
fn a_user_holds_the_pages_brought_in_less_the_pages_taken() {
    let [lru, clock, behind, _] = all_replacements();
    for machine in [lru, clock, behind] {
        let samples = sampled(&machine, 8, 5);
        let mut balance = BTreeMap::<UserId, u64>::new();
        let (mut taken, mut looked) = (0, 0);
        for (user, row) in of_users(&samples) {
            let pages = balance.entry(user).or_default();
            *pages = *pages + row.brought_pages.unwrap() - row.taken_pages.unwrap();
            taken += row.taken_pages.unwrap();
            if row.resident_bytes != Some(0) {
                looked += 1;
                assert_eq!(row.resident_bytes, Some(*pages * PAGE), "{row:?}");
            }
        }
        assert!(taken > 100 && looked > 100, "memory is short: {taken} pages taken, {looked} rows");
    }
}

#[test]
fn the_pages_brought_in_are_the_page_faults_that_the_engine_counts() {
    for machine in all_replacements() {
        let samples = sampled(&machine, 8, 5);
        let brought: u64 = of_users(&samples).filter_map(|(_, row)| row.brought_pages).sum();
        let faults =
            samples.iter().flat_map(|sample| &sample.faults).filter(|row| row.kind == "major" && row.bucket_ns.is_none());
        assert_eq!(brought, faults.map(|row| row.count).sum::<u64>());
    }
}

#[test]
fn a_user_with_an_equal_share_loses_an_own_page_for_each_that_comes() {
    let [.., equal] = all_replacements();
    let samples = sampled(&equal, 8, 5);
    let share = (FRAMES - WIRED) / 3 * PAGE;
    for (_, row) in of_users(&samples) {
        assert_eq!(row.taken_pages, row.brought_pages);
        assert!([Some(0), Some(share)].contains(&row.resident_bytes), "{row:?}");
    }
}

#[test]
fn a_paging_device_with_a_backing_store_has_a_row_that_balances() {
    let [lru, _, behind, _] = all_replacements();
    let samples = sampled(&behind, 8, 5);
    let mut used = 0;
    for sample in samples.iter().filter(|sample| sample.memory.iter().any(|row| row.user.is_some())) {
        let device = row(sample, "drum");
        let of_users: u64 = sample.memory.iter().filter(|row| row.user.is_some()).filter_map(|row| row.device_bytes).sum();
        assert_eq!((device.device_bytes, device.size_bytes), (Some(of_users), Some(100 * PAGE)));
        used += device.brought_pages.unwrap();
        used -= device.taken_pages.unwrap();
        assert!(device.device_bytes <= Some(used * PAGE), "only who leaves makes it less");
    }
    assert!(used > 0);
    let unknown = sampled(&lru, 2, 1);
    assert!(rows(&unknown).all(|row| row.device_bytes.is_none() && &*row.who != "drum"));
}

#[test]
fn programs_that_are_swapped_hold_their_words_and_no_pages_are_counted() {
    let swapping = "[memory]\nresidence = \"swapping\"\nwords = 10000\ndevice = \"drum\"\n[multiprogramming]\nlimit = 1";
    let samples = sampled(&machine(swapping), 4, 3);
    for sample in &samples {
        assert_eq!(sample.memory.iter().filter_map(|row| row.resident_bytes).sum::<u64>(), 10_000 * 4);
    }
    assert!(of_users(&samples).any(|(_, row)| row.resident_bytes == Some(4000 * 4)));
    assert!(rows(&samples).all(|row| row.taken_pages.is_none() && row.brought_pages.is_none()));
}

#[test]
fn a_machine_without_a_memory_has_no_rows() {
    assert_eq!(rows(&sampled(&machine(""), 2, 2)).count(), 0);
}

#[test]
fn many_users_have_their_rows_in_turns_and_none_of_the_counts_is_lost() {
    const USERS: u32 = 600;
    let samples = sampled(&paging(""), USERS, 1);
    let mut ends = BTreeMap::<UserId, Instant>::new();
    for (user, row) in of_users(&samples) {
        let end = ends.insert(user, row.at);
        assert!(end.is_none_or(|end| row.at.since(end).0 == row.span_ns), "the rows of user {user} follow each other: {row:?}");
    }
    assert_eq!(ends.len() as u32, USERS);
    let of_users = |sample: &MeterRows| sample.memory.iter().filter(|row| row.user.is_some()).count();
    let in_turns: Vec<&MeterRows> = samples.iter().filter(|sample| of_users(sample) == 256).collect();
    assert!(in_turns.len() > 10);
    let named: BTreeSet<UserId> = in_turns.iter().flat_map(|sample| &sample.memory).filter_map(|row| row.user).collect();
    assert!(named.len() > 500, "all have their turn");
    let brought: u64 = self::of_users(&samples).filter_map(|(_, row)| row.brought_pages).sum();
    let faults = samples.iter().flat_map(|sample| &sample.faults).filter(|row| row.kind == "major" && row.bucket_ns.is_none());
    assert_eq!(brought, faults.map(|row| row.count).sum::<u64>());
}
