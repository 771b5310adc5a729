//! Swapping on the whole machine: CTSS's desk calculator among many users against the exact answer, and what onion skin saves.
//!
//! One program is in core memory at a time, so the machine is one server. An interaction takes it for 12 ms of work and for two
//! moves of 2241 words. With exponential think times, this is Takács' machine repairman with one repairman and any service law
//! (Introduction to the Theory of Queues, 1962, chapter 5).

use std::sync::Arc;

use crate::models::{exponential, machine, work};
use loadgo_machine::devices::{DrumSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Command, Discipline, Machine, Population, Residence, Store, Swapping, UserClass};

const WORK: f64 = 0.012;
const TRANSFER: f64 = 2241.0 / 33_800.0;
const REVOLUTION: f64 = 0.0172;
const THINK: f64 = 10.0;

/// CTSS with users of desk calculators.
fn ctss(users: u32, onion_skin: bool) -> Machine {
    let calculator = Command { image_words: AmountLaw::Fixed(1241.0), ..work("calculator", AmountLaw::Fixed(WORK * 1e9)) };
    let drum =
        StoreKind::Drum(DrumSpec { revolution_ns: (REVOLUTION * 1e9) as u64, sectors: None, words_per_second: Some(33_800.0) });
    Machine {
        residence: Residence::Swapping(Swapping { words: 32_768, store: 0, first: None, conditions_words: 1000, onion_skin }),
        stores: vec![Store { name: "drum".into(), kind: drum, interrupts: true }],
        ..machine(1, Discipline::FirstCome, calculator, Population::Closed(users), exponential(THINK))
    }
}

/// The Laplace transform of the law of an interaction's time on the machine.
///
/// The time has fixed work and transfers, and two latencies that are evenly distributed over a revolution.
fn transform(rate: f64) -> f64 {
    let latency = -(-rate * REVOLUTION).exp_m1() / (rate * REVOLUTION);
    (-rate * (WORK + 2.0 * TRANSFER)).exp() * latency * latency
}

/// Interactions a second by Takács' formula.
fn exact(users: u32) -> f64 {
    let service = WORK + 2.0 * TRANSFER + REVOLUTION;
    let (mut sum, mut term) = (0.0, 1.0);
    for returned in 0..users {
        sum += term;
        let rate = f64::from(returned + 1) / THINK;
        let chosen = f64::from(users - 1 - returned) / f64::from(returned + 1);
        term *= chosen * (1.0 - transform(rate)) / transform(rate);
    }
    let load = f64::from(users) / THINK * service * sum;
    load / (1.0 + load) / service
}

/// Number of interactions finished in each of 40 spans, after a first span that does not count.
struct SpanCounts {
    finished: [f64; 41],
}

const SPAN: u64 = 4_000;

impl InteractionSink for SpanCounts {
    fn finished(&mut self, _class: usize, at: u64, _response_ns: u64) -> bool {
        let span = (at / (SPAN * 1_000_000_000)) as usize;
        self.finished.get_mut(span).is_some_and(|finished| {
            *finished += 1.0;
            true
        })
    }
}

/// Throughput of the simulated machine, with its standard error.
fn simulated(machine: Machine) -> (f64, f64) {
    let mut spans = SpanCounts { finished: [0.0; 41] };
    simulate::run(&Arc::new(machine), 23, &mut spans).expect("the machine can be simulated");
    let rates: Vec<f64> = spans.finished[1..].iter().map(|finished| finished / SPAN as f64).collect();
    let mean = rates.iter().sum::<f64>() / 40.0;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 39.0;
    (mean, (variance / 40.0).sqrt())
}

#[test]
fn the_desk_calculator_among_many_users_has_its_exact_throughput() {
    for users in [40, 60, 80] {
        let (mean, error) = simulated(ctss(users, true));
        assert!(error < 0.003 * mean, "{users} users: {mean} ± {error} is too rough to tell");
        let exact = exact(users);
        assert!((mean - exact).abs() < 4.0 * error + 1e-4 * exact, "{users} users: {mean} ± {error} for {exact}");
    }
}

/// CTSS with 40 users of desk calculators and 4 users of a program of 20,000 words.
fn mixed(onion_skin: bool) -> Machine {
    let mut machine = ctss(40, onion_skin);
    let compiler = Command { image_words: AmountLaw::Fixed(20_000.0), ..machine.commands[0].clone() };
    machine.commands.push(compiler);
    let some = UserClass { population: Population::Closed(4), commands: vec![1], ..machine.load[0].clone() };
    machine.load.push(some);
    machine
}

#[test]
fn with_onion_skin_small_programs_do_not_wait_until_large_ones_are_dumped_whole() {
    let ((with, error), (without, _)) = (simulated(mixed(true)), simulated(mixed(false)));
    assert!(with > without + 8.0 * error, "{with} ± {error} with onion skin, {without} without");
}
