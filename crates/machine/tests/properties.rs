//! On any machine that is not refused, every user is answered, time goes on, and all of it is accounted for.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::models::{SECOND, machine};
use crate::working_machine::machines;
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::limits::{UserLimit, UserLimits};
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::spec::{Command, Discipline, Machine, Population, Replacement, Residence, Store, Supervisor};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Returns the meters after checking that no command is under way and that all time is accounted for.
fn at_rest(engine: &Engine) -> Result<MachineMeters, TestCaseError> {
    let meters = engine.meters();
    prop_assert_eq!((meters.active.now, meters.ready.now, meters.eligible.now, meters.asking.now), (0, 0, 0, 0));
    for processor in &meters.time_ns {
        prop_assert_eq!(processor.iter().sum::<u64>(), meters.at);
    }
    Ok(meters)
}

/// Checks that every frame is the supervisor's, a process's, or free. Memory in equal shares is not checked.
fn pages_are_conserved(engine: &Engine, machine: &Machine) -> Result<(), TestCaseError> {
    let Residence::Paging(paging) = &machine.residence else { return Ok(()) };
    let pages = engine.pages().expect("a machine with demand paging has page frames");
    let held: u32 = pages.held.iter().sum();
    if paging.replacement != Replacement::Equal {
        prop_assert_eq!(held + pages.free + paging.wired, paging.frames, "{:?}", pages);
    }
    Ok(())
}

const USERS: usize = 5;
#[derive(Clone, Copy, PartialEq, Debug)]
enum Is {
    Away,
    Coming,
    Thinking,
    Waiting,
    GivingUp,
}

/// The engine of a machine whose users have these limits, and when the last of them has certainly been answered.
fn with_limits(machine: &Arc<Machine>, limits: Option<&UserLimits>, seed: u64) -> Result<(Engine, u64), TestCaseError> {
    let engine = match limits {
        None => Engine::new(machine, seed),
        Some(limits) => Engine::limited(machine, seed, limits.clone()),
    };
    let quotas = limits.is_some_and(|limits| limits.everybody.cpus.is_some_and(|cpus| cpus < 1.0));
    let patience = if quotas { 3_600_000 * SECOND } else { 3_600 * SECOND };
    Ok((engine.map_err(|error| TestCaseError::reject(error.to_string()))?, patience))
}

