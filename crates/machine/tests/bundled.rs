//! The bundled machines can be read, and their printed text reads back as the same machine.

use loadgo_machine::engine::{Advance, Engine, EngineError, EngineEvent};
use loadgo_machine::file::{parse, parse_with, print};
use loadgo_machine::spec::{EligibilityLimit, Machine, Residence};
use std::sync::Arc;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/loadgo/data/machines");

fn text(name: &str) -> Result<String, Box<dyn std::error::Error>> {
    std::fs::read_to_string(format!("{FOLDER}/{name}.toml")).map_err(|error| format!("{name}: {error}").into())
}

fn read(name: &str) -> Machine {
    let text = text(name).expect("a bundled machine");
    parse(&text, &mut |like| self::text(like)).unwrap_or_else(|mistake| panic!("{name}: {mistake}"))
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(FOLDER).expect("the folder of bundled machines");
    let names = files.filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".toml").map(String::from));
    names.collect()
}

#[test]
fn every_bundled_machine_is_read_and_its_print_is_read_back_to_the_same() {
    assert!(names().len() >= 6, "{:?}", names());
    for name in names() {
        let machine = read(&name);
        let printed = print(&machine);
        let again = parse(&printed, &mut |_| Err("nothing is like another".into()));
        assert_eq!(again, Ok(machine), "{printed}");
    }
}

#[test]
fn a_value_is_set_over_a_bundled_machine() {
    let text = text("multics-645").expect("a bundled machine");
    let sets = [("memory.frames", "512"), ("processors.speed", "2"), ("multiprogramming.limit", "3"), ("commands.*.cpu", "1s")];
    let sets = sets.map(|(key, value)| (key.to_string(), value.to_string()));
    let machine = parse_with(&text, &sets, &mut |like| self::text(like)).expect("a good machine");
    let Residence::Paging(paging) = &machine.residence else { panic!("{:?}", machine.residence) };
    assert_eq!((paging.frames, machine.processors.speed, &machine.limit), (512, 2.0, &EligibilityLimit::Fixed(3)));
    assert_eq!(machine.commands[machine.any_command.expect("it has one")].cpu.mean(), 1e9);
}

#[test]
fn however_slow_a_bundled_machine_goes_on_until_its_time_is_over() {
    for name in names() {
        for speed in [1e-300, 1e-15, 1e-12, 1e-9, 1e-6] {
            let mut machine = read(&name);
            machine.processors.speed = speed;
            let mut engine = Engine::new(&Arc::new(machine), 1).unwrap_or_else(|reason| panic!("{name} at {speed}: {reason}"));
            let before = work_on(&mut engine);
            assert!(engine.meters().at >= before);
            assert!(engine.trouble().is_none_or(|trouble| *trouble == EngineError::TimeLimit), "{name}: {:?}", engine.trouble());
        }
    }
}

/// Lets five users give one command after the other, until the time is over or many are answered. Returns the last instant.
fn work_on(engine: &mut Engine) -> u64 {
    (1..=5).for_each(|user| engine.attach(user).expect("room for five"));
    let (mut last, mut looks) = (0, 0);
    for _ in 0..1_000 {
        match engine.move_on(None) {
            Advance::Event(EngineEvent::Attached { user, at } | EngineEvent::Ready { user, at, .. }) => {
                last = at;
                engine.begin(user, 0, &[]);
            }
            Advance::NotYet if looks < 5 => looks += 1,
            Advance::NotYet => break,
            Advance::Nothing => {
                assert!(engine.trouble().is_some(), "users wait, and nothing comes");
                break;
            }
        }
    }
    last
}
