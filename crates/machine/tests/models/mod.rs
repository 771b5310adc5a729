//! Machines whose answers are known, made without a file.
#![allow(dead_code)] // the examples use a part

use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::spec::{
    Command, Discipline, EligibilityLimit, Machine, Population, ProcessorSpec, Residence, Route, RouteStage, Store, Supervisor,
    UserClass,
};

/// A second.
pub const SECOND: u64 = 1_000_000_000;

/// An exponential law with a mean in seconds.
pub fn exponential(mean_s: f64) -> AmountLaw {
    AmountLaw::Exponential(mean_s * 1e9)
}

/// A command that only needs processor time.
pub fn work(name: &str, cpu: AmountLaw) -> Command {
    Command { cpu, ..Command::without_work(name) }
}

/// A command that follows a route.
pub fn routed(name: &str, stages: Vec<RouteStage>) -> Command {
    Command { route: Some(Route { stages }), ..Command::without_work(name) }
}

/// A visit to the processors.
pub fn at_processors(service: AmountLaw, then: &[(f64, Option<usize>)]) -> RouteStage {
    RouteStage { store: None, service, then: then.to_vec() }
}

/// A visit to a store.
pub fn at_store(store: usize, service: AmountLaw, then: &[(f64, Option<usize>)]) -> RouteStage {
    RouteStage { store: Some(store), service, then: then.to_vec() }
}

/// A store with this number of servers, whose service times come from the routes.
pub fn server(name: &str, servers: u32) -> Store {
    Store { name: name.into(), kind: StoreKind::Server(ServerSpec { service: AmountLaw::ZERO, servers }), interrupts: true }
}

/// A machine with all programs in memory, a supervisor that costs nothing, one command, and one class of users.
pub fn machine(count: u32, discipline: Discipline, command: Command, population: Population, think: AmountLaw) -> Machine {
    Machine {
        title: "a model".into(),
        source: "made for a test".into(),
        processors: ProcessorSpec { count, speed: 1.0, instructions_per_second: None, discipline, cpu_when_busy: None },
        residence: Residence::Everything,
        limit: EligibilityLimit::None,
        stores: Vec::new(),
        supervisor: Supervisor::default(),
        tariff: Vec::new(),
        paging_wait_hour: 0.0,
        commands: vec![command],
        any_command: None,
        load: vec![UserClass { name: "all".into(), population, think, commands: vec![0] }],
        fit: None,
    }
}

/// The closed central server: 2 processors in turn with a quantum of 0.1 s, and a disk with a service of 0.2 s.
///
/// Users think for 10 s. A visit to the processors takes 0.3 s. After it, half of the visits go to the disk.
pub fn central_server(users: u32) -> Machine {
    let stages =
        vec![at_processors(exponential(0.3), &[(0.5, Some(1)), (0.5, None)]), at_store(0, exponential(0.2), &[(1.0, Some(0))])];
    let discipline = Discipline::RoundRobin { quantum_ns: SECOND / 10, switch_ns: 0, dispatch_ns: 0 };
    Machine {
        stores: vec![server("disk", 1)],
        ..machine(2, discipline, routed("transaction", stages), Population::Closed(users), exponential(10.0))
    }
}
