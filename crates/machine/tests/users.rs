//! Users of a machine: in two equal classes or in one, after users who have gone, and beside other users.

use std::sync::Arc;

use crate::models::{SECOND, machine, server};
use crate::working_machine::machines;
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{CommandResult, Engine, EngineEvent};
use loadgo_machine::meters::MachineMeters;
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{
    Command, Discipline, EligibilityLimit, HeadwaySpec, Machine, Paging, Population, Replacement, Residence, Swapping, UserClass,
};
use proptest::prelude::*;

/// Ends a run after this number of interactions.
struct Countdown(usize);

impl InteractionSink for Countdown {
    fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
        self.0 -= 1;
        self.0 > 0
    }
}

/// Demand paging with `frames` frames and this replacement, from store 0.
fn paging(frames: u32, replacement: Replacement) -> Residence {
    Residence::Paging(Paging {
        frames,
        wired: 10,
        frame_words: 1024,
        replacement,
        headway: HeadwaySpec::Linear { ns_per_page: 1e6 },
        dirty: 0.0,
        store: 0,
        behind: None,
    })
}

/// A machine of an open load: each user does one second of work with 20 pages and 5000 words, and leaves.
fn visited() -> Machine {
    let edit = Command {
        cpu: AmountLaw::Fixed(1e9),
        pages: AmountLaw::Fixed(20.0),
        common: 0.5,
        image_words: AmountLaw::Fixed(5_000.0),
        ..Command::without_work("edit")
    };
    let made = machine(1, Discipline::FirstCome, edit, Population::Open(0.01), AmountLaw::ZERO);
    Machine { stores: vec![server("drum", 1), server("disk", 1)], ..made }
}

#[test]
fn a_new_user_finds_no_pages_of_users_who_have_gone() {
    let made = Machine { residence: paging(1_000, Replacement::Lru), ..visited() };
    let meters = simulate::run(&Arc::new(made), 1, &mut Countdown(300)).unwrap();
    // A user who is still on the machine at the end has missed some pages already.
    let (missed, done) = (meters.faults[0].count, 20 * meters.interactions);
    assert!((done..done + 20).contains(&missed), "{missed} pages missed in {} interactions", meters.interactions);
}

#[test]
fn a_new_users_program_is_brought_from_the_first_store() {
    let swapping = Swapping { words: 20_000, store: 0, first: Some(1), conditions_words: 0, onion_skin: true };
    let made = Machine { residence: Residence::Swapping(swapping), ..visited() };
    let meters = simulate::run(&Arc::new(made), 1, &mut Countdown(300)).unwrap();
    assert!((300..303).contains(&meters.stores[1].requests), "{} programs brought", meters.stores[1].requests);
}

/// Twenty answers to user 1, while user 2 types `others` commands. Each has a processor and an equal share of memory.
fn answers(share: u32, others: usize) -> Vec<CommandResult> {
    let edit = Command { cpu: AmountLaw::Exponential(2e9), pages: AmountLaw::Fixed(60.0), ..Command::without_work("edit") };
    let mut made = machine(2, Discipline::FirstCome, edit, Population::Closed(2), AmountLaw::ZERO);
    made.stores = vec![server("drum", u32::MAX)];
    made.stores[0].kind = StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(1e7), servers: u32::MAX });
    made.residence = paging(10 + 2 * share, Replacement::Equal);
    made.limit = EligibilityLimit::Fixed(2);
    let mut engine = Engine::new(&Arc::new(made), 3).unwrap();
    let (mut mine, mut others) = (Vec::new(), others);
    engine.attach(1).unwrap();
    engine.attach(2).unwrap();
    while let Some(event) = engine.advance(None) {
        let user = match event {
            EngineEvent::Attached { user, .. } => user,
            EngineEvent::Ready { user, answer, .. } => {
                mine.extend((user == 1).then_some(answer));
                user
            }
        };
        if user == 1 && mine.len() < 20 {
            engine.begin(1, 0, &[]);
        } else if user == 2 && others > 0 {
            others -= 1;
            engine.begin(2, 0, &[]);
        }
    }
    mine
}

#[test]
fn page_faults_of_a_user_do_not_depend_on_another_users_commands() {
    let alone = answers(30, 0);
    assert!(alone.iter().map(|answer| answer.usage.faults_major.unwrap()).sum::<u64>() > 500);
    assert_eq!(alone, answers(30, 7));
}

#[test]
fn with_more_memory_no_interaction_misses_more_pages() {
    let faults = |share| answers(share, 7).iter().map(|answer| answer.usage.faults_major.unwrap()).collect::<Vec<_>>();
    let (much, little) = (faults(33), faults(30));
    let worse = much.iter().zip(&little).filter(|(much, little)| much > little).count();
    assert_eq!(worse, 0, "{much:?} with a tenth more memory, {little:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn two_classes_of_equal_users_are_one_class(
        made in machines(), seed in any::<u64>(), first in 1..5u32, second in 1..5u32, commands in prop::collection::vec(0..4usize, 1..4),
    ) {
        let class = |users| UserClass {
            name: format!("{users} users"),
            population: Population::Closed(users),
            think: AmountLaw::Exponential(SECOND as f64),
            commands: commands.clone(),
        };
        let run = |load| -> Result<MachineMeters, TestCaseError> {
            let made = Machine { load, ..made.clone() };
            simulate::run(&Arc::new(made), seed, &mut Countdown(100)).map_err(|error| TestCaseError::reject(error.to_string()))
        };
        let merged = run(vec![class(first + second)])?;
        prop_assert_eq!(merged, run(vec![class(first), class(second)])?);
    }
}
