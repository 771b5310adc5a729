//! The multiprogramming limit and its controls.

use loadgo_machine::admission::Admission;
use loadgo_machine::spec::EligibilityLimit;

fn by_device() -> Admission {
    Admission::new(&EligibilityLimit::DeviceBusy { store: 0, target: 0.5, every_ns: 1000, most: 6 })
}

#[test]
fn without_a_limit_all_are_admitted_and_with_a_limit_that_number() {
    assert!(Admission::new(&EligibilityLimit::None).may_admit(1_000_000, 500, u64::MAX / 2, 10));
    let fixed = Admission::new(&EligibilityLimit::Fixed(6));
    assert!(fixed.may_admit(5, 500, 1000, 10));
    assert!(!fixed.may_admit(6, 1, 0, 10));
    assert_eq!((fixed.level(), fixed.every_ns()), (6, None));
}

#[test]
fn working_sets_are_admitted_while_they_fit() {
    let control = Admission::new(&EligibilityLimit::WorkingSets { most: 3 });
    assert!(control.may_admit(1, 40, 60, 100));
    assert!(!control.may_admit(1, 41, 60, 100));
    assert!(control.may_admit(0, 500, 0, 100), "a process alone is always admitted");
    assert!(!control.may_admit(3, 1, 3, 100));
}

#[test]
fn the_control_finds_the_limit_that_keeps_the_device_half_busy_and_keeps_it() {
    let mut control = by_device();
    let mut busy = 0;
    let mut levels = Vec::new();
    for look in 1..20 {
        busy += u64::from(control.level()) * 125; // each process keeps it busy for an eighth
        control.check(look * 1000, busy, 1, 9);
        levels.push(control.level());
    }
    assert_eq!(levels[..4], [2, 3, 4, 4]);
    assert!(levels[4..].iter().all(|level| *level == 4), "{levels:?}");
}

#[test]
fn within_a_tenth_of_the_target_the_control_keeps_its_limit() {
    let mut control = by_device();
    control.check(1000, 100, 1, 9);
    assert_eq!(control.level(), 2);
    control.check(2000, 100 + 549, 1, 9);
    assert_eq!(control.level(), 2);
    control.check(3000, 649 + 451, 1, 9);
    assert_eq!(control.level(), 2);
    control.check(4000, 1100 + 551, 1, 9);
    assert_eq!(control.level(), 1, "too busy");
    control.check(5000, 1651 + 1000, 1, 9);
    assert_eq!(control.level(), 1, "one process may always run");
}

#[test]
fn an_idle_device_does_not_raise_the_limit_while_nobody_asks() {
    let mut control = by_device();
    (1..100).for_each(|look| control.check(look * 1000, 0, 1, 0));
    assert_eq!(control.level(), 1);
    (100..200).for_each(|look| control.check(look * 1000, 0, 1, 1));
    assert_eq!(control.level(), 6, "the largest limit");
}

#[test]
fn the_first_check_after_a_pause_changes_nothing() {
    let mut control = by_device();
    control.check(50_000, 0, 1, 9);
    assert_eq!(control.level(), 1);
    control.check(51_000, 0, 1, 9);
    assert_eq!(control.level(), 2);
}

#[test]
fn a_device_of_two_servers_is_half_busy_when_one_is() {
    let mut control = by_device();
    control.check(1000, 1000, 2, 9);
    assert_eq!(control.level(), 1);
}
