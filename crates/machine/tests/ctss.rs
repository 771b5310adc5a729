//! CTSS's queues, against cases worked by hand from Corbató 1962.

use crate::discipline::{MS, PlannedInteraction, happenings, interaction, live_through, schedule};
use loadgo_machine::disciplines::ctss::Ctss;
use loadgo_machine::disciplines::order::ProcessHeap;
use loadgo_machine::disciplines::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ReadyCause, ReadyList, Turn};
use proptest::prelude::*;

const Q: u64 = 16 * MS;

fn program(at: u64, work: u64, image_words: u64) -> PlannedInteraction {
    interaction(at, work, CandidateFacts { image_words, ..CandidateFacts::default() })
}

#[test]
fn the_level_of_a_program_grows_with_the_logarithm_of_its_size() {
    let list = Ctss::new(Q, 120, 9);
    let levels = [(0, 0), (119, 0), (120, 1), (239, 1), (359, 1), (360, 2), (839, 2), (840, 3), (32 * 1024, 8)];
    for (words, level) in levels {
        assert_eq!(list.level_of(words), level, "{words} words");
    }
    assert_eq!(Ctss::new(Q, 1, 9).level_of(u64::MAX), 8, "the last level holds all that is larger");
}

#[test]
fn each_level_runs_twice_as_long_as_the_one_above() {
    let turns = schedule(&mut Ctss::new(Q, 120, 9), &[program(0, 20 * Q, 0)], 9);
    assert_eq!(turns, [(0, 0, Q), (0, Q, 3 * Q), (0, 3 * Q, 7 * Q), (0, 7 * Q, 15 * Q), (0, 15 * Q, 20 * Q)]);
}

#[test]
fn the_last_level_is_never_left() {
    let turns = schedule(&mut Ctss::new(Q, 120, 2), &[program(0, 5 * Q, 0)], 9);
    assert_eq!(turns, [(0, 0, Q), (0, Q, 3 * Q), (0, 3 * Q, 5 * Q)]);
}

#[test]
fn an_unfinished_program_goes_to_the_tail_of_the_next_queue() {
    // Processes 0 and 1 enter at level 0, process 2 at level 1. Then 0 comes behind 2 there, and 1 behind 0.
    let programs = [program(0, 3 * Q, 0), program(0, 2 * Q, 0), program(0, Q, 120)];
    let turns = schedule(&mut Ctss::new(Q, 120, 9), &programs, 9);
    assert_eq!(turns, [(0, 0, Q), (1, Q, 2 * Q), (2, 2 * Q, 3 * Q), (0, 3 * Q, 5 * Q), (1, 5 * Q, 6 * Q)]);
}

#[test]
fn a_program_at_a_lower_level_preempts_and_the_preempted_one_goes_on_at_the_head_with_the_rest_of_its_quanta() {
    // 0 and 1 are at level 2 (4 quanta); 2 comes at level 0 when 0 has run for one quantum.
    let programs = [program(0, 4 * Q, 360), program(0, Q, 360), program(Q, Q / 2, 0)];
    let turns = schedule(&mut Ctss::new(Q, 120, 9), &programs, 9);
    let after = Q + Q / 2;
    assert_eq!(turns, [(0, 0, Q), (2, Q, after), (0, after, after + 3 * Q), (1, after + 3 * Q, after + 4 * Q)]);
}

#[test]
fn a_program_of_the_same_level_waits() {
    let turns = schedule(&mut Ctss::new(Q, 120, 9), &[program(0, Q, 0), program(Q / 2, Q, 0)], 9);
    assert_eq!(turns, [(0, 0, Q), (1, Q, 2 * Q)]);
}

#[test]
fn a_program_that_waited_for_a_device_comes_back_at_the_tail_with_the_rest_of_its_quantum() {
    let mut list = Ctss::new(Q, 120, 9);
    for pid in 0..2 {
        list.ask(pid, &CandidateFacts { begins: true, ..CandidateFacts::default() }, 0);
        list.admit(pid, 0);
        list.ready(pid, ReadyCause::Admitted, 0);
    }
    assert_eq!(list.next(0), Some(Turn { pid: 0, slice_ns: Q }));
    assert_eq!(list.off(0, Q / 4, LeaveCause::Waits, Q / 4), EligibilityAfterTurn::Eligible);
    list.ready(0, ReadyCause::Woken, Q / 2);
    assert_eq!(list.next(Q / 2), Some(Turn { pid: 1, slice_ns: Q }));
    assert_eq!(list.next(Q / 2), Some(Turn { pid: 0, slice_ns: 3 * Q / 4 }));
}

#[test]
fn the_smallest_program_that_asks_is_brought_in_first() {
    let mut list = Ctss::new(Q, 120, 9);
    for (pid, image_words) in [(0, 1000), (1, 100), (2, 100)] {
        list.ask(pid, &CandidateFacts { begins: true, image_words, ..CandidateFacts::default() }, 0);
    }
    let order: Vec<_> = (0..3).filter_map(|_| list.candidate().inspect(|pid| list.admit(*pid, 0))).collect();
    assert_eq!(order, [1, 2, 0]);
}

