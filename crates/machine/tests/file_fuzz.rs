//! Fuzz test: random machines read back from their printed text as the same; mangled texts are read, or refused at a place in
//! them.

use crate::drawn_machine::machine;
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_machine::file::{MachineMistake, Origin, parse, parse_with, print};
use loadgo_machine::spec::Machine;
use proptest::prelude::*;

fn alone(text: &str) -> Result<Machine, MachineMistake> {
    parse(text, &mut |name| Err(format!("there is no machine {name}").into()))
}

/// Tokens that mean something to TOML or to a machine file.
const TOKENS: [&str; 26] = [
    "\"",
    "'",
    "[",
    "]",
    "[[load]]\n",
    "{",
    "}",
    "=",
    ",",
    "\n",
    ".",
    "-",
    "é",
    "nan",
    "inf",
    "1e999",
    "99999999999999999999",
    "exponential(",
    "empirical([",
    "5ms",
    "instructions",
    "like = 'x'",
    "route",
    "then",
    "[commands.y]\nlike = 'y'\n",
    "\u{feff}",
];

/// Asserts that `text` reads back from its print as the same machine, or that its mistake has a place in it.
fn assert_read_or_refused(text: &str) {
    match alone(text) {
        Ok(machine) => assert_eq!(alone(&print(&machine)), Ok(machine), "{text:?}"),
        Err(MachineMistake { origin, line, column, message }) => {
            assert_eq!(origin, Origin::File);
            let row = text.split('\n').nth(line - 1).unwrap_or_else(|| panic!("no line {line} in {text:?}"));
            assert!(
                (1..=row.chars().count() + 1).contains(&column) && !message.is_empty(),
                "{line}:{column} {message} in {text:?}"
            );
        }
    }
}

/// The text after one to four random cuts, copies and insertions.
fn mangled(text: &str, chance: &mut RandomStream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=chance.index(4) {
        let at = chance.index(bytes.len() + 1);
        let end = (at + chance.index(30)).min(bytes.len());
        let token = TOKENS[chance.index(TOKENS.len())];
        match chance.index(4) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, token.bytes())),
            2 => drop(bytes.splice(at..end, token.bytes())),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = chance.index(256) as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back_to_the_same(machine in machine()) {
        let text = print(&machine);
        let again = alone(&text);
        prop_assert_eq!(again.as_ref(), Ok(&machine), "{}", text);
    }

    #[test]
    fn mangled_machines_are_read_or_refused_at_a_place_inside_them(machine in machine(), seed in any::<u64>()) {
        let mut chance = RandomStream::new(seed, 1, StreamPurpose::Work);
        let text = print(&machine);
        for _ in 0..4 {
            assert_read_or_refused(&mangled(&text, &mut chance));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        assert_read_or_refused(&text);
    }

    #[test]
    fn any_value_is_set_or_refused_by_name(machine in machine(), key in "[a-z.*\"0-9 ]{0,20}", value in "\\PC{0,20}") {
        let set = format!("{key}={value}");
        let text = print(&machine);
        if let Err(mistake) = parse_with(&text, &[(key, value)], &mut |_| Err("nobody".into())) {
            prop_assert!(mistake.origin == Origin::Set(set) || mistake.origin == Origin::File);
        }
    }
}

#[test]
fn deep_nesting_is_refused_not_overrun() {
    for depth in [10, 100, 10_000, 100_000] {
        assert_read_or_refused(&format!("load = {}", "[".repeat(depth)));
        assert_read_or_refused(&format!("{}a = 1", "a.".repeat(depth)));
        assert_read_or_refused(&format!("[commands.x]\ncpu = {}1{}", "{ a = ".repeat(depth), " }".repeat(depth)));
    }
}
