//! Processor time and requests that are drawn together (`request_correlation`).
//!
//! One user has a store without a queue, whose every request takes a second, and works for less than one. So a response tells both:
//! its whole seconds are the requests, and the rest is the processor time.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::models::{SECOND, machine, server, work};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Command, Discipline, Machine, Population, Store};

const INTERACTIONS: usize = 20_000;
/// Five standard deviations of a share of the interactions.
const FAR: f64 = 0.018;
const WORK: AmountLaw = AmountLaw::Uniform(0.0, 0.9e9);

/// A command with these requests.
fn joint(requests: AmountLaw, correlation: Option<f64>) -> Command {
    Command { requests: vec![(0, requests)], request_correlation: correlation, ..work("read", WORK) }
}

/// A machine with one user of the command.
fn machine_of(command: Command) -> Machine {
    let mut made = machine(1, Discipline::FirstCome, command, Population::Closed(1), AmountLaw::Fixed(1e6));
    let service = ServerSpec { service: AmountLaw::Fixed(SECOND as f64), servers: 1 };
    made.stores = vec![Store { kind: StoreKind::Server(service), ..server("disk", 1) }];
    made
}

/// The processor time in seconds and the number of requests of each interaction.
fn drawn(command: Command) -> Vec<(f64, u64)> {
    struct Responses(Vec<u64>);
    impl InteractionSink for Responses {
        fn finished(&mut self, _class: usize, _at: u64, response_ns: u64) -> bool {
            self.0.push(response_ns);
            self.0.len() < INTERACTIONS
        }
    }
    let mut responses = Responses(Vec::new());
    simulate::run(&Arc::new(machine_of(command)), 11, &mut responses).expect("the machine works");
    responses.0.iter().map(|ns| ((ns % SECOND) as f64 / SECOND as f64, ns / SECOND)).collect()
}

fn share(pairs: &[(f64, u64)], of: impl Fn(&(f64, u64)) -> bool) -> f64 {
    pairs.iter().filter(|pair| of(pair)).count() as f64 / pairs.len() as f64
}

#[test]
fn the_draws_have_the_correlation_and_each_its_own_law() {
    let one_of_two = || AmountLaw::Empirical(vec![3.0, 0.0]);
    for correlation in [-1.0, -0.6, 0.0, 0.3, 0.7, 1.0] {
        let pairs = drawn(joint(one_of_two(), Some(correlation)));
        // Sheppard 1899: normal variables of this correlation are both above their medians so often.
        let expected = 0.25 + libm::asin(correlation) / TAU;
        let both = share(&pairs, |(cpu, requests)| *cpu > 0.45 && *requests == 3);
        assert!((both - expected).abs() < FAR, "at {correlation}: {both} and not {expected}");
        for (limit, expected) in [(0.09, 0.1), (0.45, 0.5), (0.81, 0.9)] {
            assert!((share(&pairs, |(cpu, _)| *cpu < limit) - expected).abs() < FAR, "processor times at {correlation}");
        }
        assert!((share(&pairs, |(_, requests)| *requests == 0) - 0.5).abs() < FAR, "requests at {correlation}");
    }
}

#[test]
fn a_geometric_number_and_a_fraction_keep_their_means() {
    for (law, mean) in [(AmountLaw::Geometric(4.0), 4.0), (AmountLaw::Fixed(2.3), 2.3), (AmountLaw::Uniform(0.0, 3.0), 1.5)] {
        for correlation in [-0.8, 0.9, 1.0] {
            let pairs = drawn(joint(law.clone(), Some(correlation)));
            let found = pairs.iter().map(|(_, requests)| *requests as f64).sum::<f64>() / pairs.len() as f64;
            assert!((found / mean - 1.0).abs() < 0.03, "{law:?} at {correlation}: {found} requests and not {mean}");
            let split =
                |above: bool| pairs.iter().filter(move |(cpu, _)| (*cpu > 0.45) == above).map(|(_, count)| *count).sum::<u64>();
            assert_eq!(split(true) > split(false), correlation > 0.0, "{law:?} at {correlation}");
        }
    }
}

#[test]
fn without_the_key_they_are_independent() {
    let pairs = drawn(joint(AmountLaw::Empirical(vec![3.0, 0.0]), None));
    assert!((share(&pairs, |(cpu, requests)| *cpu > 0.45 && *requests == 3) - 0.25).abs() < FAR);
}

#[test]
fn a_machine_that_was_not_read_from_a_file_is_checked_too() {
    let refusal = |command| simulate::run(&Arc::new(machine_of(command)), 1, &mut Once).expect_err("it is refused").to_string();
    struct Once;
    impl InteractionSink for Once {
        fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
            false
        }
    }
    for wrong in [1.5, -2.0, f64::NAN] {
        let said = refusal(joint(AmountLaw::Fixed(1.0), Some(wrong)));
        assert!(said.contains("`request_correlation`") && said.contains("from -1 to 1"), "{said}");
    }
    let said = refusal(Command { request_correlation: Some(0.5), ..work("read", WORK) });
    assert!(said.contains("needs `requests`"), "{said}");
}