/// Lets users act on a machine, one action for each byte, and returns its events and meters as text.
fn drive(machine: &Arc<Machine>, limits: Option<&UserLimits>, seed: u64, deeds: &[u8]) -> Result<String, TestCaseError> {
    let (mut engine, patience) = with_limits(machine, limits, seed)?;
    let mut users = [Is::Away; USERS];
    let mut story = String::new();
    let mut now = 0;
    let hear = |event: EngineEvent, users: &mut [Is; USERS], now: &mut u64, story: &mut String| -> Result<(), TestCaseError> {
        let (user, at) = match event {
            EngineEvent::Attached { user, at } | EngineEvent::Ready { user, at, .. } => (user as usize - 1, at),
        };
        prop_assert!(at >= *now, "time goes back: {at} after {now}");
        *now = at;
        match (event, users[user]) {
            (EngineEvent::Attached { .. }, Is::Coming) => {}
            (EngineEvent::Ready { answer, .. }, Is::GivingUp) => prop_assert_eq!(answer.exit_status, Some(130)),
            (EngineEvent::Ready { answer, .. }, Is::Waiting) => prop_assert!(answer.exit_status != Some(130)),
            (event, is) => prop_assert!(false, "{event:?} to a user who is {is:?}"),
        }
        users[user] = Is::Thinking;
        story.push_str(&format!("{event:?}\n"));
        Ok(())
    };
    for deed in deeds {
        let user = *deed as usize % USERS;
        match (users[user], deed / 5 % 8) {
            (Is::Away, _) => users[user] = if engine.attach(user as u32 + 1).is_ok() { Is::Coming } else { Is::Away },
            (Is::Thinking, 0..7) => {
                engine.begin(user as u32 + 1, usize::from(deed / 40) % 4, &[250.0]);
                users[user] = Is::Waiting;
            }
            (Is::Waiting, 1) => {
                engine.abandon(user as u32 + 1);
                users[user] = Is::GivingUp;
            }
            (Is::Thinking | Is::Waiting | Is::Coming, 7) => {
                engine.detach(user as u32 + 1);
                users[user] = Is::Away;
            }
            _ => {
                let until = engine.now() + u64::from(*deed) * MS;
                if let Some(event) = engine.advance(Some(until)) {
                    hear(event, &mut users, &mut now, &mut story)?;
                    pages_are_conserved(&engine, machine)?;
                } else {
                    prop_assert_eq!(engine.now(), until);
                }
            }
        }
    }
    for _ in 0..1_000 {
        let Some(event) = engine.advance(Some(patience)) else { break };
        hear(event, &mut users, &mut now, &mut story)?;
        pages_are_conserved(&engine, machine)?;
    }
    prop_assert!(users.iter().all(|is| matches!(is, Is::Away | Is::Thinking)), "somebody is lost: {users:?}");
    story.push_str(&format!("{:?}", at_rest(&engine)?));
    Ok(story)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_global_rejects: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn every_command_is_answered_and_all_time_accounted_for(
        machine in machines(), seed in any::<u64>(), deeds in prop::collection::vec(any::<u8>(), 1..120),
    ) {
        let machine = Arc::new(machine);
        let story = drive(&machine, None, seed, &deeds)?;
        prop_assert_eq!(&story, &drive(&machine, None, seed, &deeds)?, "the same seed, the same bytes");
    }

    #[test]
    fn limits_that_hold_nobody_change_nothing(
        machine in machines(), seed in any::<u64>(), deeds in prop::collection::vec(any::<u8>(), 1..120),
    ) {
        let machine = Arc::new(machine);
        let story = drive(&machine, None, seed, &deeds)?;
        prop_assert_eq!(&story, &drive(&machine, Some(&UserLimits::default()), seed, &deeds)?, "nobody has limits");
        let whole = UserLimits { everybody: UserLimit { cpus: Some(1.0), nice: None }, ..UserLimits::default() };
        if machine.commands.iter().all(|command| command.nice == 0) {
            prop_assert_eq!(&story, &drive(&machine, Some(&whole), seed, &deeds)?, "one process has one processor");
        }
    }

    #[test]
    fn under_quotas_every_command_is_answered_and_all_time_accounted_for(
        machine in machines(), seed in any::<u64>(), cpus in 0.02..1.2f64, own in 0.02..1.2f64,
        deeds in prop::collection::vec(any::<u8>(), 1..120),
    ) {
        let limit = |cpus| UserLimit { cpus: Some(cpus), nice: None };
        let limits = UserLimits { everybody: limit(cpus), single: BTreeMap::from([(2, limit(own))]) };
        let machine = Arc::new(machine);
        let story = drive(&machine, Some(&limits), seed, &deeds)?;
        prop_assert_eq!(&story, &drive(&machine, Some(&limits), seed, &deeds)?, "the same seed, the same bytes");
    }
}

#[test]
fn work_costs_and_waits_of_an_interaction_are_all_of_its_time() {
    let mut tested = machine(1, Discipline::FirstCome, Command::without_work("none"), Population::Closed(1), AmountLaw::ZERO);
    tested.commands = vec![Command {
        cpu: AmountLaw::Fixed(1e9),
        lines_out: AmountLaw::Fixed(2.0),
        line_bytes: AmountLaw::Fixed(80.0),
        line_walls: AmountLaw::Fixed(6.0),
        requests: vec![(0, AmountLaw::Fixed(3.0))],
        segment_faults: AmountLaw::Fixed(2.0),
        ..Command::without_work("print")
    }];
    tested.stores = vec![Store {
        name: "disk".into(),
        kind: StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(5e7), servers: 1 }),
        interrupts: true,
    }];
    tested.supervisor = Supervisor {
        segment_fault_ns: 10 * MS,
        wall_crossing_ns: MS,
        line_in_ns: 3 * MS,
        line_out_ns: 4 * MS,
        process_creation_ns: 100 * MS,
        ..Supervisor::default()
    };
    tested.processors.speed = 2.0;
    let mut engine = Engine::new(&Arc::new(tested), 1).unwrap();
    engine.attach(1).unwrap();
    assert_eq!(engine.advance(None), Some(EngineEvent::Attached { user: 1, at: 50 * MS }));
    engine.begin(1, 0, &[]);
    let Some(EngineEvent::Ready { at, answer, .. }) = engine.advance(None) else { panic!("no answer") };
    let system = (3 + 2 * 4 + 12 + 2 * 10) * MS / 2;
    assert_eq!(answer.usage.cpu_user_ns, Some(SECOND / 2));
    assert_eq!(answer.usage.cpu_system_ns, Some(system));
    assert_eq!(answer.usage.io_wait_ns, Some(150 * MS));
    assert_eq!((answer.bytes_out, at), (160, 50 * MS + SECOND / 2 + system + 150 * MS));
    let meters = engine.meters();
    assert_eq!(meters.total_ns(Category::WallCrossing), 6 * MS);
    assert_eq!(meters.total_ns(Category::IdleDiskWait), 150 * MS);
    assert_eq!(engine.advance(None), None);
}
