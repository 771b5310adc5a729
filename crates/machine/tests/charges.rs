//! The payers of interrupts and of getwork: worked cases to the nanosecond, and any machine.

use std::sync::Arc;

use crate::models::{machine, server, work};
use crate::working_machine::machines;
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineError, EngineEvent};
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::spec::{Command, Discipline, GetworkCharge, InterruptCharge, Machine, Population};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// An answered command: its user, the response time, and the processor time that it was charged with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Answered {
    user: u32,
    at: u64,
    response_ns: u64,
    charged_ns: u64,
}

/// The answers of users who type these commands without thinking, and the meters from the first command on.
struct Run {
    answers: Vec<Answered>,
    before: MachineMeters,
    after: MachineMeters,
}

impl Run {
    fn charged_ns(&self) -> Vec<u64> {
        self.answers.iter().map(|answer| answer.charged_ns).collect()
    }

    fn spent_ns(&self, category: Category) -> u64 {
        self.after.total_ns(category) - self.before.total_ns(category)
    }

    fn interrupts_ns(&self) -> u64 {
        self.spent_ns(Category::Interrupt)
    }
}

/// Lets each user type the commands of its row. All users are on the machine before the first command.
fn run(machine: &Machine, rows: &[&[usize]]) -> Result<Run, EngineError> {
    let mut engine = Engine::new(&Arc::new(machine.clone()), 1)?;
    for user in 1..=rows.len() {
        engine.attach(user as u32).expect("there is room for each user");
    }
    for _ in rows {
        assert!(matches!(engine.advance(None), Some(EngineEvent::Attached { .. })), "each user gets a process");
    }
    let before = engine.meters();
    let mut began = vec![before.at; rows.len()];
    let mut typed = vec![1; rows.len()];
    for (user, row) in rows.iter().enumerate() {
        engine.begin(user as u32 + 1, row[0], &[]);
    }
    let mut answers = Vec::new();
    while let Some(event) = engine.advance(None) {
        let EngineEvent::Ready { user, at, answer } = event else { unreachable!("all users are there") };
        let index = user as usize - 1;
        let charged_ns = answer.usage.cpu_user_ns.unwrap() + answer.usage.cpu_system_ns.unwrap();
        answers.push(Answered { user, at, response_ns: at - began[index], charged_ns });
        began[index] = at;
        if let Some(command) = rows[index].get(typed[index]) {
            typed[index] += 1;
            engine.begin(user, *command, &[]);
        }
    }
    Ok(Run { answers, before, after: engine.meters() })
}

/// Two commands: `compute`, 10 ms of work; `ask`, a request of 3 ms to the disk and no work. An interrupt takes 1 ms.
fn asking(interrupt_charge: InterruptCharge) -> Machine {
    let discipline = Discipline::RoundRobin { quantum_ns: 4 * MS, switch_ns: 0, dispatch_ns: 0 };
    let compute = work("compute", AmountLaw::Fixed(1e7));
    let mut made = machine(1, discipline, compute, Population::Closed(2), AmountLaw::ZERO);
    made.load.clear();
    made.commands.push(Command { requests: vec![(0, AmountLaw::Fixed(1.0))], ..work("ask", AmountLaw::ZERO) });
    made.stores = vec![server("disk", 1)];
    made.stores[0].kind = StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(3e6), servers: 1 });
    made.supervisor.device_interrupt_ns = MS;
    made.supervisor.interrupt_charge = interrupt_charge;
    made
}

#[test]
fn an_interrupt_is_charged_to_the_process_that_it_interrupts() {
    // The disk interrupts the first quantum of `compute`, which ends at 4 ms; the interrupt is handled until 5 ms.
    for (charge, computing) in [(InterruptCharge::Nobody, 10 * MS), (InterruptCharge::Interrupted, 11 * MS)] {
        let run = run(&asking(charge), &[&[1], &[0]]).unwrap();
        let ends: Vec<_> = run.answers.iter().map(|answer| (answer.user, answer.at)).collect();
        assert_eq!(ends, [(1, 5 * MS), (2, 11 * MS)], "who is charged changes no instant");
        assert_eq!(run.charged_ns(), [0, computing]);
        assert_eq!(run.interrupts_ns(), MS);
    }
}

