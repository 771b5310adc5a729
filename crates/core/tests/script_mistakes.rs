//! Scripts with one mistake each: the parser names its place, and what would be right.
//!
//! In each case, ▶ marks the place that the mistake must name. The second text must be in the message.

use crate::script_cases::all;
use loadgo_core::script::parse;

/// Line and column of ▶, and the text without it.
fn place(marked: &str) -> (Option<(usize, usize)>, String) {
    let text = marked.replace('▶', "");
    let Some(at) = marked.find('▶') else { return (None, text) };
    let line = marked[..at].matches('\n').count() + 1;
    let column = marked[..at].rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (Some((line, column)), text)
}

#[test]
fn each_single_mistake_is_reported_with_its_place_and_remedy() {
    let mut wrong = Vec::new();
    for (marked, remedy) in all() {
        let (place, text) = place(&marked);
        let Err(mistake) = parse(&text) else {
            wrong.push(format!("taken for good: {text}"));
            continue;
        };
        if place.is_some_and(|place| place != (mistake.line, mistake.column)) {
            wrong.push(format!("at the wrong place: {marked}\n    {mistake}"));
        } else if !mistake.message.contains(&remedy) {
            wrong.push(format!("without {remedy:?}: {marked}\n    {mistake}"));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_mistake_is_found_at_the_same_column_under_other_text() {
    for (marked, _) in all() {
        let (_, text) = place(&marked);
        let alone = parse(&text).expect_err("it has a mistake");
        let under = parse(&format!("# café 漢字\r\n\n{text}")).expect_err("it still has");
        if alone.message.starts_with("there are no lines") {
            continue;
        }
        assert_eq!((under.line, under.column, under.message), (alone.line + 2, alone.column, alone.message), "{text}");
    }
}

#[test]
fn there_are_at_least_500_single_mistakes() {
    let texts: std::collections::BTreeSet<_> = all().into_iter().map(|(text, _)| text).collect();
    assert!(texts.len() >= 500, "{}", texts.len());
}

#[test]
fn a_line_near_the_limit_of_a_terminal_is_refused_with_the_reason() {
    let script =
        |length: usize, rest: &str| parse(&format!("lines = ['{}{rest}']\n[words]\nw = ['a', 'bcd']", "x".repeat(length)));
    assert!(script(4094, "").is_ok());
    for (length, rest) in [(4095, ""), (4085, "{user}"), (4092, "{random:w}"), (100_000, "")] {
        let mistake = script(length, rest).expect_err("too long");
        assert!(mistake.message.contains("terminal") && mistake.message.contains("[files]"), "{mistake}");
        assert_eq!((mistake.line, mistake.column), (1, 10));
    }
    assert!(script(4084, "{user}").is_ok() && script(4091, "{random:w}").is_ok());
}

#[test]
fn shell_braces_are_typed_as_they_stand() {
    let typed = "awk '{print $1}' {1..3} ${user} {} {a,b} { ls; } {x} f{name}s ${pass:-1} }} {{ {{x}} {\"used\": 3} {user";
    let script = parse(&format!("lines = [\"\"\"{typed}\"\"\"]")).expect("a good script");
    assert_eq!(script.lines().next().and_then(|line| line.text.plain()), Some(typed));
}
