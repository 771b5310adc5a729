//! TENEX's queues, against cases worked by hand from its scheduler's listing.

use crate::discipline::{MS, PlannedInteraction, happenings, interaction, live_through, schedule};
use loadgo_machine::disciplines::tenex::Tenex;
use loadgo_machine::disciplines::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use loadgo_machine::spec::TenexQueue;
use proptest::prelude::*;

fn queues(quanta_ms: [u64; 5]) -> Vec<TenexQueue> {
    let bases = [1000.0, 3000.0, 8000.0, 10500.0, 16750.0];
    let queue = |((quantum, base), shift)| TenexQueue { quantum_ns: quantum * MS, base, shift };
    quanta_ms.into_iter().zip(bases).zip(0..).map(queue).collect()
}

/// Scheduler 1.28's own figures.
fn tenex() -> Tenex {
    Tenex::new(&queues([100, 400, 2000, 2000, 10000]), 100 * MS)
}

/// TENEX with quanta that fit into one turn, and a least credit of 10 ms.
fn short() -> Tenex {
    Tenex::new(&queues([10, 20, 40, 80, 90]), 10 * MS)
}

fn work(at_ms: u64, work_ms: u64) -> PlannedInteraction {
    interaction(at_ms * MS, work_ms * MS, CandidateFacts::default())
}

fn begin(list: &mut Tenex, pid: ProcessId, now_ms: u64) {
    list.ask(pid, &CandidateFacts { begins: true, ..CandidateFacts::default() }, now_ms * MS);
    list.admit(pid, now_ms * MS);
    list.ready(pid, ReadyCause::Admitted, now_ms * MS);
}

/// Runs the next process for its whole turn. Returns the process, and the turn's length in ms.
fn turn(list: &mut Tenex, now_ms: u64) -> (ProcessId, u64) {
    let Turn { pid, slice_ns } = list.next(now_ms * MS).expect("somebody is ready");
    assert_eq!(list.off(pid, slice_ns, LeaveCause::TurnOver, now_ms * MS + slice_ns), EligibilityAfterTurn::Eligible);
    list.ready(pid, ReadyCause::Again, now_ms * MS + slice_ns);
    (pid, slice_ns / MS)
}

/// A process that has had 100 ms of `short`'s quanta and has 50 ms left on queue 3, and is done at 100 ms.
fn on_queue_3() -> Tenex {
    let mut list = short();
    begin(&mut list, 0, 0);
    assert_eq!([turn(&mut list, 0), turn(&mut list, 10), turn(&mut list, 30)], [(0, 10), (0, 20), (0, 40)]);
    assert_eq!(list.next(70 * MS), Some(Turn { pid: 0, slice_ns: 80 * MS }));
    list.off(0, 30 * MS, LeaveCause::Done, 100 * MS);
    list
}

#[test]
fn a_process_goes_from_queue_to_queue_as_it_uses_up_their_quanta() {
    let mut list = short();
    begin(&mut list, 0, 0);
    let turns: Vec<_> = [0, 10, 30, 70, 150, 240].map(|now| turn(&mut list, now).1).into();
    assert_eq!(turns, [10, 20, 40, 80, 90, 90], "from the last queue to the last");
}

#[test]
fn the_choice_is_made_anew_every_100_ms() {
    let turns = schedule(&mut tenex(), &[work(0, 250)], 9);
    assert_eq!(turns, [(0, 0, 100 * MS), (0, 100 * MS, 200 * MS), (0, 200 * MS, 250 * MS)]);
}

#[test]
fn a_short_interaction_takes_the_processor_from_a_long_one() {
    let turns = schedule(&mut tenex(), &[work(0, 350), work(230, 50)], 9);
    let of = |pid| turns.iter().filter(|t| t.0 == pid).map(|t| (t.1 / MS, t.2 / MS)).collect::<Vec<_>>();
    assert_eq!(of(1), [(230, 280)]);
    assert_eq!(of(0), [(0, 100), (100, 200), (200, 230), (280, 380), (380, 400)]);
}

#[test]
fn a_process_that_has_been_longer_on_its_queue_is_not_preempted_by_a_new_one() {
    let turns = schedule(&mut tenex(), &[work(0, 90), work(30, 10)], 9);
    assert_eq!(turns, [(0, 0, 90 * MS), (1, 90 * MS, 100 * MS)]);
}

#[test]
fn time_on_the_queue_brings_a_long_process_before_a_stream_of_short_ones() {
    // On queue 1 from 100 ms on: 3000 - t/2 is below the 990 of who came 10 ms ago for the first time at 100 + 45 x 90 ms.
    let mut all = vec![work(0, 200)];
    all.extend((1..60).map(|n| work(90 * n, 90)));
    let turns = schedule(&mut tenex(), &all, 99);
    let long: Vec<_> = turns.iter().filter(|turn| turn.0 == 0).map(|turn| (turn.1 / MS, turn.2 / MS)).collect();
    assert_eq!(long, [(0, 100), (4150, 4250)]);
}

