//! Sessions that are fed output in pieces: echo, marks, patterns, silence and screens.

use super::by_screen::Settled;
use super::*;
use loadgo_core::ready::nonce;
use loadgo_core::script::ScreenRule;

fn session() -> Session {
    let mut session = Session::new(nonce(1), Watch::Mark, Instant(0));
    session.stage = Stage::Idle;
    session
}

fn mark(status: u8) -> String {
    format!("$ \x1b]133;D;{status};aid={}\x07", String::from_utf8_lossy(&nonce(1)))
}

#[test]
fn output_is_counted_without_echo_prompt_and_mark() {
    let mut session = session();
    session.send(b"ls\n", Watch::Mark, Stage::Line);
    let patterns = ReadyPatterns::default();
    assert_eq!(session.feed(b"ls\r\n", Instant(5), &patterns), None);
    assert_eq!(session.feed(b"abc\r\n", Instant(7), &patterns), None);
    assert_eq!(session.feed(mark(3).as_bytes(), Instant(9), &patterns), Some(Some(3)));
    let response = session.answer(Some(3), true);
    assert_eq!((response.bytes_out, response.first_output), (5, Some(Instant(7))));
}

#[test]
fn a_prompt_that_is_drawn_twice_is_no_output() {
    let mut session = session();
    session.send(b"cat\n", Watch::Mark, Stage::Line);
    let patterns = ReadyPatterns::default();
    let piece = format!("cat\r\nabc\r\n{0}{1}\r{0}", mark(0), " ".repeat(77));
    assert_eq!(session.feed(piece.as_bytes(), Instant(5), &patterns), Some(Some(0)));
    let response = session.answer(Some(0), true);
    assert_eq!((response.bytes_out, response.confirmed), (5, true));
}

#[test]
fn a_line_that_is_interrupted_has_the_output_so_far() {
    let mut session = session();
    session.send(b"watch\n", Watch::Mark, Stage::Line);
    let patterns = ReadyPatterns::default();
    assert_eq!(session.feed(b"watch\r\nhalf of it", Instant(7), &patterns), None);
    let so_far = session.wait_on(Instant(7));
    assert_eq!((so_far.bytes_out, so_far.first_output), (10, Some(Instant(7))));
}

#[test]
fn a_command_without_output_has_no_first_output() {
    let mut session = session();
    session.send(b"true\n", Watch::Mark, Stage::Line);
    let piece = format!("true\r\n{}", mark(0));
    assert_eq!(session.feed(piece.as_bytes(), Instant(7), &ReadyPatterns::default()), Some(Some(0)));
    let response = session.answer(Some(0), true);
    assert_eq!((response.bytes_out, response.first_output), (0, None));
}

#[test]
fn a_prompt_while_the_user_thinks_makes_the_next_answer_unconfirmed() {
    let mut session = session();
    assert_eq!(session.feed(mark(0).as_bytes(), Instant(1), &ReadyPatterns::default()), None);
    session.send(b"ls\n", Watch::Mark, Stage::Line);
    assert_eq!(session.feed(mark(0).as_bytes(), Instant(2), &ReadyPatterns::default()), Some(Some(0)));
    assert!(!session.answer(Some(0), true).confirmed, "it is unknown which line the second prompt answers");
}

#[test]
fn a_log_in_that_shows_no_mark_is_asked_and_then_given_up() {
    let mut session = Session::new(nonce(1), Watch::Mark, Instant(0));
    assert_eq!(session.quiet_deadline(), Some(Instant(0) + SILENT_LOG_IN));
    session.feed(b"login motd\r\n# ", Instant(1000), &ReadyPatterns::default());
    assert_eq!(session.quiet_deadline(), Some(Instant(1000) + QUIET_PROMPT));
    session.send_preparation(b"PS1=...\n", Watch::Mark, 0, Instant(1500));
    assert_eq!(session.limit(), Instant(1500) + LOG_IN_LIMIT);
    session.feed(b"sh: no\r\n", Instant(2000), &ReadyPatterns::default());
    assert_eq!(session.quiet_deadline(), Some(Instant(2000) + QUESTION_PATIENCE), "then it may show a question");
    assert_eq!(session.last_words(), "sh: no");
}

