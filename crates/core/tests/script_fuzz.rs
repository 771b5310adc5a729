//! Randomly changed scripts and random bytes: the parser never panics, and the place of a mistake is inside the text.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::{TimeLaw, parse, parse_span, print};

const NAMES: [&str; 6] = ["absentee", "debugging", "desk-calculator", "light", "typical-user", "typical-user-c"];

/// Bytes that mean something to TOML, to placeholders or to laws.
const TOKENS: [&str; 40] = [
    "\"",
    "'",
    "'''",
    "\"\"\"",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "{{",
    "}}",
    "=",
    ",",
    "\n",
    "\r\n",
    "#",
    "\\",
    "$",
    ".",
    "{user}",
    "{users}",
    "{random:x}",
    "lines",
    "type",
    "repeat = 4000000000",
    "choose",
    "weight",
    "until = '('",
    "think",
    "max",
    "uniform(",
    "5s",
    "none",
    "99999999999999999999",
    "nan",
    "\u{0}",
    "é",
    "漢",
    "\u{feff}",
];

fn bundled() -> Vec<String> {
    let folder = format!("{}/../../python/loadgo/data/scripts", env!("CARGO_MANIFEST_DIR"));
    NAMES.iter().map(|name| std::fs::read_to_string(format!("{folder}/{name}.toml")).expect("a bundled script")).collect()
}

fn holds(text: &str) -> Result<(), String> {
    match parse(text) {
        Ok(script) => match parse(&print(&script)) {
            Ok(again) if again == script => Ok(()),
            other => Err(format!("printing changed it: {other:?}")),
        },
        Err(mistake) => {
            let line = text.split('\n').nth(mistake.line.wrapping_sub(1)).ok_or(format!("no such line: {mistake}"))?;
            let inside = (1..=line.chars().count() + 1).contains(&mistake.column);
            if inside && !mistake.message.is_empty() { Ok(()) } else { Err(format!("no such column: {mistake}")) }
        }
    }
}

/// The text after one to four random cuts, copies, replacements and insertions.
fn mangled(text: &str, chance: &mut RandomStream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=chance.index(4) {
        let at = chance.index(bytes.len() + 1);
        let end = (at + chance.index(30)).min(bytes.len());
        match chance.index(6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, TOKENS[chance.index(TOKENS.len())].bytes())),
            2 => drop(bytes.splice(at..end, TOKENS[chance.index(TOKENS.len())].bytes())),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = chance.index(bytes.len() + 1);
                drop(bytes.splice(to..to, copy));
            }
            4 => bytes.truncate(at),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = chance.index(256) as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn assert_holds(text: &str) {
    if let Err(reason) = holds(text) {
        panic!("{reason}\nin {text:?}");
    }
}

#[test]
fn mangled_scripts_are_read_or_refused_at_a_place_inside_them() {
    let mut chance = RandomStream::new(1968, 1, StreamPurpose::Work);
    for text in bundled() {
        // A tail of the long ones keeps many rounds affordable, and begins where tables and files are.
        let tail = text.char_indices().rev().nth(1500).map_or(0, |(at, _)| at);
        for _ in 0..400 {
            assert_holds(&mangled(&text, &mut chance));
            assert_holds(&mangled(&text[tail..], &mut chance));
        }
    }
}

#[test]
fn every_beginning_of_a_script_is_read_or_refused() {
    for text in bundled().iter().map(|text| &text[..text.len().min(2000)]) {
        text.char_indices().for_each(|(at, _)| assert_holds(&text[..at]));
    }
}

#[test]
fn random_bytes_are_refused_at_a_place_inside_them() {
    let mut chance = RandomStream::new(1969, 1, StreamPurpose::Work);
    for _ in 0..3000 {
        let bytes: Vec<u8> = (0..chance.index(200)).map(|_| chance.index(256) as u8).collect();
        assert_holds(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn random_tokens_are_read_or_refused_at_a_place_inside_them() {
    let mut chance = RandomStream::new(1973, 1, StreamPurpose::Work);
    for _ in 0..5000 {
        let text: String = (0..chance.index(30)).map(|_| TOKENS[chance.index(TOKENS.len())]).collect();
        assert_holds(&text);
        assert_holds(&format!("lines = [{{ type = '''{}''' }}]", text.replace('\'', "")));
        let law = TimeLaw::parse(&text);
        assert!(law.is_err() || text.trim() == "none", "{text:?}");
        assert_eq!(parse_span(&text).is_ok(), text.trim() == "5s", "{text:?}");
    }
}

#[test]
fn deep_nesting_is_refused_not_overrun() {
    for depth in [10, 100, 10_000, 100_000] {
        let lists = format!("lines = {}", "[".repeat(depth));
        let groups = format!("lines = [{}'ls'{}]", "{ lines = [".repeat(depth), "] }".repeat(depth));
        let choices = format!("lines = [{}'ls'{}]", "{ choose = [".repeat(depth), "] }".repeat(depth));
        [lists, groups, choices].iter().for_each(|text| assert_holds(text));
    }
}
