//! The supervisor's locks: worked cases to the nanosecond, and any machine.

use std::sync::Arc;

use crate::models::{SECOND, exponential, machine};
use crate::working_machine::machines;
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::spec::{Command, Discipline, LockedPath, Machine, Population};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
/// The categories of the paths' processor times, in the order of `LockedPath::ALL`.
const PATH_CATEGORIES: [Category; LockedPath::ALL.len()] = [
    Category::PageFault,
    Category::SegmentFault,
    Category::BoundFault,
    Category::Interrupt,
    Category::Getwork,
    Category::ProcessCreation,
];

/// A command with 20 ms of work, and after half of it a segment fault of 10 ms. Bound faults take 4 ms.
fn faulting(processors: u32, locks: &[(LockedPath, &str)]) -> Machine {
    let command = Command { cpu: AmountLaw::Fixed(2e7), segment_faults: AmountLaw::Fixed(1.0), ..Command::without_work("edit") };
    let mut made = machine(processors, Discipline::FirstCome, command, Population::Closed(1), AmountLaw::ZERO);
    made.supervisor.segment_fault_ns = 10 * MS;
    made.supervisor.bound_fault_ns = 4 * MS;
    made.supervisor.locks = locks.iter().map(|(path, name)| (*path, (*name).to_owned())).collect();
    made
}

/// The machine with this many users, all there.
fn with_users(made: &Machine, users: u32) -> Engine {
    let mut engine = Engine::new(&Arc::new(made.clone()), 1).expect("the machine works");
    for user in 1..=users {
        engine.attach(user).expect("there is room for each user");
        assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })), "user {user} has a process");
    }
    engine
}

/// When each user's answer comes, and its processor time of the supervisor, after all have typed command 0 at once.
fn answers(engine: &mut Engine, users: u32) -> Vec<(u32, u64, u64)> {
    let began = engine.now();
    (1..=users).for_each(|user| engine.begin(user, 0, &[]));
    let mut answers = Vec::new();
    while let Some(EngineEvent::Ready { user, at, answer }) = engine.advance(None) {
        answers.push((user, at - began, answer.usage.cpu_system_ns.expect("a machine counts its supervisor")));
    }
    answers
}

#[test]
fn processors_go_through_a_locked_path_one_at_a_time_in_the_order_of_arrival() {
    let free = answers(&mut with_users(&faulting(3, &[]), 3), 3);
    assert_eq!(free.iter().map(|(_, at, _)| *at / MS).collect::<Vec<_>>(), [30, 30, 30]);
    let mut engine = with_users(&faulting(3, &[(LockedPath::SegmentFault, "list")]), 3);
    let locked = answers(&mut engine, 3);
    assert_eq!(locked, [(1, 30 * MS, 10 * MS), (2, 40 * MS, 20 * MS), (3, 50 * MS, 30 * MS)]);
    assert_eq!(engine.meters().total_ns(Category::LockWait), 30 * MS, "10 ms and 20 ms of looping");
    assert_eq!(engine.meters().total_ns(Category::SegmentFault), 30 * MS);
}

#[test]
fn paths_of_one_lock_exclude_each_other_and_those_of_two_locks_do_not() {
    let ends_ms = |second: &str| {
        let mut made = faulting(2, &[(LockedPath::SegmentFault, "a"), (LockedPath::BoundFault, second)]);
        let bound = Command { bound_faults: AmountLaw::Fixed(1.0), segment_faults: AmountLaw::ZERO, ..made.commands[0].clone() };
        made.commands.push(bound);
        let mut engine = with_users(&made, 2);
        let began = engine.now();
        engine.begin(1, 0, &[]);
        engine.begin(2, 1, &[]);
        let mut at = [0, 0];
        while let Some(EngineEvent::Ready { user, at: answered, .. }) = engine.advance(None) {
            at[user as usize - 1] = (answered - began) / MS;
        }
        at
    };
    assert_eq!(ends_ms("b"), [30, 24]);
    assert_eq!(ends_ms("a"), [30, 34], "the bound fault waits for 10 ms");
}

#[test]
fn whoever_is_given_up_while_it_loops_leaves_its_processor_to_the_next() {
    let mut engine = with_users(&faulting(2, &[(LockedPath::SegmentFault, "list")]), 3);
    let began = engine.now();
    (1..=3).for_each(|user| engine.begin(user, 0, &[]));
    assert_eq!(engine.advance(Some(began + 15 * MS)), None, "one processor is in the path, the other loops");
    engine.abandon(2);
    let mut answers = Vec::new();
    while let Some(event) = engine.advance(None) {
        let EngineEvent::Ready { user, at, .. } = event else { continue };
        answers.push((user, (at - began) / MS));
    }
    // User 3 comes to the lock at 25 ms, and it is kept until 30 ms for whoever was given up.
    assert_eq!(answers, [(2, 15), (1, 30), (3, 50)]);
}

