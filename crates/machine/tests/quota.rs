//! A user's quota of processor time, against cases worked by hand and against a clock of one step a millisecond.

use crate::discipline::MS;
use loadgo_core::record::LimitCounts;
use loadgo_machine::limits::{PERIOD_NS, Quota};
use proptest::prelude::*;

/// A quota in percent of a processor, with periods that begin at whole multiples of their length.
fn quota(percent: u32) -> Quota {
    Quota::new(f64::from(percent) / 100.0, 0)
}

#[test]
fn three_tenths_of_a_processor_run_for_30_ms_and_wait_for_70() {
    let mut quota = quota(30);
    for period in 0..3 {
        let begin = period * 100 * MS;
        assert_eq!(quota.allowance_ns(begin), 30 * MS);
        quota.charge(begin, begin + 30 * MS);
        assert_eq!(quota.allowance_ns(begin + 30 * MS), 0);
        assert_eq!(quota.next_refill(), begin + 100 * MS);
    }
}

#[test]
fn a_run_over_the_end_of_a_period_has_the_next_quota_too_and_not_what_was_left() {
    let mut quota = quota(50);
    assert_eq!(quota.allowance_ns(90 * MS), 60 * MS, "10 ms of the 50 that are left, and the next 50");
    quota.charge(90 * MS, 120 * MS);
    assert_eq!(quota.allowance_ns(120 * MS), 30 * MS);
    assert_eq!(quota.allowance_ns(200 * MS), 50 * MS);
}

#[test]
fn what_a_step_takes_over_the_quota_is_paid_by_the_next_periods() {
    let mut short = quota(30);
    short.charge(0, 50 * MS);
    assert_eq!((short.allowance_ns(50 * MS), short.next_refill()), (0, 100 * MS));
    assert_eq!(short.allowance_ns(100 * MS), 10 * MS);
    let mut long = quota(30);
    long.charge(0, 130 * MS);
    // 30 - 100 at the end of the first period, -40 after the refill, -70 at 130 ms; -40 at 200, -10 at 300, 20 at 400.
    assert_eq!((long.allowance_ns(130 * MS), long.next_refill()), (0, 400 * MS));
    assert_eq!(long.allowance_ns(400 * MS), 20 * MS);
}

#[test]
fn a_debt_of_a_whole_quota_waits_for_the_refill_after() {
    let mut quota = quota(30);
    quota.charge(0, 60 * MS);
    assert_eq!((quota.allowance_ns(60 * MS), quota.next_refill()), (0, 200 * MS), "at 100 ms nothing is left");
    assert_eq!(quota.allowance_ns(200 * MS), 30 * MS);
}

#[test]
fn periods_begin_where_their_offset_says() {
    let mut quota = Quota::new(0.3, 60 * MS);
    quota.charge(0, 30 * MS);
    assert_eq!((quota.allowance_ns(30 * MS), quota.next_refill()), (0, 40 * MS));
    quota.charge(40 * MS, 70 * MS);
    assert_eq!((quota.allowance_ns(70 * MS), quota.next_refill()), (0, 140 * MS));
}

#[test]
fn a_quota_of_a_processor_or_more_never_ends() {
    for cpus in [1.0, 8.0] {
        let mut quota = Quota::new(cpus, 7);
        for step in 0..5 {
            assert_eq!(quota.allowance_ns(step * 777 * MS), u64::MAX);
            quota.charge(step * 777 * MS, (step + 1) * 777 * MS);
        }
    }
}

#[test]
fn periods_in_which_a_processor_was_wanted_count_once_and_so_do_those_in_which_the_quota_was_used_up() {
    let mut quota = quota(30);
    quota.wants(0);
    quota.charge(0, 10 * MS);
    quota.rests(10 * MS);
    quota.wants(50 * MS);
    quota.charge(50 * MS, 70 * MS);
    quota.begins_throttling(70 * MS);
    let half = quota.costs(90 * MS);
    assert_eq!((half.periods, half.throttled_periods, half.throttled_ns), (Some(1), Some(1), Some(20 * MS)));
    quota.ends_throttling(100 * MS);
    quota.charge(100 * MS, 125 * MS);
    quota.rests(125 * MS);
    // Nothing is wanted in the third period. The user waits for a processor from the fourth to the fifth.
    quota.wants(350 * MS);
    quota.charge(420 * MS, 421 * MS);
    quota.rests(421 * MS);
    let expected = LimitCounts {
        cpu_ns: Some(56 * MS),
        periods: Some(4),
        throttled_periods: Some(1),
        throttled_ns: Some(30 * MS),
        ..LimitCounts::default()
    };
    assert_eq!(quota.costs(1000 * MS), expected);
}

proptest! {
    #[test]
    fn charges_and_allowances_are_those_of_a_clock_that_ticks(
        percent in 1..100u32, offset_ms in 0..100u64, spans in prop::collection::vec((0..250u64, 0..250u64, any::<bool>()), 1..20),
    ) {
        let mut quota = Quota::new(f64::from(percent) / 100.0, offset_ms * MS);
        let given_ms = i64::from(percent);
        let (mut now, mut left_ms) = (0, given_ms);
        // At each tick the clock refills first, and then takes a millisecond if the process runs.
        let tick = |now: &mut u64, left_ms: &mut i64, runs: bool| {
            *left_ms -= i64::from(runs);
            *now += 1;
            if ((*now + offset_ms) * MS).is_multiple_of(PERIOD_NS) {
                *left_ms = (*left_ms + given_ms).min(given_ms);
            }
        };
        for (pause_ms, run_ms, in_steps) in spans {
            (0..pause_ms).for_each(|_| tick(&mut now, &mut left_ms, false));
            let (mut ahead, mut left_ahead) = (now, left_ms);
            let mut allowed_ms = 0;
            while left_ahead > 0 {
                tick(&mut ahead, &mut left_ahead, true);
                allowed_ms += 1;
            }
            prop_assert_eq!(quota.allowance_ns(now * MS), allowed_ms * MS);
            // Work ends with the allowance. A step of the supervisor is done first.
            let run_ms = if in_steps { run_ms } else { run_ms.min(allowed_ms) };
            let begin = now;
            (0..run_ms).for_each(|_| tick(&mut now, &mut left_ms, true));
            quota.charge(begin * MS, now * MS);
        }
        prop_assert_eq!(quota.allowance_ns(now * MS) == 0, left_ms <= 0);
        if left_ms <= 0 {
            let refill = quota.next_refill();
            while now * MS < refill {
                prop_assert!(left_ms <= 0, "there was a refill before");
                tick(&mut now, &mut left_ms, false);
            }
            prop_assert!(left_ms > 0, "and after it there is something left");
        }
    }
}
