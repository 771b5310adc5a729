//! Each discipline on the whole machine: the end of each interaction, to the nanosecond, worked by hand or on a simple processor.

use std::sync::Arc;

use crate::discipline::bare::{attach_users, machine, run_interactions};
use crate::discipline::{MS, PlannedInteraction, interaction, schedule};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::disciplines::CandidateFacts;
use loadgo_machine::disciplines::ctss::Ctss;
use loadgo_machine::disciplines::first_come::FirstCome;
use loadgo_machine::disciplines::linux::Linux;
use loadgo_machine::disciplines::multics::Multics;
use loadgo_machine::disciplines::priority::Priority;
use loadgo_machine::disciplines::round_robin::RoundRobin;
use loadgo_machine::disciplines::tenex::Tenex;
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::meters::Category;
use loadgo_machine::spec::{Discipline, EligibilityLimit, Route, RouteStage, Store, TenexQueue};
use proptest::prelude::*;

/// Length of a quantum in these tests.
const Q: u64 = 100 * MS;

/// The end of each interaction on a bare machine, in quanta.
fn done_in_quanta(discipline: Discipline, interactions: &[PlannedInteraction]) -> Vec<f64> {
    let done = run_interactions(machine(discipline, interactions), interactions).0;
    done.into_iter().map(|at| at as f64 / Q as f64).collect()
}

fn work(at: f64, work: f64) -> PlannedInteraction {
    with(at, work, CandidateFacts::default())
}

fn with(at: f64, work: f64, facts: CandidateFacts) -> PlannedInteraction {
    interaction((at * Q as f64) as u64, (work * Q as f64) as u64, facts)
}

#[test]
fn first_come_runs_each_to_its_end() {
    let three = [work(0.0, 3.0), work(0.5, 2.0), work(1.0, 0.5)];
    assert_eq!(done_in_quanta(Discipline::FirstCome, &three), [3.0, 5.0, 5.5]);
}

#[test]
fn round_robin_gives_a_quantum_in_turn() {
    // 0: 0-1, 1: 1-2, 0: 2-3, 2 (which came at 1.25): 3-3.5, 1: 3.5-4, 0: 4-4.5
    let three = [work(0.0, 2.5), work(0.5, 1.5), work(1.25, 0.5)];
    assert_eq!(done_in_quanta(Discipline::RoundRobin { quantum_ns: Q, switch_ns: 0, dispatch_ns: 0 }, &three), [4.5, 4.0, 3.5]);
}

#[test]
fn a_switch_is_lost_at_each_dispatch_of_another_process() {
    // 0: 0.1-1.1, 1: 1.2-2.2, 0: 2.3-3.3, 1: 3.4-3.9, 0: 4-4.5 and, alone, goes on to 5.5 without a switch
    let two = [work(0.0, 4.0), work(0.5, 1.5)];
    let machine = machine(Discipline::RoundRobin { quantum_ns: Q, switch_ns: Q / 10, dispatch_ns: 0 }, &two);
    let (done, meters) = run_interactions(machine, &two);
    assert_eq!(done, [60 * Q / 10, 39 * Q / 10]);
    assert_eq!(meters.total_ns(Category::Getwork), 7 * Q / 10, "two of them when the processes were made");
    assert_eq!(meters.total_ns(Category::User), 55 * Q / 10);
}

#[test]
fn a_dispatch_costs_also_where_the_process_had_the_processor_last() {
    // 0: 0.1-1.1, 1: 1.2-2.2, 0: 2.3-3.3, 1: 3.4-3.9, 0: 4-5 and, alone, 5.1-6.1
    let two = [work(0.0, 4.0), work(0.5, 1.5)];
    let machine = machine(Discipline::RoundRobin { quantum_ns: Q, switch_ns: 0, dispatch_ns: Q / 10 }, &two);
    let (done, meters) = run_interactions(machine, &two);
    assert_eq!(done, [61 * Q / 10, 39 * Q / 10]);
    assert_eq!(meters.total_ns(Category::Getwork), 8 * Q / 10, "two of them when the processes were made");
    assert_eq!(meters.total_ns(Category::User), 55 * Q / 10);
}

