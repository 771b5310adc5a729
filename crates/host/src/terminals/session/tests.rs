//! Sessions that are fed output in pieces: echo, marks, patterns, silence and screens.

use super::*;
use loadgo_core::ready::nonce;

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
