//! The system table: refusal when it is full, taking the oldest entries, and that no entry is lost or made.

use loadgo_machine::spec::{SystemTable, WhenTableFull};
use loadgo_machine::table::{EntryTable, TableFull};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn table(entries: u32, full: WhenTableFull) -> EntryTable {
    EntryTable::new(&SystemTable { entries, per_user: 20, full })
}

#[test]
fn a_log_in_is_refused_when_the_table_is_full() {
    let mut table = table(50, WhenTableFull::Refuse);
    assert_eq!([1, 2, 3].map(|user| table.attach(user)), [Ok(()), Ok(()), Err(TableFull)]);
    assert_eq!(table.touch(1, 100), 0, "nobody takes what others have");
    table.detach(1);
    assert_eq!(table.attach(3), Ok(()));
    assert_eq!(table.free(), 10);
}

#[test]
fn the_least_recently_used_entries_are_taken_and_missed_at_the_next_use() {
    let mut table = table(50, WhenTableFull::Take);
    (1..=3).for_each(|user| table.attach(user).unwrap());
    assert_eq!(table.touch(2, 10), 0, "ten of 1's entries went to 3");
    assert_eq!(table.touch(3, 20), 0);
    assert_eq!(table.touch(1, 30), 10, "and are missed now; ten of 2's go for them");
    assert_eq!(table.touch(3, 40), 0);
    assert_eq!(table.touch(2, 50), 10);
}

#[test]
fn with_one_user_too_many_in_turn_each_use_misses_all_entries() {
    let mut table = table(100, WhenTableFull::Take);
    (0..6).for_each(|user| table.attach(user).unwrap());
    let missed: Vec<u32> = (0..60).map(|turn| table.touch((turn % 6) as u32, turn)).collect();
    assert!(missed[6..].iter().all(|missed| *missed == 20), "{missed:?}");
}

proptest! {
    #[test]
    fn entries_are_neither_lost_nor_made(take in any::<bool>(), acts in prop::collection::vec((0..9u32, 0..4u8), 1..300)) {
        let mut table = table(100, if take { WhenTableFull::Take } else { WhenTableFull::Refuse });
        let mut here: BTreeSet<u32> = BTreeSet::new();
        let mut uses: Vec<u32> = Vec::new();
        for (now, (user, act)) in acts.into_iter().enumerate() {
            if here.contains(&user) && act == 0 {
                table.detach(user);
                here.remove(&user);
                continue;
            }
            if here.contains(&user) {
                let others: BTreeSet<&u32> = uses.iter().rev().take_while(|other| **other != user).collect();
                let missed = table.touch(user, now as u64);
                prop_assert!(take && others.len() >= 5 || missed == 0, "who is among the last five by use keeps all");
            } else if table.attach(user).is_ok() {
                here.insert(user);
            } else {
                prop_assert!(!take && here.len() == 5);
                continue;
            }
            uses.push(user);
            prop_assert!(take || table.free() == 100 - 20 * here.len() as u32);
        }
        for user in here {
            table.detach(user);
        }
        prop_assert_eq!(table.free(), 100, "when all are gone, all is free");
    }
}