/// The instants at which a large program of level 3 (8 quanta) runs beside 200 small ones, of which one always waits.
fn runs_of_a_large_program(list: &mut Ctss) -> Vec<u64> {
    let small = (0..200u64).map(|number| program((number * Q).saturating_sub(Q / 2), Q, 0));
    let programs: Vec<_> = std::iter::once(program(1, 2 * Q, 1000)).chain(small).collect();
    schedule(list, &programs, 999).into_iter().filter(|(pid, ..)| *pid == 0).map(|(_, from, _)| from).collect()
}

#[test]
fn small_programs_without_end_keep_a_large_one_out() {
    assert_eq!(runs_of_a_large_program(&mut Ctss::new(Q, 120, 9)), [200 * Q]);
}

#[test]
fn a_program_rises_by_a_level_each_time_it_has_waited_for_so_long() {
    // It enters at level 3, and is at level 0 after three rises: there it waits for those that are before it.
    let from = runs_of_a_large_program(&mut Ctss::new(Q, 120, 9).rising(20 * Q))[0];
    assert!((60 * Q..=62 * Q).contains(&from), "{from} is {} quanta", from / Q);
}

#[test]
fn a_program_that_has_risen_has_all_quanta_of_its_new_level() {
    let mut list = Ctss::new(Q, 120, 9).rising(10 * Q);
    list.ask(0, &CandidateFacts { begins: true, image_words: 1000, ..CandidateFacts::default() }, 0);
    list.admit(0, 0);
    list.ready(0, ReadyCause::Admitted, 0);
    assert_eq!(list.next(0), Some(Turn { pid: 0, slice_ns: 8 * Q }));
    assert_eq!(list.off(0, 3 * Q, LeaveCause::Preempted, 3 * Q), EligibilityAfterTurn::Eligible);
    list.ready(0, ReadyCause::Again, 3 * Q);
    assert_eq!(list.next(12 * Q), Some(Turn { pid: 0, slice_ns: 5 * Q }), "it has waited for 9 quanta");
    assert_eq!(list.off(0, Q, LeaveCause::Preempted, 13 * Q), EligibilityAfterTurn::Eligible);
    list.ready(0, ReadyCause::Again, 13 * Q);
    assert_eq!(list.next(23 * Q), Some(Turn { pid: 0, slice_ns: 4 * Q }), "it has waited for 10 quanta");
}

#[test]
fn a_program_that_asks_for_memory_rises_too() {
    let mut list = Ctss::new(Q, 120, 9).rising(10 * Q);
    let asks = |list: &mut Ctss, pid, image_words, now| {
        list.ask(pid, &CandidateFacts { begins: true, image_words, ..CandidateFacts::default() }, now);
    };
    asks(&mut list, 0, 120, 0);
    asks(&mut list, 1, 0, 9 * Q);
    assert_eq!(list.candidate(), Some(1));
    asks(&mut list, 2, 0, 10 * Q);
    list.admit(1, 10 * Q);
    assert_eq!(list.candidate(), Some(0), "it rose to level 0 before process 2 came");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_lost_and_nobody_is_given_twice(happenings in happenings(12)) {
        live_through(&mut Ctss::new(Q, 120, 5), &happenings, 12);
    }

    #[test]
    fn nobody_is_lost_where_programs_rise(happenings in happenings(12), rise in 1..20 * Q) {
        live_through(&mut Ctss::new(Q, 120, 5).rising(rise), &happenings, 12);
    }

    #[test]
    fn of_programs_that_begin_together_none_is_more_than_a_level_ahead(works in prop::collection::vec(1..100 * Q, 2..9)) {
        // A program on level l has had 2^l - 1 quanta, and a program on the next level 2 (2^l - 1) + 1.
        let programs: Vec<_> = works.iter().map(|work| program(0, *work, 0)).collect();
        let turns = schedule(&mut Ctss::new(Q, 120, 9), &programs, usize::MAX);
        let mut had = vec![0; works.len()];
        for (pid, from, to) in turns {
            had[pid as usize] += to - from;
            let least = (0..works.len()).filter(|j| had[*j] < works[*j]).map(|j| had[j]).min();
            prop_assert!(least.is_none_or(|least| had.iter().all(|h| *h <= 2 * least + Q)), "{had:?}");
        }
    }

    #[test]
    fn a_process_heap_gives_the_same_order_as_a_sorted_set(steps in prop::collection::vec((0..60u32, 0..1000u32, 0..3u8), 1..400)) {
        let (mut order, mut set) = (ProcessHeap::default(), std::collections::BTreeMap::new());
        for (serial, (pid, key, what)) in steps.into_iter().enumerate() {
            let old = set.iter().find(|(_, other)| **other == pid).map(|(key, _)| *key);
            match (what, old) {
                (0..=1, None) => {
                    order.insert((key, serial), pid);
                    set.insert((key, serial), pid);
                }
                (0, Some(_)) => prop_assert_eq!(order.take_first(), set.pop_first().map(|(_, pid)| pid)),
                _ => prop_assert_eq!(order.remove(pid), old.is_some_and(|key| set.remove(&key).is_some())),
            }
            prop_assert_eq!(order.first(), set.first_key_value().map(|(key, pid)| (*key, *pid)));
            prop_assert_eq!(order.len(), set.len());
        }
        let rest: Vec<_> = std::iter::from_fn(|| order.take_first()).collect();
        prop_assert_eq!(rest, set.into_values().collect::<Vec<_>>());
    }
}