#[test]
fn a_better_priority_takes_the_processor_and_the_preempted_process_goes_on_in_its_place() {
    let number = |priority| CandidateFacts { priority, ..CandidateFacts::default() };
    let three = [with(0.0, 3.0, number(5)), with(0.5, 2.0, number(4)), with(1.0, 1.0, number(0))];
    // 0: 0-0.5, 1: 0.5-1, 2: 1-2, 1: 2-3.5, 0: 3.5-6
    let (done, meters) = run_interactions(machine(Discipline::Priority { preemptive: true }, &three), &three);
    assert_eq!(done, [6 * Q, 35 * Q / 10, 2 * Q]);
    assert_eq!((meters.preemptions, meters.dispatches), (2, 3 + 5), "three to make the processes");
    assert_eq!(done_in_quanta(Discipline::Priority { preemptive: false }, &three), [3.0, 6.0, 4.0]);
}

#[test]
fn ctss_puts_small_programs_before_large_ones() {
    let discipline = Discipline::Ctss { quantum_ns: Q, words_per_quantum: 120, levels: 9, rise_ns: 0 };
    let words = |image_words| CandidateFacts { image_words, ..CandidateFacts::default() };
    // 0 (level 2): 0-1, 2 (level 0) preempts: 1-1.5, 0 has 3 of its 4 quanta left: 1.5-4.5, 1 (level 2): 4.5-5.5, 0 (level 3):
    // 5.5-6.5
    let three = [with(0.0, 5.0, words(360)), with(0.5, 1.0, words(360)), with(1.0, 0.5, words(0))];
    assert_eq!(done_in_quanta(discipline, &three), [6.5, 5.5, 1.5]);
}

#[test]
fn multics_makes_one_eligible_by_ti_and_takes_it_back_after_a_quantum() {
    let discipline = Discipline::Multics { first_ns: Q, last_ns: Q, most_ns: 8 * Q };
    let three = [work(0.0, 2.0), work(0.25, 1.0), work(0.5, 0.5)];
    let mut one_eligible = machine(discipline, &three);
    one_eligible.limit = EligibilityLimit::Fixed(1);
    // 0: 0-1, 1: 1-2, 2: 2-2.5, 0 with ti = t: 2.5-3.5
    assert_eq!(run_interactions(one_eligible, &three).0, [35 * Q / 10, 2 * Q, 25 * Q / 10]);
}

#[test]
fn multics_lets_an_interaction_take_the_processor() {
    let discipline = Discipline::Multics { first_ns: Q, last_ns: Q, most_ns: 8 * Q };
    // 0 has ti = t from 1 on; 1 takes the processor at 1.5; 2, of the same ti as 1, comes behind it.
    let three = [work(0.0, 2.0), work(1.5, 0.5), work(1.75, 0.5)];
    let (done, meters) = run_interactions(machine(discipline, &three), &three);
    assert_eq!(done, [3 * Q, 2 * Q, 25 * Q / 10]);
    assert_eq!(meters.preemptions, 1);
}

#[test]
fn tenex_puts_a_new_process_before_one_that_computes() {
    // 0 is on queue 1 from 1 on with 3000; 1 comes at 1.5 with 1000 and preempts; 2 at 1.75, with 1000 against 975, waits.
    let three = [work(0.0, 3.0), work(1.5, 0.5), work(1.75, 0.5)];
    assert_eq!(done_in_quanta(Discipline::Tenex { queues: queues(), credit_ns: Q }, &three), [4.0, 2.0, 2.5]);
}

#[test]
fn tenex_gives_credit_for_the_time_between_two_interactions() {
    // 0 computes for 1 s and ends on queue 2 with 1.5 s left there; then 1 computes, and comes to queue 3 after 2.5 s.
    let two = [work(0.0, 10.0), work(5.0, 100.0)];
    let machine = machine(Discipline::Tenex { queues: queues(), credit_ns: Q }, &two);
    let mut engine = Engine::new(&Arc::new(machine), 1).expect("the machine works");
    attach_users(&mut engine, 2);
    engine.begin(1, 0, &[]);
    let Some(EngineEvent::Ready { user: 1, at, .. }) = engine.advance(None) else { panic!("0 is done") };
    assert_eq!(at, 10 * Q, "alone");
    engine.begin(2, 1, &[]);
    assert!(engine.advance(Some(50 * Q)).is_none());
    engine.begin(1, 0, &[]);
    // 0 comes after 4 s with a credit of 4 s / 2: 0.5 + 1.5 - 2 s are on the first queue. It has 1000, then 3000, then 8000,
    // against 1's 10500 - 2000/8, and is done without a break; from where it had been it would have had to wait.
    assert_eq!(
        engine.advance(None).map(|event| matches!(event, EngineEvent::Ready { user: 1, at, .. } if at == 60 * Q)),
        Some(true)
    );
}

