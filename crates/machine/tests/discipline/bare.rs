//! A bare machine, on which only the work takes time, and users who each give it one interaction.

use std::sync::Arc;

use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::meters::MachineMeters;
use loadgo_machine::spec::{Command, Discipline, EligibilityLimit, Machine, ProcessorSpec, Residence, Supervisor};

use super::PlannedInteraction;

/// A machine on which only the work takes time. Command n belongs to interaction n.
pub fn machine(discipline: Discipline, interactions: &[PlannedInteraction]) -> Machine {
    let processors = ProcessorSpec { count: 1, speed: 1.0, instructions_per_second: None, discipline, cpu_when_busy: None };
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

fn command(interaction: &PlannedInteraction) -> Command {
    Command {
        cpu: AmountLaw::Fixed(interaction.work as f64),
        image_words: AmountLaw::Fixed(interaction.facts.image_words as f64),
        priority: interaction.facts.priority,
        nice: interaction.facts.nice,
        ..Command::without_work("")
    }
}

/// Runs the interactions: user n + 1 gives command n. Returns each one's end, counted from when all users are there, and the
/// meters.
pub fn run_interactions(machine: Machine, interactions: &[PlannedInteraction]) -> (Vec<u64>, MachineMeters) {
    let mut engine = Engine::new(&Arc::new(machine), 1).expect("the machine works");
    attach_users(&mut engine, interactions.len() as u32);
    let zero = engine.now();
    let mut arrivals: Vec<u32> = (0..interactions.len() as u32).collect();
    arrivals.sort_by_key(|user| interactions[*user as usize].at);
    let mut done = vec![0; interactions.len()];
    for user in arrivals {
        let at = zero + interactions[user as usize].at;
        while let Some(event) = engine.advance(Some(at)) {
            note(&mut done, event, zero);
        }
        engine.begin(user + 1, user as usize, &[]);
    }
    while let Some(event) = engine.advance(None) {
        note(&mut done, event, zero);
    }
    (done, engine.meters())
}

/// Lets users 1 to `count` log in, and waits until they have their processes.
pub fn attach_users(engine: &mut Engine, count: u32) {
    for user in 1..=count {
        engine.attach(user).expect("there is room");
        assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })), "user {user} is there");
    }
}

fn note(done: &mut [u64], event: EngineEvent, zero: u64) {
    let EngineEvent::Ready { user, at, answer } = event else { panic!("nobody comes any more: {event:?}") };
    assert_eq!(answer.exit_status, None);
    done[user as usize - 1] = at - zero;
}
