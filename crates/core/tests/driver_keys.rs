//! Keys for programs that fill the screen, on a system in virtual time: when each is typed, and what its row holds.

use crate::virtual_host::{Answer, Kept, VirtualHost};
use loadgo_core::driver::drive;
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::Outcome;
use loadgo_core::script::parse;
use loadgo_core::time::{Instant, Span};

const ECHO: Span = Span::from_millis(7);
const SETTLE: Span = Span::from_millis(50);

/// The records and the keys of one user who types `lines`, with `head` at the top of the script.
fn typed(head: &str, lines: &str, answer: fn() -> Answer) -> (Kept, Vec<(Instant, String)>) {
    let script = parse(&format!("{head}\nlines = [{lines}]")).expect("a good script");
    let mut host = VirtualHost::new(move |_, _| answer());
    let mut kept = Kept::default();
    drive(&script, &OfferedLoad::closed(1, 1), &mut host, &mut kept);
    let mut keys: Vec<_> = host.keys.into_iter().map(|(at, _, keys)| (at, keys)).collect();
    assert_eq!(keys.pop().map(|(_, keys)| keys).as_deref(), Some("exit\n"));
    (kept, keys)
}

fn settles() -> Answer {
    Answer::Settles(ECHO, SETTLE)
}

#[test]
fn without_a_typing_rate_all_keys_are_one_burst() {
    let (kept, keys) = typed("", "{ keys = 'ihello<Esc>{user}' }", settles);
    assert_eq!(keys.iter().map(|(_, keys)| keys.as_str()).collect::<Vec<_>>(), ["ihello\x1b1"]);
    assert_eq!(kept.rows[0].ready, Some(kept.rows[0].sent + ECHO.0));
    assert_eq!((kept.rows.len(), kept.rows[0].outcome), (1, Outcome::Ok));
}

#[test]
fn keys_with_room_to_settle_between_them_are_interactions_of_their_own_at_the_typing_rate() {
    let (kept, keys) = typed("typing = '10 chars/s'", "{ keys = 'ab<Up>' }, 'ls'", settles);
    assert_eq!(keys[..3].iter().map(|(_, keys)| keys.as_str()).collect::<Vec<_>>(), ["a", "b", "\x1b[A"]);
    for pair in keys[..3].windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Span::from_millis(100));
    }
    assert_eq!(kept.rows.iter().map(|row| row.typing).collect::<Vec<_>>()[..3], [0, 0, 0]);
    for pair in kept.rows.windows(2) {
        assert_eq!(pair[1].sent, pair[0].ready.expect("answered") + pair[1].think + pair[1].typing, "all time is known");
        assert_eq!(pair[1].planned, pair[1].sent, "virtual time is never late");
    }
    assert_eq!(kept.rows.len(), 4);
}

#[test]
fn a_user_types_no_key_before_the_screen_is_known_to_have_settled() {
    let slow = || Answer::Settles(Span::from_millis(400), SETTLE);
    let (kept, keys) = typed("typing = '10 chars/s'", "{ keys = 'abc' }", slow);
    for pair in keys.windows(2) {
        assert_eq!(pair[1].0.since(pair[0].0), Span::from_millis(450));
    }
    assert!(kept.rows.iter().all(|row| row.planned == row.sent), "the wait is the system's, not the driver's");
}

#[test]
fn keys_that_come_faster_than_a_screen_settles_are_a_burst_that_counts_from_its_last_key() {
    let (kept, keys) = typed("typing = '10 chars/s'", "{ keys = 'a<Esc>é<Up>', settle = '101ms' }", settles);
    assert_eq!(keys.iter().map(|(_, keys)| keys.as_str()).collect::<Vec<_>>(), ["a", "\x1b", "é", "\x1b[A"]);
    let (row, last) = (&kept.rows[0], keys[3].0);
    assert_eq!((kept.rows.len(), row.sent, row.typing), (1, last.0, Span::from_millis(300).0));
}

#[test]
fn keys_that_change_nothing_have_no_response_and_are_unconfirmed() {
    let (kept, _) = typed("typing = '10 chars/s'", "{ keys = 'ab' }", || Answer::Unseen(Span::from_millis(1000)));
    assert!(kept.rows.iter().all(|row| row.ready.is_none() && row.outcome == Outcome::Unconfirmed));
    assert_eq!(kept.rows[1].sent - kept.rows[0].sent, Span::from_millis(1000).0);
}

#[test]
fn ten_thousand_keys_are_ten_thousand_interactions_and_one_more_burst_is_none() {
    let many = format!("{{ keys = '{}', as = 'many' }}", "x".repeat(10_000));
    let (kept, _) = typed("typing = '20 chars/s'", &many, settles);
    assert_eq!(kept.rows.len(), 10_000);
    let (kept, keys) = typed("", &many, settles);
    assert_eq!((kept.rows.len(), keys[0].1.len()), (1, 10_000));
}

#[test]
fn the_end_of_the_session_at_a_key_before_the_last_is_a_death_and_at_the_last_the_end() {
    let exits = || Answer::Exits(ECHO, 0);
    let (script, load) =
        (|keys: &str| parse(&format!("typing = '9 chars/s'\nlines = [{{ keys = '{keys}' }}]")), OfferedLoad::closed(1, 1));
    for (keys, outcome) in [("<C-d>x", Outcome::Died), ("<C-d>", Outcome::Ok)] {
        let mut kept = Kept::default();
        drive(&script(keys).expect("a script"), &load, &mut VirtualHost::new(move |_, _| exits()), &mut kept);
        assert_eq!(kept.rows.iter().map(|row| row.outcome).collect::<Vec<_>>(), [outcome], "{keys}");
    }
}
