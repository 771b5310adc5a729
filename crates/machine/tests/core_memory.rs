//! Swapping with onion skin: traced cases, and conservation of words over random sequences.

use loadgo_machine::core_memory::{CoreMemory, ProgramMove};
use loadgo_machine::spec::Swapping;
use proptest::prelude::*;
use std::collections::HashMap;

fn core(onion_skin: bool) -> CoreMemory {
    CoreMemory::new(&Swapping { words: 32_768, store: 0, first: Some(1), conditions_words: 1000, onion_skin })
}

fn moved(out_words: u64, in_words: u64) -> ProgramMove {
    ProgramMove { out_words, in_words, from_first: false }
}

#[test]
fn a_desk_calculator_moves_2241_words_out_and_in() {
    let mut core = core(true);
    core.bring(1, 1241, false);
    assert_eq!(core.bring(2, 1241, false), moved(2241, 2241));
    assert_eq!(core.bring(1, 1241, false), moved(2241, 2241));
    assert_eq!(core.bring(1, 1241, false), ProgramMove::default(), "it was the last to run");
}

#[test]
fn only_as_much_is_dumped_as_the_next_program_needs() {
    let mut core = core(true);
    assert_eq!(core.bring(1, 20_000, false), moved(0, 21_000), "memory was empty");
    assert_eq!(core.bring(2, 5_000, false), moved(6_000, 6_000));
    assert_eq!((core.held(1), core.held(2)), (15_000, 5_000));
    assert_eq!(core.bring(3, 8_000, false), moved(6_000 + 3_000, 9_000), "all of 2 and another skin of 1");
    assert_eq!(core.held(1), 12_000);
    assert_eq!(core.bring(1, 20_000, false), moved(9_000, 8_000 + 1_000), "only the missing part comes in");
}

#[test]
fn several_programs_lie_one_over_the_other() {
    let mut core = core(true);
    core.bring(1, 30_000, false);
    core.bring(2, 20_000, false);
    core.bring(3, 10_000, false);
    assert_eq!([1, 2, 3].map(|pid| core.held(pid)), [10_000, 10_000, 10_000]);
    assert_eq!(core.bring(4, 25_000, false), moved(11_000 + 10_000 + 5_000, 26_000));
    assert_eq!([1, 2, 3, 4].map(|pid| core.held(pid)), [5_000, 0, 0, 25_000]);
    assert_eq!(core.bring(1, 30_000, false), moved(26_000, 25_000 + 1_000));
}

#[test]
fn without_onion_skin_all_of_the_outgoing_program_is_dumped() {
    let mut core = core(false);
    core.bring(1, 20_000, false);
    assert_eq!(core.bring(2, 500, false), moved(21_000, 1_500));
    assert_eq!(core.bring(1, 20_000, false), moved(1_500, 21_000));
}

#[test]
fn a_new_command_comes_from_the_disk_and_replaces_the_users_old_program() {
    let mut core = core(true);
    core.bring(1, 20_000, false);
    assert_eq!(core.bring(1, 3_000, true), ProgramMove { out_words: 0, in_words: 4_000, from_first: true });
    assert_eq!(core.bring(2, 10_000, true), ProgramMove { out_words: 4_000, in_words: 11_000, from_first: true });
    assert_eq!(core.held(1), 0, "the old image was worth nothing");
}

#[test]
fn a_program_that_left_is_not_dumped_and_a_giant_program_fills_memory() {
    let mut core = core(true);
    core.bring(1, 20_000, false);
    core.leave(1);
    assert_eq!(core.bring(2, 99_000, false), moved(0, 33_768));
    assert_eq!(core.held(2), 32_768);
}

proptest! {
    /// Each program keeps its size, so the words that come in were out before, and the words that go out were in.
    #[test]
    fn words_are_neither_lost_nor_made(onion in any::<bool>(), turns in prop::collection::vec((0..6u32, any::<bool>()), 1..200)) {
        let mut core = core(onion);
        let size = |pid: u32| 2_000 + 6_000 * u64::from(pid);
        let mut conditions: HashMap<u32, bool> = HashMap::new();
        for (pid, leaves) in turns {
            if leaves {
                core.leave(pid);
                conditions.remove(&pid);
                prop_assert_eq!(core.held(pid), 0);
                continue;
            }
            let before: Vec<u64> = (0..6).map(|pid| core.held(pid)).collect();
            let was_whole = conditions.get(&pid) == Some(&true);
            let moved = core.bring(pid, size(pid), false);
            let after: Vec<u64> = (0..6).map(|pid| core.held(pid)).collect();
            prop_assert_eq!(after[pid as usize], size(pid));
            prop_assert!(after.iter().sum::<u64>() <= 32_768 || size(pid) > 32_768);
            let mut out = 0;
            for other in (0..6).filter(|other| *other != pid) {
                let lost = before[other as usize] - after[other as usize];
                out += lost;
                if lost > 0 && conditions.insert(other, false) == Some(true) {
                    out += 1000;
                }
            }
            conditions.insert(pid, true);
            prop_assert_eq!(moved.out_words, out);
            prop_assert_eq!(moved.in_words, if was_whole { 0 } else { size(pid) - before[pid as usize] + 1000 });
        }
    }
}