#[test]
fn linux_shares_by_weight_and_by_the_earliest_deadline() {
    let nice = |nice| CandidateFacts { nice, ..CandidateFacts::default() };
    // 0: 0-1, 1 (weight 335): 1-2, 0: 2-5, 1: 5-6, 0: 6-7, as in the list's own case.
    let two = [with(0.0, 5.0, nice(0)), with(0.0, 2.0, nice(5))];
    assert_eq!(done_in_quanta(Discipline::Linux { slice_ns: Q, tick_ns: 0, switch_ns: 0, packs: false }, &two), [7.0, 6.0]);
    // And one of nice -5, which preempts 0 at 0.5 by its deadline.
    let three = [two[0], two[1], with(0.5, 0.25, nice(-5))];
    let discipline = Discipline::Linux { slice_ns: Q, tick_ns: 0, switch_ns: 0, packs: false };
    let mut list = Linux::new(Q);
    let expected = done(&schedule(&mut list, &three, usize::MAX), 3);
    assert_eq!(expected[2], 3 * Q / 4);
    assert_eq!(run_interactions(machine(discipline, &three), &three).0, expected);
}

#[test]
fn sharing_gives_each_an_equal_part() {
    // 0 alone until 1, then halves until 1 has its 1 at 3, then 0 has 2 left less the half of 2: done at 4.
    let two = [work(0.0, 3.0), work(1.0, 1.0)];
    let done = done_in_quanta(Discipline::Sharing, &two);
    assert!(done.iter().zip([4.0, 3.0]).all(|(done, exact)| (done - exact).abs() < 1e-6), "{done:?}");
}

#[test]
fn a_quantum_is_time_on_the_processor_whatever_its_speed() {
    // At twice the speed, twice the work goes into the same turns.
    let three = [work(0.0, 5.0), work(0.5, 3.0), work(1.25, 1.0)];
    let mut fast = machine(Discipline::RoundRobin { quantum_ns: Q, switch_ns: 0, dispatch_ns: 0 }, &three);
    fast.processors.speed = 2.0;
    assert_eq!(run_interactions(fast, &three).0, [45 * Q / 10, 4 * Q, 35 * Q / 10]);
}

#[test]
fn a_process_that_waits_for_a_device_keeps_its_eligibility_and_its_quantum() {
    // One eligible: 0 works 0.5, waits 1, works 0.75; its quantum ends at 2 (it has had 1); then 1, which came at 0.25 and works
    // 0.5.
    let two = [work(0.0, 1.25), work(0.25, 0.5)];
    let mut one_eligible = machine(Discipline::Multics { first_ns: Q, last_ns: Q, most_ns: 8 * Q }, &two);
    one_eligible.limit = EligibilityLimit::Fixed(1);
    let kind = StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(0.0), servers: u32::MAX });
    one_eligible.stores = vec![Store { name: "io".to_owned(), kind, interrupts: true }];
    let stage =
        |store, quanta: f64, then| RouteStage { store, service: AmountLaw::Fixed(quanta * Q as f64), then: vec![(1.0, then)] };
    let stages = vec![stage(None, 0.5, Some(1)), stage(Some(0), 1.0, Some(2)), stage(None, 0.75, None)];
    one_eligible.commands[0].route = Some(Route { stages });
    let (done, meters) = run_interactions(one_eligible, &two);
    assert_eq!(done, [275 * Q / 100, 25 * Q / 10]);
    assert_eq!(meters.total_ns(Category::IdleNotEligible), Q, "1 asks while the processor is idle");
}

#[test]
fn a_user_who_gives_up_leaves_the_processor_to_the_others() {
    for discipline in disciplines() {
        let two = [work(0.0, 50.0), work(0.25, 1.0)];
        let mut engine = Engine::new(&Arc::new(machine(discipline.clone(), &two)), 1).expect("the machine works");
        attach_users(&mut engine, 2);
        engine.begin(1, 0, &[]);
        assert!(engine.advance(Some(Q / 4)).is_none());
        engine.begin(2, 1, &[]);
        assert!(engine.advance(Some(Q / 2)).is_none());
        engine.abandon(1);
        let event: Vec<_> = std::iter::from_fn(|| engine.advance(None)).collect();
        let status =
            |user| event.iter().find_map(|t| matches!(t, EngineEvent::Ready { user: u, .. } if *u == user).then_some(*t));
        assert!(
            matches!(status(1), Some(EngineEvent::Ready { answer, at, .. }) if answer.exit_status == Some(130) && at <= 2 * Q),
            "{discipline:?}"
        );
        assert!(
            matches!(status(2), Some(EngineEvent::Ready { answer, at, .. }) if answer.exit_status.is_none() && at <= 2 * Q),
            "{discipline:?}"
        );
        // And again: nothing of the first is left in the lists.
        engine.begin(1, 1, &[]);
        assert!(matches!(engine.advance(None), Some(EngineEvent::Ready { user: 1, .. })), "{discipline:?}");
        assert_eq!(
            (engine.meters().ready.now, engine.meters().asking.now, engine.meters().eligible.now),
            (0, 0, 0),
            "{discipline:?}"
        );
    }
}

