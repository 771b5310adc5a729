//! Any machine that is not refused carries its users: nobody is lost, time goes on, and all of it is accounted for.

mod machine_models;

use std::sync::Arc;

use loadgo_core::machine::draw::Draw;
use loadgo_core::machine::engine::{Engine, Told};
use loadgo_core::machine::meters::{Category, Meters};
use loadgo_core::machine::spec::{
    Amount, Behind, Command, Discipline, Headway, Limit, Machine, Paging, Population, Replacement, Residence, Store, StoreKind,
    Supervisor, Swapping, SystemTable, TenexQueue, WhenTableFull,
};
use machine_models::{SECOND, at_processors, at_store, command, machine, server};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn disciplines() -> impl Strategy<Value = Discipline> {
    prop_oneof![
        Just(Discipline::FirstCome),
        Just(Discipline::Sharing),
        (1..200u64, 0..3u64).prop_map(|(q, s)| Discipline::RoundRobin { quantum_ns: q * MS, switch_ns: s * MS }),
        any::<bool>().prop_map(|preemptive| Discipline::Priority { preemptive }),
        (1..100u64).prop_map(|q| Discipline::Ctss { quantum_ns: q * MS, words_per_quantum: 500, levels: 5 }),
        (1..500u64).prop_map(|q| Discipline::Multics { first_ns: q * MS, last_ns: 2 * q * MS, most_ns: 8 * q * MS }),
        Just(Discipline::Tenex {
            queues: vec![
                TenexQueue { quantum_ns: 20 * MS, base: 1000.0, shift: 1 },
                TenexQueue { quantum_ns: 200 * MS, base: 3000.0, shift: 2 },
            ],
            credit_ns: 100 * MS,
        }),
        (1..50u64, 0..2u64).prop_map(|(q, s)| Discipline::Linux { slice_ns: q * MS, switch_ns: s * MS }),
    ]
}

fn residences() -> impl Strategy<Value = Residence> {
    let replacement = prop_oneof![Just(Replacement::Lru), Just(Replacement::Clock), Just(Replacement::Equal)];
    let paging = (20..120u32, replacement, 0.0..1.0f64, any::<bool>()).prop_map(|(frames, replacement, dirty, behind)| {
        Residence::Paging(Paging {
            frames,
            wired: 10,
            frame_words: 1024,
            replacement,
            headway: Headway::Linear { ns_per_page: 2e5 },
            dirty,
            store: 0,
            behind: behind.then_some(Behind { store: 1, pages: 150 }),
        })
    });
    let swapping = any::<bool>().prop_map(|onion_skin| {
        Residence::Swapping(Swapping { words: 20_000, store: 0, first: Some(1), conditions_words: 500, onion_skin })
    });
    prop_oneof![Just(Residence::Everything), paging, swapping]
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::None),
        (1..5u32).prop_map(Limit::Fixed),
        (1..5u32).prop_map(|most| Limit::WorkingSets { most }),
        (1..5u32).prop_map(|most| Limit::DeviceBusy { store: 0, target: 0.5, every_ns: SECOND / 10, most }),
    ]
}

fn supervisors() -> impl Strategy<Value = Supervisor> {
    (0..4u64, any::<bool>(), any::<bool>()).prop_map(|(ms, table, take)| Supervisor {
        page_fault: vec![("find".into(), ms * MS), ("write".into(), MS / 10)],
        segment_fault_ns: 2 * ms * MS,
        bound_fault_ns: ms * MS,
        device_interrupt_ns: ms * MS / 3,
        getwork_ns: ms * MS / 2,
        wall_crossing_ns: MS / 5,
        line_in_ns: ms * MS,
        line_out_ns: MS,
        process_creation_ns: 20 * MS,
        network_byte_ns: 120_000,
        network_message_ns: MS,
        message_bytes: 100,
        table: table.then_some(SystemTable {
            entries: 40,
            per_user: 15,
            full: if take { WhenTableFull::Take } else { WhenTableFull::Refuse },
        }),
    })
}

fn commands() -> Vec<Command> {
    let edit = Command {
        cpu: Draw::Exponential(5e7),
        pages: Draw::Uniform(5.0, 60.0),
        common: 0.3,
        image_words: Draw::Uniform(500.0, 9_000.0),
        segment_faults: Draw::Fixed(0.6),
        bound_faults: Draw::Fixed(1.0),
        wall_crossings: Draw::Geometric(3.0),
        lines_out: Draw::Uniform(0.0, 4.0),
        line_bytes: Draw::Fixed(40.0),
        line_cpu: Draw::Fixed(1e6),
        line_faults: Draw::Fixed(0.4),
        line_walls: Draw::Fixed(6.0),
        requests: vec![(1, Draw::Fixed(1.5))],
        priority: 2,
        nice: 5,
        exit_status: 3,
        ..command("edit")
    };
    let send = Command {
        cpu: Draw::Erlang(3, 2e7),
        network_bytes: Amount::Argument(1),
        network_byte_cpu: Draw::Fixed(1e4),
        processes: Draw::Fixed(1.0),
        image_words: Draw::Fixed(3_000.0),
        pages: Draw::Fixed(20.0),
        ..command("send")
    };
    let route = machine_models::routed(
        "route",
        vec![
            at_store(2, Draw::Exponential(1e7), &[(1.0, Some(1))]),
            at_processors(Draw::Exponential(2e7), &[(0.4, Some(0)), (0.1, Some(1)), (0.5, None)]),
        ],
    );
    vec![edit, send, route, command("nothing")]
}

