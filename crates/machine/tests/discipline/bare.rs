//! A bare machine, on which nothing takes time but the work, and users who give it one interaction each.

use std::sync::Arc;

use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::meters::MachineMeters;
use loadgo_machine::spec::{Command, Discipline, EligibilityLimit, Machine, ProcessorSpec, Residence, Supervisor};

use super::Interaction;

/// A machine on which nothing takes time but the work itself; command n is the n-th interaction's.
pub fn machine(discipline: Discipline, interactions: &[Interaction]) -> Machine {
    let processors = ProcessorSpec { count: 1, speed: 1.0, instructions_per_second: None, discipline };
    Machine {
        title: "A bare machine".to_owned(),
        source: "made up".to_owned(),
        processors,
        residence: Residence::Everything,
        limit: EligibilityLimit::None,
        stores: Vec::new(),
        supervisor: Supervisor::default(),
        tariff: Vec::new(),
        paging_wait_hour: 0.0,
        commands: interactions.iter().map(command).collect(),
        any_command: None,
        load: Vec::new(),
        fit: None,
    }
}

fn command(interaction: &Interaction) -> Command {
    Command {
        cpu: AmountLaw::Fixed(interaction.work as f64),
        image_words: AmountLaw::Fixed(interaction.facts.image_words as f64),
        priority: interaction.facts.priority,
        nice: interaction.facts.nice,
        ..Command::without_work("")
    }
}

/// When each interaction is done, after the moment at which all users are there, and the meters then. User n + 1 gives command n.
pub fn live(machine: Machine, interactions: &[Interaction]) -> (Vec<u64>, MachineMeters) {
    let mut engine = Engine::new(&Arc::new(machine), 1).expect("the machine works");
    come(&mut engine, interactions.len() as u32);
    let zero = engine.now();
    let mut to_come: Vec<u32> = (0..interactions.len() as u32).collect();
    to_come.sort_by_key(|user| interactions[*user as usize].at);
    let mut done = vec![0; interactions.len()];
    for user in to_come {
        let at = zero + interactions[user as usize].at;
        while let Some(told) = engine.advance(Some(at)) {
            note(&mut done, told, zero);
        }
        engine.begin(user + 1, user as usize, &[]);
    }
    while let Some(told) = engine.advance(None) {
        note(&mut done, told, zero);
    }
    (done, engine.meters())
}

/// Users 1 to `count` come, and have their processes.
pub fn come(engine: &mut Engine, count: u32) {
    for user in 1..=count {
        engine.attach(user).expect("there is room");
        assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })), "user {user} is there");
    }
}

fn note(done: &mut [u64], told: EngineEvent, zero: u64) {
    let EngineEvent::Ready { user, at, answer } = told else { panic!("nobody comes any more: {told:?}") };
    assert_eq!(answer.exit_status, None);
    done[user as usize - 1] = at - zero;
}
