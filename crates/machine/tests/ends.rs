//! Machines whose time or commands would not end: the run ends with a reason in words, or at the time that was asked for.

use std::sync::Arc;

use crate::models::{machine, server, work};
use crate::virtual_host::{Kept, script};
use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::OfferedLoad;
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::{InteractionRow, LostRow, MeterRows, Phase, Recorder, SessionRow};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::System as _;
use loadgo_core::time::Instant;
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Advance, Engine, EngineError};
use loadgo_machine::meters::MachineMeters;
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Command, Discipline, Machine, Population, Store};
use loadgo_machine::system::{self, MachineSystem};

const SECOND: u64 = 1_000_000_000;
const HOUR: f64 = 3600e9;

/// Ends a run after `left` interactions, or at the instant `ends_at`.
struct Finish {
    left: u64,
    ends_at: Option<u64>,
}

impl InteractionSink for Finish {
    fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
        self.left -= 1;
        self.left > 0
    }

    fn ends_at(&self) -> Option<u64> {
        self.ends_at
    }
}

fn run(machine: Machine) -> Result<MachineMeters, EngineError> {
    simulate::run(&Arc::new(machine), 1, &mut Finish { left: 1_000, ends_at: None })
}

fn run_until(machine: Machine, ends_at: u64) -> MachineMeters {
    simulate::run(&Arc::new(machine), 1, &mut Finish { left: u64::MAX, ends_at: Some(ends_at) }).unwrap()
}

fn users(count: u32, discipline: Discipline, cpu: AmountLaw) -> Machine {
    machine(1, discipline, work("work", cpu), Population::Closed(count), AmountLaw::Exponential(SECOND as f64))
}

#[test]
fn a_run_whose_time_would_exceed_292_years_fails_with_that_reason() {
    let slow = |discipline, speed| {
        let mut slow = users(3, discipline, AmountLaw::Exponential(SECOND as f64));
        slow.processors.speed = speed;
        slow
    };
    let mut long = users(3, Discipline::FirstCome, AmountLaw::Fixed(10_000.0 * HOUR));
    long.processors.speed = 0.001;
    let rare = machine(1, Discipline::FirstCome, work("work", AmountLaw::Fixed(1.0)), Population::Open(1e-12), AmountLaw::ZERO);
    let mut stored = users(3, Discipline::FirstCome, AmountLaw::Fixed(1.0));
    stored.commands[0].requests = vec![(0, AmountLaw::Fixed(1.0))];
    stored.stores = vec![Store {
        name: "disk".into(),
        kind: StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(1e30), servers: 1 }),
        interrupts: false,
    }];
    let linux = Discipline::Linux { slice_ns: u64::MAX, tick_ns: 0, switch_ns: 0, packs: false };
    for machine in [slow(Discipline::FirstCome, 1e-12), slow(linux, 1e-12), long, rare, stored] {
        assert_eq!(run(machine).unwrap_err(), EngineError::TimeLimit);
    }
    assert_eq!(run(slow(Discipline::Sharing, 1e-12)).unwrap_err(), EngineError::LongCommand);
}

#[test]
fn a_driven_machine_reports_that_its_time_is_over() {
    let mut slow = users(1, Discipline::FirstCome, AmountLaw::Fixed(SECOND as f64));
    slow.processors.speed = 1e-12;
    let mut engine = Engine::new(&Arc::new(slow), 1).unwrap();
    engine.attach(1).unwrap();
    engine.advance(None).expect("a process");
    engine.begin(1, 0, &[]);
    assert_eq!((engine.advance(Some(SECOND)), engine.now(), engine.trouble()), (None, SECOND, None));
    assert_eq!(engine.advance(None), None);
    assert_eq!(engine.trouble(), Some(&EngineError::TimeLimit));
    assert_eq!(engine.now(), SECOND);
}

#[test]
fn after_many_inner_events_the_engine_returns_to_its_caller() {
    let turns = Discipline::RoundRobin { quantum_ns: 1, switch_ns: 0, dispatch_ns: 0 };
    let mut engine = Engine::new(&Arc::new(users(1, turns, AmountLaw::Fixed(HOUR))), 1).unwrap();
    engine.attach(1).unwrap();
    engine.advance(None).expect("a process");
    engine.begin(1, 0, &[]);
    assert_eq!(engine.move_on(None), Advance::NotYet);
    assert_eq!(engine.move_on(Some(SECOND)), Advance::NotYet);
}

#[test]
fn a_pareto_law_without_a_tail_is_a_constant() {
    let mut stream = RandomStream::new(1, 1, StreamPurpose::Work);
    assert_eq!(AmountLaw::Pareto(1e9, 1e300).draw(&mut stream), 1e9);
    assert!(run(users(3, Discipline::FirstCome, AmountLaw::Pareto(1e9, 1e300))).is_ok());
}

