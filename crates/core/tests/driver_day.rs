//! Arrivals of an open load whose rate changes over the day.

use crate::virtual_host::{Kept, VirtualHost, script};
use loadgo_core::arrivals::{DayOfArrivals, DayRate};
use loadgo_core::driver::drive;
use loadgo_core::load::{LoadModel, OfferedLoad};
use loadgo_core::time::Span;

/// The instants at which the users of a load were to arrive, in the order of the users.
fn planned(load: &OfferedLoad) -> Vec<u64> {
    let mut kept = Kept::default();
    drive(&script("", r#"["ls -l"]"#), load, &mut VirtualHost::constant(Span::from_millis(1)), &mut kept);
    let mut sessions: Vec<_> = kept.sessions.iter().map(|session| (session.user, session.planned.0)).collect();
    sessions.sort_unstable();
    sessions.into_iter().map(|(_, planned)| planned).collect()
}

/// The arrivals of `users` over a day whose first half hour, of the load, has 60 an hour, and the hour after it 600.
fn arrivals_of_a_day(first_user: u32, users: u32) -> Vec<u64> {
    let rate = |minute, per_hour| DayRate { minute, per_hour };
    let rates = vec![rate(60, 60.0), rate(600, 600.0), rate(660, 0.0), rate(720, 60.0)];
    let day = Some(DayOfArrivals { rates, from_minute: 570 });
    let load = OfferedLoad { model: LoadModel::Open(1.0), day, first_user, ..OfferedLoad::closed(users, 1) };
    planned(&load).into_iter().map(|at| at / 1_000_000_000).collect()
}

#[test]
fn arrivals_follow_the_rates_of_the_day() {
    let arrivals = arrivals_of_a_day(1, 2000);
    let between = |low: u64, high: u64| arrivals.iter().filter(|at| (low..high).contains(at)).count() as f64;
    // From 09:30: 60/h until 10:00, 600/h until 11:00, none until 12:00, then 60/h until the same times of the next day.
    for (low, high, expected) in [(0, 1800, 30.0f64), (1800, 5400, 600.0), (5400, 9000, 0.0), (9000, 88200, 1320.0)] {
        let count = between(low, high);
        assert!((count - expected).abs() <= 4.0 * expected.sqrt(), "{count} from {low} s to {high} s, not {expected}");
    }
}

#[test]
fn several_drivers_have_the_arrivals_of_one() {
    let all = arrivals_of_a_day(1, 300);
    let (first, second) = (arrivals_of_a_day(1, 120), arrivals_of_a_day(121, 180));
    assert_eq!([first, second].concat(), all);
}

#[test]
fn one_rate_all_day_is_a_plain_open_load() {
    let rates = vec![DayRate { minute: 300, per_hour: 7200.0 }];
    let at = |day| planned(&OfferedLoad { model: LoadModel::Open(2.0), day, ..OfferedLoad::closed(200, 1) });
    let plain = at(None);
    let of_day = at(Some(DayOfArrivals { rates, from_minute: 1439 }));
    assert!(plain.iter().zip(&of_day).all(|(plain, of_day)| plain.abs_diff(*of_day) < 1000), "within a microsecond");
}
