//! Demands that depend on the load of the processors (`cpu_when_busy`).

use std::sync::Arc;

use crate::models::{exponential, machine, work};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Command, Discipline, Machine, Population};

const MS: f64 = 1e6;
const DISCIPLINES: [Discipline; 3] = [
    Discipline::FirstCome,
    Discipline::Sharing,
    Discipline::Linux { slice_ns: 3_000_000, tick_ns: 0, switch_ns: 0, packs: false },
];

/// Two processors with users whose command takes 20 ms of an idle one.
fn loaded(discipline: Discipline, command: Command, users: u32) -> Machine {
    machine(2, discipline, command, Population::Closed(users), exponential(0.3))
}

/// Runs the machine for this number of interactions, and returns the processor time of each, in ns, with the load.
fn demand_and_load(machine: Machine, count: u64) -> (f64, f64) {
    let meters = run(machine, count);
    let busy_ns = meters.total_ns(Category::User) as f64;
    (busy_ns / count as f64, busy_ns / (meters.at as f64 * meters.time_ns.len() as f64))
}

fn run(machine: Machine, count: u64) -> MachineMeters {
    struct Counted(u64);
    impl InteractionSink for Counted {
        fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
            self.0 -= 1;
            self.0 > 0
        }
    }
    simulate::run(&Arc::new(machine), 7, &mut Counted(count)).expect("the machine works")
}

fn busy(cpu_ms: f64, when_busy: Option<f64>) -> Command {
    Command { cpu_when_busy: when_busy, ..work("edit", AmountLaw::Exponential(cpu_ms * MS)) }
}

#[test]
fn the_mean_demand_follows_the_load() {
    for discipline in DISCIPLINES {
        for users in [1, 8, 25, 60] {
            let machine = loaded(discipline.clone(), busy(20.0, Some(0.6)), users);
            let (demand_ns, load) = demand_and_load(machine, 60_000);
            let expected_ns = 20.0 * MS * (1.0 - 0.4 * load);
            assert!(
                (demand_ns / expected_ns - 1.0).abs() < 0.02,
                "{users} users, {discipline:?}, load {load:.3}: {demand_ns:.0} ns, not {expected_ns:.0}"
            );
        }
    }
}

#[test]
fn a_command_has_its_own_value_before_that_of_the_processors() {
    let of_all = |own| {
        let mut machine = loaded(Discipline::FirstCome, busy(20.0, own), 60);
        machine.processors.cpu_when_busy = Some(0.5);
        demand_and_load(machine, 20_000).0
    };
    let plain = demand_and_load(loaded(Discipline::FirstCome, busy(20.0, None), 60), 20_000).0;
    assert_eq!(of_all(Some(1.0)), plain);
    assert!(of_all(None) < 0.7 * plain);
}

#[test]
fn a_demand_that_is_the_same_under_any_load_changes_nothing() {
    for discipline in DISCIPLINES {
        let of = |when_busy| run(loaded(discipline.clone(), busy(20.0, when_busy), 40), 5_000).time_ns;
        assert_eq!(of(Some(1.0)), of(None), "{discipline:?}");
    }
}
