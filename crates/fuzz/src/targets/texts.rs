//! Files that people write: what is read prints and reads back as the same; what is refused has its place.

use super::cuts::split_byte;
use loadgo_core::script;
use loadgo_machine::engine::Engine;
use loadgo_machine::file::{MachineMistake, Origin, parse_with, print};
use loadgo_machine::spec::Machine;
use loadgo_recorder::asciicast::{self, dialogue_of};
use loadgo_recorder::recording::{SessionFacts, script_of, text_of};
use std::sync::Arc;

/// Asserts that this place lies in `text`.
fn assert_place(text: &str, line: usize, column: usize, message: &str) {
    let row = text.split('\n').nth(line.wrapping_sub(1)).unwrap_or_else(|| panic!("there is no line {line}: {message}"));
    assert!((1..=row.chars().count() + 1).contains(&column), "line {line} has no column {column}: {message}");
    assert!(!message.is_empty());
}

/// A script.
pub(crate) fn feed_script(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match script::parse(&text) {
        Ok(read) => assert_eq!(script::parse(&script::print(&read)), Ok(read)),
        Err(mistake) => assert_place(&text, mistake.line, mistake.column, &mistake.message),
    }
}

/// A machine file. A first line that begins with `--set ` is a setting for the rest.
pub(crate) fn feed_machine(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut sets = Vec::new();
    let mut text = text.as_ref();
    if let Some((setting, rest)) = text.strip_prefix("--set ").and_then(|set| set.split_once('\n')) {
        text = rest;
        sets.extend(setting.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
    match parse_with(text, &sets, &mut |name| Err(format!("there is no machine {name}").into())) {
        Ok(machine) => assert_prints_back(machine),
        Err(MachineMistake { origin: Origin::File, line, column, message }) => assert_place(text, line, column, &message),
        Err(mistake) => assert!(!sets.is_empty() && !mistake.message.is_empty(), "{mistake:?}"),
    }
}

fn assert_prints_back(machine: Machine) {
    let text = print(&machine);
    let again = parse_with(&text, &[], &mut |name| Err(format!("there is no machine {name}").into()));
    assert_eq!(again.as_ref(), Ok(&machine), "{text}");
    if let Err(refusal) = Engine::new(&Arc::new(machine), 1) {
        assert!(!refusal.to_string().is_empty());
    }
}

/// A cast. The first byte says whether the script is made with marks.
pub(crate) fn feed_cast(bytes: &[u8]) {
    let (marks, rest) = split_byte(bytes);
    let text = String::from_utf8_lossy(rest);
    let cast = match asciicast::read(&text) {
        Ok(cast) => cast,
        Err(mistake) => {
            assert!(!mistake.message.is_empty());
            return assert!((1..=text.lines().count().max(1)).contains(&mistake.line), "{mistake}");
        }
    };
    let about = SessionFacts { name: "any".into(), login: "sh".into(), marks: marks % 2 == 1 };
    let Ok(recorded) = script_of(&dialogue_of(&cast), &about) else { return };
    let text = text_of(&recorded);
    match script::parse(&text) {
        Ok(script) => assert_eq!(script, recorded.script),
        // A line that was typed unseen is left for the person to fill in.
        Err(mistake) => assert!(text.contains("# [words]"), "{mistake}\n{text}"),
    }
}