#[test]
fn a_command_with_too_many_stops_is_refused_or_ends_the_run() {
    let asks = |law: AmountLaw| {
        let asks = Command { cpu: AmountLaw::Fixed(1e9), requests: vec![(0, law)], ..Command::without_work("asks") };
        let mut made = machine(1, Discipline::FirstCome, asks, Population::Closed(1), AmountLaw::Fixed(1e9));
        made.stores = vec![server("disk", 1)];
        made
    };
    let refused = run(asks(AmountLaw::Fixed(i64::MAX as f64))).unwrap_err().to_string();
    assert!(refused.contains("`requests`") && refused.contains("at most 1000000"), "{refused}");
    let drawn = run(asks(AmountLaw::Exponential(9e5))).unwrap_err();
    assert_eq!(drawn, EngineError::TooMany { command: "asks".into(), what: "requests", most: 1_000_000 });
    assert!(drawn.to_string().contains("more than 1000000 requests"), "{drawn}");
}

#[test]
fn a_run_of_a_given_time_ends_at_that_time() {
    let ten_hours = 36_000 * SECOND;
    let mut slow = users(3, Discipline::FirstCome, AmountLaw::Fixed(SECOND as f64));
    slow.processors.speed = 1e-9;
    assert_eq!(run_until(slow, ten_hours).at, ten_hours);
    let switching = Discipline::RoundRobin { quantum_ns: 1, switch_ns: 3_600 * SECOND, dispatch_ns: 0 };
    assert_eq!(run_until(users(3, switching, AmountLaw::Fixed(1e9)), ten_hours).at, ten_hours);
    let sharing = users(3, Discipline::Sharing, AmountLaw::Fixed(100.0 * HOUR));
    assert_eq!(run_until(sharing, ten_hours).at, ten_hours);
}

/// Keeps no sample.
struct NoMeters;

impl system::SampleSink for NoMeters {
    fn sample(&mut self, _at: Instant, _sample: MeterRows) {}
}

/// Requests a stop at the steady phase, which begins when both users have sent their line.
struct StopsAtSteady(StopRequest);

impl Recorder for StopsAtSteady {
    fn interaction(&mut self, _: &InteractionRow<'_>) {}
    fn session(&mut self, _: &SessionRow) {}
    fn lost(&mut self, _: &LostRow) {}
    fn phase(&mut self, phase: Phase, _: Instant) {
        if phase == Phase::Steady {
            self.0.set();
        }
    }
}

/// Lets two users type one line. Returns the counts, the last instant, and the reason why the machine could not go on.
fn typed_on(machine: Machine, stop: StopRequest, recorder: &mut impl Recorder) -> (SessionCounts, Instant, Option<String>) {
    let machine = Arc::new(machine);
    let mut system = MachineSystem::new(Engine::new(&machine, 1).unwrap(), &machine, NoMeters, stop);
    let line = script("think = \"none\"\ntimeout = \"10000h\"", "[\"work\"]");
    let summary = drive(&line, &OfferedLoad::closed(2, 1), &mut system, recorder);
    let at = system.now();
    let trouble = summary.stuck.clone();
    assert!(trouble.is_some() || system.finish().is_none(), "the machine's trouble is reported");
    (summary, at, trouble)
}

#[test]
fn a_stop_ends_lines_that_would_take_an_hour() {
    let turns = Discipline::RoundRobin { quantum_ns: 1, switch_ns: 0, dispatch_ns: 0 };
    let mut recorder = StopsAtSteady(StopRequest::default());
    let stop = recorder.0.clone();
    let (summary, at, trouble) = typed_on(users(1, turns, AmountLaw::Fixed(HOUR)), stop, &mut recorder);
    assert_eq!(summary.logged_in, 2);
    assert!(summary.stopped && summary.interactions == 0, "{summary:?}");
    assert!(at < Instant(SECOND), "{at:?}");
    assert_eq!(trouble, None);
}

#[test]
fn a_driven_run_whose_time_would_exceed_292_years_stops_with_that_reason() {
    let mut slow = users(1, Discipline::FirstCome, AmountLaw::Fixed(1e9));
    slow.processors.speed = 1e-18;
    slow.supervisor.process_creation_ns = SECOND;
    let (summary, _, trouble) = typed_on(slow, StopRequest::default(), &mut Kept::default());
    assert_eq!((summary.stopped, summary.interactions), (true, 0));
    assert!(trouble.is_some_and(|trouble| trouble.contains("292 years")));
}
