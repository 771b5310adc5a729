//! The reference of machine files: every example on its page is a good machine and runs, every key and law that there is stands there.

use crate::cases;
use loadgo_core::stop::StopRequest;
use loadgo_machine::file::parse;
use loadgo_machine::spec::{Discipline, Machine, Population, Residence};
use loadgo_machine::study::{StudySubject, study};
use loadgo_statistics::StopRule;
use std::sync::Arc;

fn page() -> String {
    let path = format!("{}/../../docs/machines.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(text: &str) -> Machine {
    parse(text, &mut |name| Err(format!("there is no machine {name}").into()))
        .unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

fn examples() -> Vec<Machine> {
    let page = page();
    page.split("```toml\n").skip(1).map(|rest| read(rest.split("```\n").next().unwrap_or(rest))).collect()
}

#[test]
fn every_example_of_the_reference_is_a_machine_that_runs_under_its_own_load() {
    let until = StopRule::parse("interactions=2000").expect("a length");
    let examples = examples();
    assert_eq!(examples.len(), 3);
    for machine in examples {
        let title = machine.title.clone();
        let subject = StudySubject { machine: Arc::new(machine), seed: 1 };
        let report = study(&subject, 1, &until, &StopRequest::default()).unwrap_or_else(|reason| panic!("{title}: {reason}"));
        assert!(report.interactions >= 2000 && report.simulated_ns > 0, "{title}: {}", report.interactions);
    }
}

#[test]
fn the_smallest_machine_has_the_defaults_of_the_reference() {
    let smallest = &examples()[0];
    assert_eq!((smallest.processors.count, smallest.processors.speed), (1, 1.0));
    assert_eq!((&smallest.processors.discipline, &smallest.residence), (&Discipline::FirstCome, &Residence::Everything));
    assert_eq!((smallest.load[0].name.as_str(), smallest.load[0].population), ("users", Population::Closed(50)));
}

#[test]
fn every_law_of_the_reference_can_be_read() {
    let page = page();
    let laws: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(law, _)| law).collect();
    let laws: Vec<_> = laws.into_iter().filter(|law| law.contains('(') && law.ends_with(')')).collect();
    assert_eq!(laws.len(), 9, "{laws:?}");
    for law in laws {
        let key = if law.starts_with("geometric") { "pages" } else { "line_cpu" };
        read(&format!("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n{key} = '{law}'"));
    }
}

#[test]
fn every_key_that_a_machine_may_have_stands_in_the_reference() {
    let page = page();
    let missing: Vec<_> = cases::keys().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
