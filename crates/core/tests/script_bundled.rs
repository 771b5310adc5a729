//! The bundled scripts: each is good, and does what its heading says.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::{PassWalk, ReadyRule, Script, TimeLaw, parse, print};
use loadgo_core::time::Span;

const NAMES: [&str; 19] = [
    "absentee",
    "course",
    "debugging",
    "desk-calculator",
    "editor",
    "hog-cpu",
    "hog-disk",
    "hog-fork",
    "hog-idle",
    "hog-memory",
    "hog-terminal",
    "light",
    "notebook",
    "notebook-kernel",
    "paging",
    "remote-jobs",
    "shell-light",
    "typical-user",
    "typical-user-c",
];

fn text(name: &str) -> String {
    let path = format!("{}/../../python/loadgo/data/scripts/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn bundled(name: &str) -> Script {
    parse(&text(name)).unwrap_or_else(|mistake| panic!("{name}: {mistake}"))
}

#[test]
fn each_bundled_script_is_good_and_says_where_it_is_from() {
    for name in NAMES {
        let script = bundled(name);
        assert_eq!(parse(&print(&script)).as_ref(), Ok(&script), "{name}");
        assert!(text(name).starts_with("# "), "{name}");
        assert!(!script.needs.is_empty(), "{name}");
    }
}

#[test]
fn no_script_is_bundled_without_being_named_here() {
    let folder = format!("{}/../../python/loadgo/data/scripts", env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<_> = std::fs::read_dir(folder).expect("the bundled scripts").flatten().map(|file| file.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let mut found: Vec<_> = found.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    found.sort();
    assert_eq!(found, NAMES);
}

#[test]
fn a_typical_user_takes_the_order_of_the_printed_table() {
    let order = ["edit", "compile", "edit", "compile", "rename", "print", "run", "list", "delete"];
    for name in ["typical-user", "typical-user-c"] {
        let script = bundled(name);
        assert_eq!(script.lines().map(|line| line.name.as_str()).collect::<Vec<_>>(), order, "{name}");
        assert_eq!(script.passes, 2);
        assert_eq!(script.think, TimeLaw::Uniform(Span::from_secs(2), Span::from_secs(15)));
        assert!(script.lines().all(|line| line.status == Some(vec![0])));
    }
}

#[test]
fn an_absentee_types_221_lines() {
    let script = bundled("absentee");
    let mut choice = RandomStream::new(1, 1, StreamPurpose::Choice);
    let mut walk = PassWalk::new(&script);
    assert_eq!(std::iter::from_fn(|| walk.next(&mut choice)).count(), 221);
    assert_eq!(script.think, TimeLaw::Uniform(Span::from_secs(2), Span::from_secs(15)));
}

#[test]
fn the_desk_calculator_waits_for_its_own_prompt_until_it_is_left() {
    let script = bundled("desk-calculator");
    assert_eq!(script.until, ReadyRule::Mark);
    let lines: Vec<_> = script.lines().collect();
    assert_eq!(lines.len(), 42);
    assert!(lines[..41].iter().all(|line| matches!(line.until, Some(ReadyRule::Pattern(_)))));
    assert_eq!((lines[41].name.as_str(), &lines[41].until), ("quit", &None));
}
