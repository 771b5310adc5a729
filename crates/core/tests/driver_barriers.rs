//! Several drivers of one load: each has a range of users, and all pass the barriers together.

use crate::virtual_host::{Answer, Kept, Row, VirtualHost, script};
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::{LoadModel, OfferedLoad};
use loadgo_core::record::Phase;
use loadgo_core::script::Script;
use loadgo_core::system::{Barrier, Event};
use loadgo_core::time::{Instant, Span};

const BEGINNING: Instant = Instant(100_000_000_000);

fn words() -> Script {
    script(
        "think = \"lognormal(3s, 2s)\"\nwords = { fruit = [\"apple\", \"pear\", \"fig\"] }",
        r#"["echo {random:fruit} {user}", "ls"]"#,
    )
}

/// The lines that a range of users types in `load`, if all drivers begin at [`BEGINNING`].
fn driven(load: &OfferedLoad, first_user: u32, users: u32) -> (Vec<(Row, String)>, Kept, SessionCounts) {
    let mut host = VirtualHost::constant(Span::from_millis(5));
    host.barriers = vec![(Barrier::Lines, BEGINNING)];
    let mut kept = Kept::default();
    let counts = drive(&words(), &OfferedLoad { first_user, users, ..load.clone() }, &mut host, &mut kept);
    let mut typed: Vec<_> = kept.rows.iter().map(|row| (Row { phase: Phase::Steady, ..row.clone() }, text(&host, row))).collect();
    typed.sort_by_key(|(row, _)| (row.user, row.sent));
    (typed, kept, counts)
}

/// The keys of the line of `row`.
fn text(host: &VirtualHost, row: &Row) -> String {
    let of_row = host.keys.iter().find(|(at, user, _)| (at.0, *user) == (row.sent, row.user));
    of_row.expect("the line was typed").2.clone()
}

#[test]
fn every_user_types_the_same_at_the_same_instants_however_users_are_split() {
    for model in [LoadModel::Closed, LoadModel::Open(0.5)] {
        let load = OfferedLoad { model, ..OfferedLoad::closed(20, 4) };
        let (whole, ..) = driven(&load, 1, 20);
        assert_eq!(whole.len(), 20 * 4 * 2);
        for ends in [&[20][..], &[7, 20], &[1, 2, 20], &[4, 8, 12, 16, 20]] {
            let begins = [0].iter().chain(ends);
            let parts: Vec<_> = begins.zip(ends).flat_map(|(before, end)| driven(&load, before + 1, end - before).0).collect();
            assert!(parts == whole, "{model:?} in ranges that end with {ends:?}");
        }
    }
}

#[test]
fn a_driver_waits_at_both_barriers_and_its_users_begin_when_the_second_is_opened() {
    let log_ins_open = Instant(5_000_000_000);
    let mut host = VirtualHost::constant(Span::from_millis(5));
    host.barriers = vec![(Barrier::LogIns, log_ins_open), (Barrier::Lines, BEGINNING)];
    let mut kept = Kept::default();
    let counts = drive(&words(), &OfferedLoad { first_user: 3, ..OfferedLoad::closed(4, 2) }, &mut host, &mut kept);
    assert_eq!(kept.reached, [Barrier::LogIns, Barrier::Lines]);
    assert!(kept.sessions.iter().all(|session| session.started >= log_ins_open && session.ready.unwrap() < BEGINNING));
    assert_eq!(kept.began(Phase::WarmUp), Some(BEGINNING));
    assert!(kept.rows.iter().all(|row| row.sent >= BEGINNING.0));
    let mut users: Vec<_> = kept.sessions.iter().map(|session| session.user).collect();
    users.sort_unstable();
    assert_eq!((users, counts.done), (vec![3, 4, 5, 6], 4));
}

#[test]
fn a_user_who_dies_at_the_barrier_is_lost_and_the_others_begin() {
    let mut host = VirtualHost::constant(Span::from_millis(5));
    host.barriers = vec![(Barrier::Lines, BEGINNING)];
    host.deaths = vec![(Instant(50_000_000_000), 2)];
    let mut kept = Kept::default();
    let counts = drive(&words(), &OfferedLoad::closed(3, 1), &mut host, &mut kept);
    assert_eq!((counts.died, counts.done), (1, 2));
    assert_eq!(kept.reached, [Barrier::LogIns, Barrier::Lines], "the barrier is reached once");
}

#[test]
fn a_stop_ends_a_driver_at_either_barrier() {
    for barrier in [Barrier::LogIns, Barrier::Lines] {
        let mut host = VirtualHost::new(|_, _| Answer::After(Span::ZERO, 0));
        host.barriers = vec![(barrier, BEGINNING)];
        host.stop_at = Some(Instant(50_000_000_000));
        let mut kept = Kept::default();
        let counts = drive(&words(), &OfferedLoad::closed(3, 1), &mut host, &mut kept);
        assert!(counts.stopped, "{barrier:?}");
        assert_eq!((kept.rows.len(), kept.sessions.len()), (0, 3));
    }
}

#[test]
fn an_order_about_a_barrier_at_which_the_driver_does_not_wait_has_no_effect() {
    let mut host = VirtualHost::constant(Span::from_millis(5));
    host.happens(Instant(1), Event::Opened { barrier: Barrier::Lines, at: Instant(1) });
    host.barriers = vec![(Barrier::Lines, BEGINNING)];
    let mut kept = Kept::default();
    drive(&words(), &OfferedLoad::closed(3, 1), &mut host, &mut kept);
    assert_eq!(kept.began(Phase::WarmUp), Some(BEGINNING));
}