#[test]
fn a_saturated_lock_lets_through_as_many_as_it_has_time_for() {
    let command = Command { cpu: exponential(0.025), segment_faults: AmountLaw::Fixed(1.0), ..Command::without_work("edit") };
    let mut made = machine(8, Discipline::FirstCome, command, Population::Closed(40), AmountLaw::ZERO);
    made.supervisor.segment_fault_ns = 15 * MS;
    made.supervisor.locks = vec![(LockedPath::SegmentFault, "list".to_owned())];
    let mut engine = with_users(&made, 40);
    let before = engine.meters();
    (1..=40).for_each(|user| engine.begin(user, 0, &[]));
    let end = engine.now() + 100 * SECOND;
    while let Some(EngineEvent::Ready { user, .. }) = engine.advance(Some(end)) {
        engine.begin(user, 0, &[]);
    }
    let spent = |category: Category| engine.meters().total_ns(category) - before.total_ns(category);
    let path = spent(Category::SegmentFault) as f64 / (100 * SECOND) as f64;
    assert!((0.999..=1.0).contains(&path), "the path is taken for {path} of the time");
    let work = spent(Category::User) as f64 / spent(Category::SegmentFault) as f64;
    assert!((work / (25.0 / 15.0) - 1.0).abs() < 0.05, "{work} of work to a fault");
}

/// The share of time in which a lock of `hold` is free, for processors that work for exponential times of mean `work` between.
///
/// The exact answer of M/G/1//N with a constant service: Takács, "Introduction to the Theory of Queues", 1962.
fn free_share(processors: u32, work: f64, hold: f64) -> f64 {
    let (mut choices, mut product, mut busy) = (1.0, 1.0, 0.0);
    for k in 0..processors {
        if k > 0 {
            choices *= f64::from(processors - k) / f64::from(k);
            let transform = (-f64::from(k) * hold / work).exp();
            product *= transform / (1.0 - transform);
        }
        busy += hold * choices / product;
    }
    let idle = work / f64::from(processors);
    idle / (idle + busy)
}

#[test]
fn a_locked_ready_list_has_the_exact_throughput_of_its_queue() {
    for processors in [1, 2, 4, 6] {
        let command = Command { cpu: exponential(0.025), ..Command::without_work("edit") };
        let users = 5 * processors;
        let mut made = machine(processors, Discipline::FirstCome, command, Population::Closed(users), AmountLaw::ZERO);
        made.supervisor.getwork_ns = 15 * MS;
        made.supervisor.locks = vec![(LockedPath::Getwork, "ready list".to_owned())];
        let mut engine = with_users(&made, users);
        let before = engine.meters();
        (1..=users).for_each(|user| engine.begin(user, 0, &[]));
        let end = engine.now() + 1_000 * SECOND;
        while let Some(EngineEvent::Ready { user, .. }) = engine.advance(Some(end)) {
            engine.begin(user, 0, &[]);
        }
        let held_ns = engine.meters().total_ns(Category::Getwork) - before.total_ns(Category::Getwork);
        let held = held_ns as f64 / (1_000 * SECOND) as f64;
        let exact = 1.0 - free_share(processors, 0.025, 0.015);
        assert!((held / exact - 1.0).abs() < 0.01, "{processors} processors: held for {held} of the time, exactly {exact}");
    }
}

#[test]
fn a_machine_that_shares_its_processors_has_no_locks() {
    let mut made = faulting(2, &[(LockedPath::SegmentFault, "list")]);
    made.processors.discipline = Discipline::Sharing;
    let refused = Engine::new(&Arc::new(made), 1).expect_err("no processor waits").to_string();
    assert!(refused.contains("leave `locks` out, or set processors.discipline=round-robin"), "{refused}");
}

/// The meters after each of three users has typed three commands.
fn meters_of(made: &Machine) -> Result<MachineMeters, TestCaseError> {
    let reject = |error: String| TestCaseError::reject(error);
    let mut engine = Engine::new(&Arc::new(made.clone()), 1).map_err(|error| reject(error.to_string()))?;
    for user in 1..=3 {
        engine.attach(user).map_err(|error| reject(format!("{error:?}")))?;
        prop_assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })), "user {user} has a process");
    }
    let mut left = [[1, 3, 0], [0, 1, 0], [1, 0, 0]].map(|row| row.into_iter());
    for user in 1..=3 {
        engine.begin(user, left[user as usize - 1].next().expect("a command"), &[]);
    }
    while let Some(event) = engine.advance(None) {
        let EngineEvent::Ready { user, .. } = event else { unreachable!("all users are there") };
        if let Some(command) = left[user as usize - 1].next() {
            engine.begin(user, command, &[]);
        }
    }
    Ok(engine.meters())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_global_rejects: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn a_single_processor_never_waits_for_a_lock(made in machines()) {
        let mut free = made.clone();
        free.processors.count = 1;
        free.supervisor.locks.clear();
        let mut locked = free.clone();
        locked.supervisor.locks = LockedPath::ALL.iter().map(|(_, path)| (*path, "one".to_owned())).collect();
        if locked.processors.discipline != Discipline::Sharing {
            prop_assert_eq!(meters_of(&free)?, meters_of(&locked)?);
        }
    }

    #[test]
    fn a_lock_is_held_by_one_processor_at_a_time(made in machines()) {
        let meters = meters_of(&made)?;
        for (_, name) in &made.supervisor.locks {
            let is_locked = |path| made.supervisor.locks.contains(&(path, name.clone()));
            let paths = LockedPath::ALL.iter().zip(PATH_CATEGORIES).filter(|((_, path), _)| is_locked(*path));
            let held_ns: u64 = paths.map(|(_, category)| meters.total_ns(category)).sum();
            prop_assert!(held_ns <= meters.at, "{name} is held for {held_ns} of {} ns", meters.at);
        }
        if made.supervisor.locks.is_empty() {
            prop_assert_eq!(meters.total_ns(Category::LockWait), 0);
        }
    }
}
