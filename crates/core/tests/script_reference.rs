//! The script reference: every example on its page is a good script with the properties that the page names.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::{DEFAULT_TIMEOUT, ReadyRule, Script, TimeLaw, parse};

fn page() -> String {
    let path = format!("{}/../../docs/scripts.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn examples() -> Vec<Script> {
    let page = page();
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```\n").next().unwrap_or(rest));
    blocks.map(|text| parse(text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))).collect()
}

#[test]
fn every_example_of_the_reference_is_a_good_script() {
    assert!(examples().len() >= 6);
}

#[test]
fn every_law_of_the_reference_can_be_read() {
    let page = page();
    let laws = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('`').nth(1));
    let names = ["none", "fixed", "uniform", "exponential", "lognormal", "empirical"];
    let laws: Vec<_> = laws.filter(|law| names.iter().any(|name| law.starts_with(name))).collect();
    assert_eq!(laws.len(), names.len());
    laws.iter().for_each(|law| assert!(TimeLaw::parse(law).is_ok(), "{law}"));
    assert!(TimeLaw::parse("lognormal(8s, 4s, min 1s, max 1min)").is_ok());
}

#[test]
fn the_smallest_script_has_the_defaults_of_the_reference() {
    let smallest = &examples()[0];
    assert_eq!((smallest.name.as_str(), smallest.login.as_str(), smallest.logout.as_str()), ("script", "sh", "exit"));
    assert_eq!((smallest.passes, &smallest.think, &smallest.until), (1, &TimeLaw::None, &ReadyRule::Mark));
    assert_eq!(smallest.timeout, DEFAULT_TIMEOUT);
    assert_eq!(DEFAULT_TIMEOUT.to_string(), "300s");
}

#[test]
fn the_placeholders_of_the_reference_are_typed_as_it_says() {
    let page = page();
    let rows = page.lines().filter(|line| line.starts_with("| `{"));
    let mut rows: Vec<_> = rows.filter_map(|line| line.split('`').nth(1)).collect();
    rows.sort();
    assert_eq!(rows, ["{pass}", "{random:LIST}", "{user}", "{{user}}", "{{{user}}}"]);
    let script = parse("lines = ['{user} {pass} {{user}} {{{user}}}']").expect("a good script");
    let mut typed = String::new();
    let mut choice = RandomStream::new(1, 7, StreamPurpose::Choice);
    script.lines().next().expect("a line").text.fill(7, 2, &script.words, &mut choice, &mut typed);
    assert_eq!(typed, "7 2 {user} {7}");
}
