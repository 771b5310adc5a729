//! A machine that computes for long without an event for the driver ends at a request to stop.

use super::*;
use crate::draw::AmountLaw;
use crate::spec::*;
use loadgo_core::script::{ReadyRule, TypedForm};
use std::sync::Arc;

const SECOND_NS: u64 = 1_000_000_000;
const HOUR_NS: u64 = 3600 * SECOND_NS;

/// Drops every sample.
struct NoSamples;

impl SampleSink for NoSamples {
    fn sample(&mut self, _: Instant, _: MeterRows) {}
}

/// A processor whose turns last 1 ns, for a command of an hour: the driver gets no event for 3.6e12 turns.
fn busy_machine() -> Machine {
    let discipline = Discipline::RoundRobin { quantum_ns: 1, switch_ns: 0, dispatch_ns: 0 };
    Machine {
        title: "a busy machine".into(),
        source: "made for a test".into(),
        processors: ProcessorSpec { count: 1, speed: 1.0, instructions_per_second: None, discipline, cpu_when_busy: None },
        residence: Residence::Everything,
        limit: EligibilityLimit::None,
        stores: Vec::new(),
        supervisor: Supervisor::default(),
        tariff: Vec::new(),
        paging_wait_hour: 0.0,
        commands: vec![Command { cpu: AmountLaw::Fixed(HOUR_NS as f64), ..Command::without_work("work") }],
        any_command: None,
        load: Vec::new(),
        fit: None,
    }
}

/// Takes the next event that is due until `until`.
fn next(system: &mut MachineSystem<NoSamples>, until: Option<Instant>) -> Option<Event> {
    let mut events = Vec::new();
    system.wait(until, &mut events);
    events.pop()
}

#[test]
fn a_stop_ends_the_computing_of_a_machine_without_outer_events() {
    for until in [None, Some(HOUR_NS)] {
        let (machine, stop) = (Arc::new(busy_machine()), StopRequest::default());
        let engine = Engine::new(&machine, 1).expect("the machine is possible");
        let mut system = MachineSystem::new(engine, &machine, NoSamples, stop.clone());
        system.log_in(1);
        assert!(matches!(next(&mut system, None), Some(Event::LoggedIn { user: 1, .. })));
        system.send(
            1,
            SentLine {
                keys: b"work\n",
                form: TypedForm::Line,
                has_more: false,
                line: 1,
                command: "work",
                until: &ReadyRule::Mark,
            },
        );

        // `wait` would return at once. The request is to be read by the loop in which the machine computes.
        stop.set();
        let begin = system.now();
        assert_eq!(system.advance(until), None);
        assert!(begin < system.now() && system.now() < Instant(SECOND_NS), "{until:?}: {:?}", system.now());
        assert!(matches!(next(&mut system, until.map(Instant)), Some(Event::Stop { .. })), "{until:?}");
        assert_eq!(system.finish(), None);
    }
}
