//! A driver that reads of events late: what it did meanwhile comes before what it reads.

use crate::virtual_host::{Kept, VirtualHost, script};
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::Outcome;
use loadgo_core::system::{Event, Response};
use loadgo_core::time::{Instant, Span};

/// When a user is logged in.
const LOGGED_IN: Instant = Instant(10_000_000);
/// When something happens that the driver does not know yet.
const HAPPENS: Instant = Instant(20_000_000);
/// When the driver reads of both, and acts on the log-in first.
const READ: Instant = Instant(510_000_000);

/// A load of users without think time on a host whose waits return everything of half a second together.
fn driven_late(load: &OfferedLoad, mut host: VirtualHost) -> (Kept, SessionCounts) {
    host.log_in_time = LOGGED_IN.since(Instant(0));
    host.batch = READ.since(LOGGED_IN);
    let mut kept = Kept::default();
    let counts = drive(&script("think = \"none\"", r#"["make"]"#), load, &mut host, &mut kept);
    (kept, counts)
}

#[test]
fn a_mark_that_was_printed_before_the_line_was_sent_is_no_answer() {
    let mut host = VirtualHost::constant(Span::from_secs(2));
    let response = Response { exit_status: Some(0), confirmed: true, ..Response::default() };
    host.happens(HAPPENS, Event::Ready { user: 1, at: HAPPENS, response });
    let (kept, _) = driven_late(&OfferedLoad::closed(1, 1), host);
    let rows: Vec<_> = kept.rows.iter().map(|row| (row.sent, row.ready)).collect();
    assert_eq!(rows, [(READ.0, Some(READ.0 + 2_000_000_000))]);
}

#[test]
fn a_session_that_died_before_a_line_was_sent_to_it_ends_with_that_line() {
    let mut host = VirtualHost::constant(Span::from_secs(2));
    host.deaths = vec![(HAPPENS, 1)];
    let (kept, counts) = driven_late(&OfferedLoad::closed(1, 1), host);
    assert_eq!((counts.died, kept.rows[0].sent, kept.rows[0].outcome), (1, READ.0, Outcome::Died));
    assert_eq!(kept.sessions[0].ended, READ);
}

#[test]
fn a_log_in_that_was_begun_before_a_stop_was_read_does_not_end_before_it_began() {
    let mut host = VirtualHost::constant(Span::from_secs(2));
    host.happens(HAPPENS, Event::Stop { at: HAPPENS });
    let (kept, _) = driven_late(&OfferedLoad { log_ins_at_once: 1, ..OfferedLoad::closed(2, 1) }, host);
    let second = kept.sessions.iter().find(|session| session.user == 2).expect("each user has a row");
    assert_eq!((second.started, second.ended, second.outcome), (READ, READ, "stopped"));
}
