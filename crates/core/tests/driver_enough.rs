//! Loads that end when their recorder has enough rows.

use crate::virtual_host::{Answer, Enough, Kept, VirtualHost, script};
use loadgo_core::driver::drive;
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::Phase;
use loadgo_core::time::{Instant, Span};

#[test]
fn a_load_without_end_ends_when_the_recorder_has_enough() {
    let script = script("think = \"fixed(1s)\"", "[\"work\"]");
    let load = OfferedLoad { passes: None, ..OfferedLoad::closed(4, 1) };
    let mut recorder = Enough { kept: Kept::default(), after: 30 };
    let summary = drive(&script, &load, &mut VirtualHost::constant(Span::from_millis(100)), &mut recorder);
    let enough = recorder.kept.rows[29].ready.map(Instant);
    assert_eq!(recorder.kept.began(Phase::RampDown), enough, "the load ends with the interaction that is enough");
    assert!(recorder.kept.rows[30..].iter().all(|row| Some(Instant(row.sent)) <= enough), "no user types after that");
    assert!((30..34).contains(&recorder.kept.rows.len()), "users who wait for the system may finish");
    assert_eq!((summary.done, summary.died, summary.stopped), (4, 0, false));
    assert!(recorder.kept.sessions.iter().all(|session| session.outcome == "done"));
}

#[test]
fn passes_end_a_load_that_never_has_enough() {
    let script = script("think = \"fixed(1s)\"", "[\"work\"]");
    let mut recorder = Enough { kept: Kept::default(), after: usize::MAX };
    drive(&script, &OfferedLoad::closed(2, 3), &mut VirtualHost::constant(Span::from_millis(100)), &mut recorder);
    assert_eq!(recorder.kept.rows.len(), 6);
}

#[test]
fn lines_that_nobody_answers_are_enough_as_well() {
    let script = script("think = \"fixed(1s)\"\ntimeout = \"5s\"", "[\"work\"]");
    let load = OfferedLoad { passes: None, ..OfferedLoad::closed(4, 1) };
    let mut recorder = Enough { kept: Kept::default(), after: 30 };
    let summary = drive(&script, &load, &mut VirtualHost::new(|_, _| Answer::Never(true)), &mut recorder);
    assert!((30..34).contains(&recorder.kept.rows.len()), "users who wait for the system may finish");
    assert!(recorder.kept.rows.iter().all(|row| row.ready.is_none()));
    assert_eq!((summary.done, summary.died, summary.stopped), (4, 0, false));
}

#[test]
fn a_line_that_was_sent_before_the_driver_read_what_is_enough_is_of_the_phase_before() {
    let script = script("think = \"none\"", "[\"work\"]");
    let load = OfferedLoad { passes: None, ..OfferedLoad::closed(2, 1) };
    let mut host = VirtualHost::constant(Span::from_millis(100));
    host.batch = Span::from_millis(500);
    let mut recorder = Enough { kept: Kept::default(), after: 2 };
    drive(&script, &load, &mut host, &mut recorder);
    let end = recorder.kept.began(Phase::RampDown).expect("the load ends").0;
    let phases: Vec<_> = recorder.kept.rows.iter().map(|row| (row.phase, row.sent <= end)).collect();
    assert_eq!(
        phases,
        [(Phase::WarmUp, true), (Phase::Steady, true), (Phase::Steady, true)],
        "both were answered, and one had sent a line again"
    );
}
