//! A simulated machine as the driver's system: it answers as a host does, and its meters add up.

use crate::virtual_host::{Kept, script};
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::{MeterRows, Outcome};
use loadgo_core::script::Script;
use loadgo_core::stop::StopRequest;
use loadgo_core::time::Instant;
use loadgo_machine::engine::Engine;
use loadgo_machine::file::parse;
use loadgo_machine::spec::Machine;
use loadgo_machine::system::{MachineSystem, SampleSink, unknown_commands};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

const MACHINE: &str = r#"
title = "A test's machine"
source = "assumed"
[processors]
discipline = "first-come"
[supervisor]
getwork = "1ms"
line_in = "2ms"
line_out = "3ms"
network_byte = "1ms"
[commands.work]
cpu = "100ms"
lines_out = 2
line_bytes = 10
[commands.send]
cpu = "0s"
network_bytes = "argument(1)"
[commands.long]
cpu = "1000s"
"#;

fn machine(text: &str) -> Arc<Machine> {
    Arc::new(parse(text, &mut |name| Err(format!("there is no {name}").into())).expect("the test's machine is right"))
}

/// Keeps every sample, and requests a stop after `stop_after` samples.
#[derive(Clone, Default)]
struct Samples {
    kept: Rc<RefCell<Vec<(Instant, MeterRows)>>>,
    stop_after: Option<usize>,
    stop: StopRequest,
}

impl SampleSink for Samples {
    fn sample(&mut self, at: Instant, sample: MeterRows) {
        self.kept.borrow_mut().push((at, sample));
        if self.stop_after.is_some_and(|count| self.kept.borrow().len() >= count) {
            self.stop.set();
        }
    }
}

struct Ran {
    kept: Kept,
    summary: SessionCounts,
    samples: Vec<(Instant, MeterRows)>,
}

fn ran(machine: &Arc<Machine>, script: &Script, load: &OfferedLoad, samples: Samples) -> Ran {
    let engine = Engine::new(machine, load.seed).expect("the machine is possible");
    let mut system = MachineSystem::new(engine, machine, samples.clone(), samples.stop.clone());
    let mut kept = Kept::default();
    let summary = drive(script, load, &mut system, &mut kept);
    assert_eq!(system.finish(), None);
    let samples = samples.kept.take();
    Ran { kept, summary, samples }
}

fn works() -> Script {
    script("think = \"exponential(1s)\"", "[\"work\", \"work\"]")
}

#[test]
fn a_user_alone_has_the_machine_to_himself() {
    let run = ran(&machine(MACHINE), &works(), &OfferedLoad::closed(1, 1), Samples::default());
    let first = &run.kept.rows[0];
    assert_eq!(run.summary.done, 1);
    let response = first.ready.unwrap() - first.sent;
    let least = 100_000_000 + 2_000_000 + 2 * 3_000_000;
    assert!(
        (least..=least + 2_000_000).contains(&response),
        "the work, the line in, two lines out, a dispatch or two: {response}"
    );
}

#[test]
fn the_same_seed_gives_the_same_rows_and_samples() {
    let of = |seed| ran(&machine(MACHINE), &works(), &OfferedLoad { seed, ..OfferedLoad::closed(5, 4) }, Samples::default());
    let (one, two, other) = (of(1), of(1), of(2));
    assert_eq!((one.kept.rows.clone(), one.samples), (two.kept.rows, two.samples));
    assert_ne!(one.kept.rows, other.kept.rows);
}

#[test]
fn spans_follow_each_other_and_each_processors_categories_add_up_to_them() {
    let run = ran(&machine(MACHINE), &works(), &OfferedLoad::closed(20, 10), Samples::default());
    let mut begin = Instant(0);
    for (at, sample) in &run.samples {
        let span = at.since(begin).0;
        assert!(sample.time.iter().all(|row| row.at == *at && row.span_ns == span));
        assert_eq!(sample.time.iter().map(|row| row.time_ns).sum::<u64>(), span);
        begin = *at;
    }
    let ends = run.kept.sessions.iter().map(|session| session.ended).max();
    assert_eq!(ends, Some(begin), "the last span ends with the run");
    let count = |name: &str| -> u64 {
        let rows = run.samples.iter().flat_map(|(_, sample)| &sample.primitives);
        rows.filter(|row| &*row.name == name && row.bucket_ns.is_none()).map(|row| row.count).sum()
    };
    assert_eq!((count("line in"), count("line out")), (20 * 10 * 2, 20 * 10 * 2 * 2));
}

#[test]
fn a_command_takes_its_arguments_from_a_line_that_was_typed_key_by_key() {
    let script = script("think = \"none\"\ntyping = \"10 chars/s\"", "[\"send 500\", \"send 100\"]");
    let run = ran(&machine(MACHINE), &script, &OfferedLoad::closed(1, 1), Samples::default());
    let responses: Vec<u64> = run.kept.rows.iter().map(|row| (row.ready.unwrap() - row.sent) / 1_000_000).collect();
    assert!((500..510).contains(&responses[0]) && (100..110).contains(&responses[1]), "{responses:?}");
}

#[test]
fn a_command_that_takes_too_long_is_given_up_and_the_user_goes_on() {
    let script = script("think = \"fixed(1s)\"\ntimeout = \"5s\"", "[\"long\", \"work\"]");
    let run = ran(&machine(MACHINE), &script, &OfferedLoad::closed(1, 2), Samples::default());
    let outcomes: Vec<Outcome> = run.kept.rows.iter().map(|row| row.outcome).collect();
    assert_eq!(outcomes, [Outcome::Timeout, Outcome::Ok, Outcome::Timeout, Outcome::Ok]);
    assert_eq!((run.summary.done, run.summary.died), (1, 0));
}

#[test]
fn a_stop_ends_the_run_where_it_is() {
    let stop = Samples { stop_after: Some(3), ..Samples::default() };
    let load = OfferedLoad { passes: None, ..OfferedLoad::closed(3, 1) };
    let run = ran(&machine(MACHINE), &works(), &load, stop);
    assert!(run.summary.stopped);
    assert!(run.kept.sessions.iter().all(|session| session.outcome == "stopped"));
    assert!(run.samples.last().unwrap().0 < Instant(10_000_000_000));
}

#[test]
fn a_message_names_the_commands_that_the_machine_does_not_know_and_those_that_it_knows() {
    let script = script("", "[\"work\", \"edit\", \"ls\", \"edit\"]");
    let message = unknown_commands(&script, &machine(MACHINE)).unwrap();
    assert!(message.starts_with("A test's machine does not know edit, ls: it knows work, send, long;"), "{message}");
    let any = format!("{MACHINE}[commands.\"*\"]\ncpu = \"1ms\"\n");
    assert_eq!(unknown_commands(&script, &machine(&any)), None);
}
