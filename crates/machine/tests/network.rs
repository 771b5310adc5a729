//! Network messages that wait for the other host: worked cases to the nanosecond, and the scatter of whole transfers.

use std::sync::Arc;

use crate::models::{machine, server, work};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{CommandResult, Engine, EngineEvent};
use loadgo_machine::file::{parse, print};
use loadgo_machine::spec::{Amount, Command, Discipline, Machine, Population};

const MS: u64 = 1_000_000;

/// A machine on which `receive 250` moves messages of 100, 100 and 50 bytes, each byte after this wait, by so many servers.
fn receiving(wait_ns: AmountLaw, servers: u32) -> Machine {
    let receive = Command {
        network_bytes: Amount::Argument(1),
        network_wait: vec![(0, wait_ns)],
        ..work("receive", AmountLaw::Exponential(1e6))
    };
    let mut made = machine(1, Discipline::FirstCome, receive, Population::Closed(1), AmountLaw::ZERO);
    made.load.clear();
    made.stores = vec![server("remote", servers)];
    made.stores[0].interrupts = false;
    made.supervisor.message_bytes = 100;
    made
}

/// The responses and results of this number of `receive 250`, which each user types at the same instant.
fn responses(machine: &Machine, users: u32, rounds: usize) -> Vec<(u64, CommandResult)> {
    let mut engine = Engine::new(&Arc::new(machine.clone()), 7).unwrap();
    for user in 1..=users {
        engine.attach(user).unwrap();
    }
    for _ in 0..users {
        assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })));
    }
    let mut answers = Vec::new();
    for _ in 0..rounds {
        let began = engine.meters().at;
        (1..=users).for_each(|user| engine.begin(user, 0, &[250.0]));
        for _ in 0..users {
            let Some(EngineEvent::Ready { at, answer, .. }) = engine.advance(None) else { panic!("each user is answered") };
            answers.push((at - began, answer));
        }
    }
    answers
}

/// The machine with commands that take no processor time.
fn without_work(mut machine: Machine) -> Machine {
    machine.commands[0].cpu = AmountLaw::ZERO;
    machine
}

#[test]
fn each_message_but_the_first_waits_for_its_bytes() {
    // 10 µs a byte: nothing for the first 100 bytes, 1 ms for the next, and 0.5 ms for the last 50.
    let (response_ns, answer) = responses(&without_work(receiving(AmountLaw::Fixed(1e4), u32::MAX)), 1, 1)[0];
    assert_eq!((response_ns, answer.usage.io_wait_ns), (3 * MS / 2, Some(3 * MS / 2)));
    assert_eq!((answer.usage.cpu_user_ns, answer.usage.cpu_system_ns), (Some(0), Some(0)), "a wait is no processor time");
}

#[test]
fn waits_of_several_users_queue_only_where_the_other_host_has_few_servers() {
    let together = |servers| {
        let answers = responses(&without_work(receiving(AmountLaw::Fixed(1e4), servers)), 2, 1);
        answers.iter().map(|(response_ns, _)| *response_ns).collect::<Vec<_>>()
    };
    assert_eq!(together(u32::MAX), [3 * MS / 2, 3 * MS / 2]);
    // One server: 1 ms of the first user, 1 ms of the second, then 0.5 ms of each.
    assert_eq!(together(1), [5 * MS / 2, 3 * MS]);
}

#[test]
fn a_transfer_of_one_message_waits_for_nobody() {
    let mut made = without_work(receiving(AmountLaw::Fixed(1e4), u32::MAX));
    made.supervisor.message_bytes = 250;
    assert_eq!(responses(&made, 1, 1)[0].0, 0);
}

#[test]
fn the_scatter_of_the_other_host_is_that_of_whole_transfers() {
    // One draw for a transfer: its wait is as scattered as the law. A draw for each message would halve the variance.
    let rounds = 4_000;
    let answers = responses(&without_work(receiving(AmountLaw::Exponential(1e4), u32::MAX)), 1, rounds);
    let waits: Vec<f64> = answers.iter().map(|(response_ns, _)| *response_ns as f64 / 1.5e6).collect();
    let mean = waits.iter().sum::<f64>() / rounds as f64;
    let variance = waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>() / rounds as f64;
    // The standard error of the mean is 1/√4000, that of the variance √(8/4000): within four of each.
    assert!((mean - 1.0).abs() < 0.064 && (variance - 1.0).abs() < 0.18, "mean {mean}, variance {variance}");
}

#[test]
fn waits_shift_no_other_draw() {
    let work_of = |wait| {
        let answers = responses(&receiving(wait, u32::MAX), 1, 50);
        answers.iter().map(|(_, answer)| answer.usage.cpu_user_ns).collect::<Vec<_>>()
    };
    assert_eq!(work_of(AmountLaw::Exponential(1e4)), work_of(AmountLaw::ZERO));
}

#[test]
fn messages_wait_only_for_a_store_whose_time_can_be_given() {
    let text = "title = 't'\nsource = 's'\n[storage.drum]\nkind = 'drum'\nrevolution = '33ms'\nsectors = 8\n\
        [commands.receive]\ncpu = '1ms'\nnetwork_wait = { drum = '2ms' }";
    let made = parse(text, &mut |_| Err("nothing is like another".into())).unwrap();
    let Err(refusal) = Engine::new(&Arc::new(made.clone()), 1) else { panic!("a drum has times of its own") };
    let error = refusal.to_string();
    assert!(error.contains("kind = \"server\""), "{error}");
    assert_eq!(parse(&print(&made), &mut |_| Err("nothing is like another".into())).unwrap(), made);
    assert!(matches!(receiving(AmountLaw::ZERO, 1).stores[0].kind, StoreKind::Server(ServerSpec { .. })));
}
