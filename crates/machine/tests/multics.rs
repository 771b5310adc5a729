//! Multics's list, against cases worked by hand from the traffic controller's rules.

use crate::discipline::{MS, PlannedInteraction, happenings, interaction, live_through, schedule};
use loadgo_machine::disciplines::multics::Multics;
use loadgo_machine::disciplines::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use proptest::prelude::*;

const T: u64 = 1000 * MS;

fn work(at: u64, work: u64) -> PlannedInteraction {
    interaction(at, work, CandidateFacts::default())
}

fn ask(list: &mut Multics, pid: ProcessId, begins: bool) {
    list.ask(pid, &CandidateFacts { begins, ..CandidateFacts::default() }, 0);
}

fn admitted(list: &mut Multics, pid: ProcessId) {
    list.admit(pid, 0);
    list.ready(pid, ReadyCause::Admitted, 0);
}

/// Gives `pid`, the candidate, a whole quantum, after which it asks again.
fn use_a_quantum(list: &mut Multics, pid: ProcessId) {
    admitted(list, pid);
    let turn = list.next(0).expect("it is ready");
    assert_eq!(turn.pid, pid);
    assert_eq!(list.off(pid, turn.slice_ns, LeaveCause::TurnOver, 0), EligibilityAfterTurn::Asks);
    ask(list, pid, false);
}

/// Measures the value ti of a process after `quanta`: the number of quanta after which a second process comes behind it.
fn overtaken_after(quanta: usize, mut list: Multics) -> usize {
    ask(&mut list, 0, true);
    (0..quanta).for_each(|_| use_a_quantum(&mut list, 0));
    ask(&mut list, 1, true);
    let mut had = 0;
    while list.candidate() == Some(1) {
        use_a_quantum(&mut list, 1);
        had += 1;
    }
    had
}

#[test]
fn equal_quanta_make_the_levels_0_1_3_7() {
    // On these levels, ti is 0, t, 3t, 7t. The second process comes behind once it has had the quanta with which the level
    // begins.
    let overtaken: Vec<_> = (0..=8).map(|quanta| overtaken_after(quanta, Multics::new(T, T, 100 * T))).collect();
    assert_eq!(overtaken, [0, 1, 1, 3, 3, 3, 3, 7, 7]);
}

#[test]
fn no_level_is_beyond_the_most() {
    let overtaken: Vec<_> = (0..=12).map(|quanta| overtaken_after(quanta, Multics::new(T, T, 4 * T))).collect();
    // 0, t, 3t, then min(3t + 4t, most) = most, and that for ever.
    assert_eq!(overtaken, [0, 1, 1, 3, 3, 3, 3, 7, 7, 7, 7, 7, 7]);
}

#[test]
fn a_level_lasts_no_longer_than_the_most() {
    // First 2t, then t at a time, at most 2.5t: ti = 2t after the first, and 2.5t after three more, not after four.
    let overtaken: Vec<_> = (0..=5).map(|quanta| overtaken_after(quanta, Multics::new(2 * T, T, 5 * T / 2))).collect();
    assert_eq!(overtaken, [0, 1, 1, 1, 4, 4]);
}

#[test]
fn the_first_quantum_after_an_interaction_is_of_its_own_length() {
    let turns = schedule(&mut Multics::new(T, 3 * T, 8 * T), &[work(0, 5 * T)], 1);
    assert_eq!(turns, [(0, 0, T), (0, T, 4 * T), (0, 4 * T, 5 * T)]);
}

#[test]
fn a_quantum_goes_on_after_waits_for_pages() {
    let mut list = Multics::new(T, T, 8 * T);
    ask(&mut list, 0, true);
    admitted(&mut list, 0);
    for had in [0, 1, 2] {
        assert_eq!(list.next(0), Some(Turn { pid: 0, slice_ns: T - had * T / 4 }));
        assert_eq!(list.off(0, T / 4, LeaveCause::Waits, 0), EligibilityAfterTurn::Eligible, "a page wait takes no eligibility");
        list.ready(0, ReadyCause::Woken, 0);
    }
}

#[test]
fn a_process_is_never_given_the_processor_for_less_than_4_ms() {
    let mut list = Multics::new(T, T, 8 * T);
    ask(&mut list, 0, true);
    admitted(&mut list, 0);
    list.next(0);
    list.off(0, T - MS, LeaveCause::Waits, 0);
    list.ready(0, ReadyCause::Woken, 0);
    assert_eq!(list.next(0), Some(Turn { pid: 0, slice_ns: 4 * MS }));
}

#[test]
fn a_process_that_loses_its_eligibility_waits_behind_those_of_lower_ti() {
    // One at a time is eligible. 0 has had t, so ti = t; then 1 and 2, which have had nothing, then 0 again.
    let turns = schedule(&mut Multics::new(T, T, 8 * T), &[work(0, 2 * T), work(1, T), work(2, T / 2)], 1);
    assert_eq!(turns, [(0, 0, T), (1, T, 2 * T), (2, 2 * T, 5 * T / 2), (0, 5 * T / 2, 7 * T / 2)]);
}

#[test]
fn a_new_interaction_takes_the_processor_from_a_process_further_down() {
    // Two may be eligible. 0 has ti = t from T on; 1 comes at 1.5 T with ti = 0, and preempts.
    let turns = schedule(&mut Multics::new(T, T, 8 * T), &[work(0, 2 * T), work(3 * T / 2, T / 4)], 2);
    assert_eq!(turns, [(0, 0, T), (0, T, 3 * T / 2), (1, 3 * T / 2, 7 * T / 4), (0, 7 * T / 4, 9 * T / 4)]);
}

#[test]
fn a_second_interaction_begins_at_the_top_again() {
    let mut list = Multics::new(T, T, 8 * T);
    ask(&mut list, 0, true);
    use_a_quantum(&mut list, 0);
    admitted(&mut list, 0);
    list.next(0);
    list.off(0, T / 2, LeaveCause::Done, 0);
    ask(&mut list, 1, true);
    use_a_quantum(&mut list, 1);
    ask(&mut list, 0, true);
    assert_eq!(list.candidate(), Some(0), "1 has ti = t, 0 begins with 0");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_lost_and_nobody_is_given_twice(happenings in happenings(12)) {
        live_through(&mut Multics::new(20 * MS, 50 * MS, 200 * MS), &happenings, 12);
    }

    #[test]
    fn the_time_that_processes_have_had_differs_by_a_level_at_most(works in prop::collection::vec(1..60 * T, 2..8), limit in 1..4usize) {
        // All begin together: at any time ti is at most `most` = 8t, and on the last level they take turns.
        let works_all: Vec<_> = works.iter().map(|w| work(0, *w)).collect();
        let mut had = vec![0; works.len()];
        for (pid, from, to) in schedule(&mut Multics::new(T, T, 8 * T), &works_all, limit) {
            had[pid as usize] += to - from;
            let least = (0..works.len()).filter(|j| had[*j] < works[*j]).map(|j| had[j]).min();
            prop_assert!(least.is_none_or(|least| had.iter().all(|h| *h <= least + (8 + limit as u64) * T)), "{had:?}");
        }
    }
}