#[test]
fn an_interrupt_of_an_idle_processor_is_charged_to_nobody() {
    let run = run(&asking(InterruptCharge::Interrupted), &[&[1]]).unwrap();
    assert_eq!((run.charged_ns(), run.interrupts_ns()), (vec![0], MS));
}

#[test]
fn an_interrupt_after_the_last_segment_is_not_charged_to_an_answer_that_is_given() {
    // A quantum of 20 ms: `compute` is done at 10 ms, and only then the interrupt of 3 ms is handled.
    let mut made = asking(InterruptCharge::Interrupted);
    made.processors.discipline = Discipline::RoundRobin { quantum_ns: 20 * MS, switch_ns: 0, dispatch_ns: 0 };
    let run = run(&made, &[&[1], &[0]]).unwrap();
    assert_eq!(run.charged_ns(), [10 * MS, 0]);
    assert_eq!(run.answers[0].response_ns, 10 * MS, "a process is never charged more than its response");
}

#[test]
fn getwork_is_charged_to_the_process_that_gets_the_processor_or_to_nobody() {
    // Two processes take turns of 4 ms for 10 ms each: six turns, and 1 ms before each.
    for (charge, each) in [(GetworkCharge::Next, 13 * MS), (GetworkCharge::Nobody, 10 * MS)] {
        let mut made = asking(InterruptCharge::Nobody);
        (made.supervisor.getwork_ns, made.supervisor.getwork_charge) = (MS, charge);
        let run = run(&made, &[&[0], &[0]]).unwrap();
        assert_eq!(run.spent_ns(Category::Getwork), 6 * MS);
        assert_eq!(run.charged_ns(), [each, each]);
        assert_eq!(run.answers.iter().map(|answer| answer.at - run.before.at).max(), Some(26 * MS));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_global_rejects: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn charges_change_no_instant_and_charge_no_more_than_was_spent(made in machines()) {
        let rows: [&[usize]; 2] = [&[0, 0, 3, 0], &[1, 0, 3, 1, 0]];
        let with = |interrupt_charge, getwork_charge| {
            let mut made = made.clone();
            // Whoever is charged for a path is charged for the wait for its lock, too: tests/locks.rs.
            made.supervisor.locks.clear();
            (made.supervisor.interrupt_charge, made.supervisor.getwork_charge) = (interrupt_charge, getwork_charge);
            run(&made, &rows).map_err(|error| TestCaseError::reject(error.to_string()))
        };
        let nobody = with(InterruptCharge::Nobody, GetworkCharge::Nobody)?;
        let interrupted = with(InterruptCharge::Interrupted, GetworkCharge::Nobody)?;
        let next = with(InterruptCharge::Nobody, GetworkCharge::Next)?;
        let total = |run: &Run| run.charged_ns().iter().sum::<u64>();
        for other in [&interrupted, &next] {
            prop_assert_eq!(&nobody.after.time_ns, &other.after.time_ns);
            for (plain, charged) in nobody.answers.iter().zip(&other.answers) {
                prop_assert_eq!((plain.user, plain.at, plain.response_ns), (charged.user, charged.at, charged.response_ns));
                prop_assert!(plain.charged_ns <= charged.charged_ns);
            }
        }
        prop_assert!(total(&interrupted) <= total(&nobody) + nobody.interrupts_ns());
        if nobody.spent_ns(Category::Getwork) > 0 && made.processors.discipline != Discipline::Sharing {
            prop_assert_eq!(total(&next), total(&nobody) + nobody.spent_ns(Category::Getwork));
        }
    }
}