#[test]
fn a_credit_below_the_least_one_is_not_given() {
    let mut list = on_queue_3();
    begin(&mut list, 0, 109);
    assert_eq!(turn(&mut list, 109), (0, 50), "what it had left");
}

#[test]
fn blocked_time_does_not_count_as_time_on_the_queue() {
    let mut list = short();
    begin(&mut list, 0, 0);
    list.next(0);
    list.off(0, 5 * MS, LeaveCause::Done, 5 * MS);
    begin(&mut list, 1, 8);
    begin(&mut list, 0, 14);
    assert_eq!(turn(&mut list, 14).0, 1, "1 has been there for 6 ms, and 0 for 5");
}

#[test]
fn a_process_that_was_blocked_comes_two_queues_up_with_the_first_quantum() {
    let mut list = on_queue_3();
    begin(&mut list, 0, 110);
    assert_eq!([turn(&mut list, 110), turn(&mut list, 120)], [(0, 10), (0, 40)], "queue 1, then queue 2");
}

#[test]
fn a_process_that_was_blocked_for_long_comes_to_the_first_queue() {
    // 70 ms of quanta before queue 3 and 50 left on it, less a credit of 90, are 30: the end of queue 1.
    let mut list = on_queue_3();
    begin(&mut list, 0, 190);
    assert_eq!([turn(&mut list, 190), turn(&mut list, 200)], [(0, 10), (0, 20)], "queue 0, then queue 1");
}

#[test]
fn blocked_time_counts_less_when_others_can_run() {
    for (until, first) in [(129, 50), (130, 10)] {
        let mut list = on_queue_3();
        // Two others are runnable, so a third of the 29 or 30 ms counts.
        begin(&mut list, 1, 101);
        list.ask(2, &CandidateFacts { begins: true, ..CandidateFacts::default() }, 102 * MS);
        list.ask(0, &CandidateFacts { begins: true, ..CandidateFacts::default() }, until * MS);
        list.forget(1);
        list.forget(2);
        list.admit(0, until * MS);
        list.ready(0, ReadyCause::Admitted, until * MS);
        assert_eq!(turn(&mut list, until), (0, first), "blocked until {until} ms");
    }
}

#[test]
fn a_process_that_comes_up_has_the_first_queues_priority_at_once() {
    // Blocked from 100 ms on, 0 comes to queue 1 at 130 with a priority of 1000, which after 20 ms is 1000 - (20 >> 1).
    for (other, best) in [(139, 1), (141, 0)] {
        let mut list = on_queue_3();
        begin(&mut list, 0, 130);
        begin(&mut list, 1, other);
        assert_eq!(turn(&mut list, 150).0, best, "1 has been on queue 0 since {other} ms");
    }
}

#[test]
fn a_new_process_begins_on_the_first_queue() {
    let mut list = on_queue_3();
    list.new_process(0);
    begin(&mut list, 0, 101);
    assert_eq!([turn(&mut list, 101), turn(&mut list, 111)], [(0, 10), (0, 20)]);
}

#[test]
fn a_running_process_gives_way_to_a_better_one_after_20_ms_for_each_page() {
    for (pages, from) in [(2, 100), (10, 200)] {
        let long = interaction(0, 400 * MS, CandidateFacts { pages, ..CandidateFacts::default() });
        let turns = schedule(&mut tenex(), &[long, work(10, 30)], 1);
        assert_eq!(turns.iter().find(|turn| turn.0 == 1), Some(&(1, from * MS, (from + 30) * MS)), "{pages} pages");
    }
}

#[test]
fn no_process_gives_way_to_a_worse_one() {
    // Both have had 100 ms by 200 ms; 0 came to queue 1 first, and keeps its place in the balance set until it is done.
    let turns = schedule(&mut tenex(), &[work(0, 100), work(0, 400), work(0, 150)], 1);
    let order: Vec<_> = turns.iter().map(|turn| turn.0).collect();
    assert_eq!(order, [0, 1, 2, 1, 1, 1, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_lost_and_nobody_is_given_twice(happenings in happenings(12)) {
        live_through(&mut short(), &happenings, 12);
    }

    #[test]
    fn nobody_waits_longer_than_its_priority_takes_to_become_the_best(works in prop::collection::vec(1..3000u64, 1..5)) {
        // A stream of short interactions that wants all of the processor for 100 s. On queues 0 to 2 nobody's priority is better
        // after 8000 << 2 ms; then those come before it that were there before it, at most the 4 x 2.4 s by which the stream is
        // late.
        let mut all: Vec<_> = works.iter().map(|ms| work(0, (*ms).min(2400))).collect();
        all.extend((0..1000).map(|n| work(100 * n, 100)));
        let turns = schedule(&mut tenex(), &all, usize::MAX);
        for pid in 0..works.len() as ProcessId {
            let mine: Vec<_> = turns.iter().filter(|turn| turn.0 == pid).collect();
            let longest = mine.windows(2).map(|pair| pair[1].1 - pair[0].2).max().unwrap_or(0);
            prop_assert!(longest <= 42_000 * MS, "process {pid} waited {} ms", longest / MS);
        }
    }
}
