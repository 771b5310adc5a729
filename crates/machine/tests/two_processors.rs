//! Two processors with one ready list: which processes run, and which of two loses its processor.

use crate::discipline::bare::{machine, run_interactions};
use crate::discipline::{MS, PlannedInteraction, interaction};
use loadgo_machine::disciplines::CandidateFacts;
use loadgo_machine::meters::Category;
use loadgo_machine::spec::{Discipline, EligibilityLimit};

/// The span of one quantum in the cases.
const Q: u64 = 100 * MS;

fn work(at: f64, work: f64) -> PlannedInteraction {
    with(at, work, CandidateFacts::default())
}

fn with(at: f64, work: f64, facts: CandidateFacts) -> PlannedInteraction {
    interaction((at * Q as f64) as u64, (work * Q as f64) as u64, facts)
}

#[test]
fn two_processors_serve_one_list() {
    let three = [work(0.0, 3.0), work(0.0, 1.0), work(0.5, 1.0)];
    let mut first_come = machine(Discipline::FirstCome, &three);
    first_come.processors.count = 2;
    assert_eq!(run_interactions(first_come, &three).0, [3 * Q, Q, 2 * Q]);
}

#[test]
fn the_worst_of_two_that_run_is_the_one_that_loses_its_processor() {
    let number = |priority| CandidateFacts { priority, ..CandidateFacts::default() };
    // 2 comes at 0.5 and is better than both; 1, the worse, goes on after it.
    for (first, second) in [(3, 5), (5, 3)] {
        let three = [with(0.0, 2.0, number(first)), with(0.0, 2.0, number(second)), with(0.5, 1.0, number(0))];
        let mut two_processors = machine(Discipline::Priority { preemptive: true }, &three);
        two_processors.processors.count = 2;
        let (done, _) = run_interactions(two_processors, &three);
        assert_eq!(
            done,
            if first < second { [20 * Q / 10, 30 * Q / 10, 15 * Q / 10] } else { [30 * Q / 10, 20 * Q / 10, 15 * Q / 10] }
        );
    }
}

#[test]
fn a_processor_that_is_free_anyway_is_taken_from_nobody() {
    let number = |priority| CandidateFacts { priority, ..CandidateFacts::default() };
    // Two may be eligible. 2 asks from 0.5 on, and is admitted when 0 is done: it has 0's processor, and 1 goes on.
    let three = [with(0.0, 1.0, number(5)), with(0.0, 3.0, number(5)), with(0.5, 1.0, number(0))];
    let mut two_processors = machine(Discipline::Priority { preemptive: true }, &three);
    two_processors.processors.count = 2;
    two_processors.limit = EligibilityLimit::Fixed(2);
    let (done, meters) = run_interactions(two_processors, &three);
    assert_eq!((done, meters.preemptions), (vec![Q, 3 * Q, 2 * Q], 0));
}

#[test]
fn who_is_alone_stays_on_its_processor() {
    let one = [work(0.0, 3.0)];
    let mut two_processors = machine(Discipline::Multics { first_ns: Q, last_ns: Q, most_ns: 8 * Q }, &one);
    two_processors.processors.count = 2;
    two_processors.supervisor.getwork_ns = Q / 10;
    let (done, meters) = run_interactions(two_processors, &one);
    assert_eq!(done, [3 * Q], "its process was made there, so nothing is to be switched");
    assert_eq!(meters.total_ns(Category::Getwork), Q / 10);
}