fn queues() -> Vec<TenexQueue> {
    let figures = [(100, 1000.0), (400, 3000.0), (2000, 8000.0), (2000, 10500.0), (10000, 16750.0)];
    figures.into_iter().zip(0..).map(|((ms, base), shift)| TenexQueue { quantum_ns: ms * MS, base, shift }).collect()
}

/// Every discipline that has a list.
fn disciplines() -> [Discipline; 8] {
    [
        Discipline::FirstCome,
        Discipline::RoundRobin { quantum_ns: Q, switch_ns: 0, dispatch_ns: 0 },
        Discipline::Priority { preemptive: false },
        Discipline::Priority { preemptive: true },
        Discipline::Ctss { quantum_ns: Q, words_per_quantum: 120, levels: 6, rise_ns: 0 },
        Discipline::Multics { first_ns: Q, last_ns: 2 * Q, most_ns: 8 * Q },
        Discipline::Tenex { queues: queues(), credit_ns: Q },
        Discipline::Linux { slice_ns: Q, tick_ns: 0, switch_ns: 0, packs: false },
    ]
}

/// The turns on the simple processor, as process, beginning and end.
fn turns(discipline: &Discipline, interactions: &[PlannedInteraction], limit: usize) -> Vec<(u32, u64, u64)> {
    match discipline {
        Discipline::FirstCome => schedule(&mut FirstCome::default(), interactions, limit),
        Discipline::RoundRobin { quantum_ns, .. } => schedule(&mut RoundRobin::new(*quantum_ns), interactions, limit),
        Discipline::Priority { preemptive } => schedule(&mut Priority::new(*preemptive), interactions, limit),
        Discipline::Ctss { quantum_ns, words_per_quantum, levels, rise_ns } => {
            schedule(&mut Ctss::new(*quantum_ns, *words_per_quantum, *levels).rising(*rise_ns), interactions, limit)
        }
        Discipline::Multics { first_ns, last_ns, most_ns } => {
            schedule(&mut Multics::new(*first_ns, *last_ns, *most_ns), interactions, limit)
        }
        Discipline::Tenex { queues, credit_ns } => schedule(&mut Tenex::new(queues, *credit_ns), interactions, limit),
        Discipline::Linux { slice_ns, .. } => schedule(&mut Linux::new(*slice_ns), interactions, limit),
        Discipline::Sharing => unreachable!("sharing has no list"),
    }
}

fn done(turns: &[(u32, u64, u64)], pids: usize) -> Vec<u64> {
    let mut done = vec![0; pids];
    turns.iter().for_each(|(pid, _, to)| done[*pid as usize] = *to);
    done
}

/// Interactions at times that do not coincide with the ends of turns.
fn random_interactions() -> impl Strategy<Value = Vec<PlannedInteraction>> {
    let one = (0..3_000_000_007u64, 1..2_000_000_011u64, 0..2000u64, 0..4u32, -20..20i32);
    let one = one.prop_map(|(at, work, image_words, priority, nice)| {
        interaction(at, work, CandidateFacts { image_words, priority, nice, ..CandidateFacts::default() })
    });
    prop::collection::vec(one, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_runs_the_same_turns_as_a_simple_processor(interactions in random_interactions(), limit in 1..5u32) {
        for discipline in disciplines() {
            let turns = turns(&discipline, &interactions, limit as usize);
            let mut limited = machine(discipline.clone(), &interactions);
            limited.limit = EligibilityLimit::Fixed(limit);
            let (done_at, meters) = run_interactions(limited, &interactions);
            prop_assert_eq!(done_at, done(&turns, interactions.len()), "{:?} {:?}", discipline, turns);
            prop_assert_eq!(meters.total_ns(Category::User), interactions.iter().map(|i| i.work).sum::<u64>(), "{:?}", discipline);
        }
    }
}
