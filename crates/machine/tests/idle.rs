//! Causes of idle time: each idle processor has one cause, and all of its time is accounted for.

use std::sync::Arc;

use crate::models::machine;
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Command, Discipline, EligibilityLimit, Machine, Population, Store};

const SECOND: u64 = 1_000_000_000;

struct Finish(u64);

impl InteractionSink for Finish {
    fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
        self.0 -= 1;
        self.0 > 0
    }
}

/// Users of 16 processors who think for 2 s, work for 1 s, and wait 1 s for a disk in the middle.
fn sixteen(users: u32, discipline: Discipline) -> Machine {
    let seconds = |count: f64| AmountLaw::Fixed(count * SECOND as f64);
    let waits = Command { cpu: seconds(1.0), requests: vec![(0, AmountLaw::Fixed(1.0))], ..Command::without_work("waits") };
    let mut made = machine(16, discipline, waits, Population::Closed(users), seconds(2.0));
    let disk = StoreKind::Server(ServerSpec { service: seconds(1.0), servers: u32::MAX });
    made.stores = vec![Store { name: "disk".into(), kind: disk, interrupts: false }];
    made
}

fn after(made: Machine, interactions: u64) -> MachineMeters {
    let meters = simulate::run(&Arc::new(made), 1, &mut Finish(interactions)).unwrap();
    for processor in &meters.time_ns {
        assert_eq!(processor.iter().sum::<u64>(), meters.at);
    }
    meters
}

#[test]
fn a_user_who_waits_for_the_disk_makes_one_of_sixteen_processors_idle_for_that_cause() {
    for discipline in [Discipline::FirstCome, Discipline::Sharing] {
        let meters = after(sixteen(1, discipline), 100);
        assert_eq!(meters.at, 400 * SECOND);
        assert_eq!(meters.total_ns(Category::IdleDiskWait), 100 * SECOND, "1.5625 % of all time");
        assert_eq!(meters.total_ns(Category::User), 100 * SECOND);
        assert_eq!(meters.total_ns(Category::IdleZero), 16 * meters.at - 200 * SECOND);
    }
}

#[test]
fn idle_processors_are_divided_among_the_causes_in_their_order() {
    let mut limited = sixteen(10, Discipline::FirstCome);
    limited.limit = EligibilityLimit::Fixed(4);
    // All ten come at 2 s. Four run, wait and run again for 2 s while six ask; then four while two ask; then two.
    let meters = after(limited, 4);
    assert_eq!(meters.at, 4 * SECOND);
    assert_eq!(meters.total_ns(Category::IdleNotEligible), 6 * 2 * SECOND);
    assert_eq!(meters.total_ns(Category::IdleDiskWait), 4 * SECOND);
    assert_eq!(meters.total_ns(Category::User), 4 * SECOND);
    assert_eq!(meters.total_ns(Category::IdleZero), 16 * 2 * SECOND + (2 * 16 - 12 - 4 - 4) * SECOND);
}

#[test]
fn if_more_users_wait_than_processors_idle_all_idle_time_has_the_first_cause() {
    let meters = after(sixteen(40, Discipline::FirstCome), 1);
    // Sixteen work for half a second, then the next sixteen, then eight; the first ones' disk is done at 3.5 s.
    assert_eq!(meters.total_ns(Category::IdleZero), 16 * 2 * SECOND);
    let idle_ns = 16 * (meters.at - 2 * SECOND) - meters.total_ns(Category::User);
    assert_eq!(meters.total_ns(Category::IdleDiskWait), idle_ns);
}