#[test]
fn a_tab_is_quoted_at_a_shells_prompt_and_nowhere_else() {
    let mut session = session();
    assert_eq!(*session.as_typed(b"a\tb\n", TypedForm::Line), *b"a\x16\tb\n");
    session.send(b"cat\n", Watch::Silence(Span(5)), Stage::Line);
    session.answer(None, true);
    assert_eq!(*session.as_typed(b"a\tb\n", TypedForm::Line), *b"a\tb\n", "no shell may read this");
}

const SETTLE: Span = Span::from_millis(50);

/// A session with the sent keys `keys`, and the patterns of their sign, which promises that the screen shows `shows`.
fn with_keys(keys: &[u8], shows: Option<&str>) -> (Session, ReadyPatterns) {
    let rule = ReadyRule::Screen(ScreenRule { settle: SETTLE, shows: shows.map(String::from), cursor: None });
    let patterns = ReadyPatterns::of([&rule]);
    let mut session = session();
    session.send_as(TypedForm::Keys, keys, Watch::of(&rule, &patterns), Stage::Line);
    session.begin_screen(Instant(0));
    (session, patterns)
}

#[test]
fn a_screen_that_has_settled_answers_keys_with_its_last_change() {
    let (mut session, patterns) = with_keys(b"x", None);
    assert_eq!(session.feed(b"x", Instant(7), &patterns), None);
    assert_eq!(session.quiet_deadline(), Some(Instant(7) + SETTLE));
    assert_eq!(session.settled(Instant(6) + SETTLE, &patterns), None);
    assert_eq!(session.settled(Instant(7) + SETTLE, &patterns), Some(Settled::Unpromised));
    assert_eq!(session.last_change(), Instant(7));
    let response = session.answer(None, true);
    assert_eq!((response.confirmed, response.is_unseen, response.bytes_out), (true, false, 1), "keys have no echo to leave out");
}

#[test]
fn a_promise_is_asked_of_the_settled_screen_until_the_line_is_interrupted() {
    let (mut session, patterns) = with_keys(b":w\r", Some("written"));
    session.feed(b"\x1b[24;1H\"a\" 3L, 7B", Instant(7), &patterns);
    assert_eq!(session.settled(Instant(7) + SETTLE, &patterns), Some(Settled::NotAsPromised));
    session.feed(b" written", Instant(70), &patterns);
    assert_eq!(session.settled(Instant(70) + SETTLE, &patterns), Some(Settled::AsPromised));
    let (mut session, patterns) = with_keys(b":w\r", Some("written"));
    session.wait_on(Instant(100));
    session.feed(b"x", Instant(107), &patterns);
    assert_eq!(session.settled(Instant(107) + SETTLE, &patterns), Some(Settled::Unpromised));
}

#[test]
fn keys_that_change_nothing_are_never_confirmed() {
    let (mut session, patterns) = with_keys(b"x", None);
    session.feed(b"\x07", Instant(7), &patterns);
    let response = session.answer(None, true);
    assert_eq!((response.confirmed, response.is_unseen), (false, true));
}

#[test]
fn the_mark_answers_keys_at_once_and_a_late_one_makes_the_next_line_unconfirmed() {
    let (mut session, patterns) = with_keys(b"q", None);
    let status = session.feed(mark(4).as_bytes(), Instant(7), &patterns);
    assert_eq!(status, Some(Some(4)));
    let response = session.answer(Some(4), true);
    assert_eq!((response.confirmed, response.exit_status, response.bytes_out), (true, Some(4), 0));

    let (mut session, patterns) = with_keys(b"q", None);
    session.feed(b"bye", Instant(7), &patterns);
    session.answer(None, false);
    session.send(b"ls\n", Watch::Mark, Stage::Line);
    session.feed(format!("ls\r\n{}", mark(0)).as_bytes(), Instant(9), &patterns);
    assert!(!session.answer(Some(0), true).confirmed, "it may be the mark of the program that ended");
    session.send(b"ls\n", Watch::Mark, Stage::Line);
    session.feed(format!("ls\r\n{}", mark(0)).as_bytes(), Instant(19), &patterns);
    assert!(session.answer(Some(0), true).confirmed);
}