prop_compose! {
    fn machines()(
        discipline in disciplines(), residence in residences(), limit in limits(), supervisor in supervisors(),
        count in 1..4u32, speed in 0.3..3.0f64,
    ) -> Machine {
        let drum = StoreKind::Drum { revolution_ns: 33 * MS, sectors: Some(18), words_per_second: None };
        let disk = StoreKind::Disk {
            seek: Draw::Uniform(1e7, 6e7), revolution_ns: 25 * MS, words_per_second: 1e5, units: 3, channels: 2,
        };
        let mut made = machine(count, discipline, command("none"), Population::Closed(1), Draw::Fixed(1e9));
        made.processors.speed = speed;
        made.stores = vec![
            Store { name: "drum".into(), kind: drum },
            Store { name: "disk".into(), kind: disk },
            server("io", 2),
        ];
        let swaps = matches!(residence, Residence::Swapping(_));
        made.processors.count = if swaps { 1 } else { count };
        Machine { residence, limit, supervisor, commands: commands(), load: Vec::new(), ..made }
    }
}

/// The meters of a machine on which nobody has a command in hand.
fn at_rest(engine: &Engine) -> Result<Meters, TestCaseError> {
    let meters = engine.meters();
    prop_assert_eq!((meters.active.now, meters.ready.now, meters.eligible.now, meters.asking.now), (0, 0, 0, 0));
    for processor in &meters.time_ns {
        prop_assert_eq!(processor.iter().sum::<u64>(), meters.at);
    }
    Ok(meters)
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

/// What users do to a machine, step by step; each byte is one deed. What was told, and the meters, as text.
fn drive(machine: &Arc<Machine>, seed: u64, deeds: &[u8]) -> Result<String, TestCaseError> {
    let mut engine = Engine::new(machine, seed).map_err(TestCaseError::reject)?;
    let mut users = [Is::Away; USERS];
    let mut story = String::new();
    let mut now = 0;
    let hear = |told: Told, users: &mut [Is; USERS], now: &mut u64, story: &mut String| -> Result<(), TestCaseError> {
        let (user, at) = match told {
            Told::Attached { user, at } | Told::Ready { user, at, .. } => (user as usize - 1, at),
        };
        prop_assert!(at >= *now, "time goes back: {at} after {now}");
        *now = at;
        match (told, users[user]) {
            (Told::Attached { .. }, Is::Coming) => {}
            (Told::Ready { answer, .. }, Is::GivingUp) => prop_assert_eq!(answer.exit_status, 130),
            (Told::Ready { answer, .. }, Is::Waiting) => prop_assert!(answer.exit_status != 130),
            (told, is) => prop_assert!(false, "{told:?} to a user who is {is:?}"),
        }
        users[user] = Is::Thinking;
        story.push_str(&format!("{told:?}\n"));
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
                if let Some(told) = engine.advance(Some(until)) {
                    hear(told, &mut users, &mut now, &mut story)?;
                } else {
                    prop_assert_eq!(engine.now(), until);
                }
            }
        }
    }
    for _ in 0..1_000 {
        let Some(told) = engine.advance(Some(3_600 * SECOND)) else { break };
        hear(told, &mut users, &mut now, &mut story)?;
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
        let story = drive(&machine, seed, &deeds)?;
        prop_assert_eq!(&story, &drive(&machine, seed, &deeds)?, "the same seed, the same bytes");
    }
}

#[test]
fn work_costs_and_waits_of_an_interaction_are_all_of_its_time() {
    let mut made = machine(1, Discipline::FirstCome, command("none"), Population::Closed(1), Draw::ZERO);
    made.commands = vec![Command {
        cpu: Draw::Fixed(1e9),
        lines_out: Draw::Fixed(2.0),
        line_bytes: Draw::Fixed(80.0),
        line_walls: Draw::Fixed(6.0),
        requests: vec![(0, Draw::Fixed(3.0))],
        segment_faults: Draw::Fixed(2.0),
        ..command("print")
    }];
    made.stores = vec![Store { name: "disk".into(), kind: StoreKind::Server { service: Draw::Fixed(5e7), servers: 1 } }];
    made.supervisor = Supervisor {
        segment_fault_ns: 10 * MS,
        wall_crossing_ns: MS,
        line_in_ns: 3 * MS,
        line_out_ns: 4 * MS,
        process_creation_ns: 100 * MS,
        ..Supervisor::default()
    };
    made.processors.speed = 2.0;
    let mut engine = Engine::new(&Arc::new(made), 1).unwrap();
    engine.attach(1).unwrap();
    assert_eq!(engine.advance(None), Some(Told::Attached { user: 1, at: 50 * MS }));
    engine.begin(1, 0, &[]);
    let Some(Told::Ready { at, answer, .. }) = engine.advance(None) else { panic!("no answer") };
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
