//! The engine against exact answers: open queues, machine repairmen, the central server by mean-value analysis.
//!
//! Each figure is a mean over batches of one run with a fixed seed, and must lie within four standard errors of the exact one.

use std::sync::Arc;

use crate::models::{SECOND, at_processors, at_store, central_server, exponential, machine, routed, server, work};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{Discipline, Machine, Population};

const BATCHES: usize = 30;

/// Sums of responses in batches with equal numbers of interactions, after the first interactions are dropped.
struct Batches {
    each: u64,
    dropped: u64,
    count: u64,
    sums: Vec<f64>,
    ends: Vec<u64>,
    began: u64,
}

impl InteractionSink for Batches {
    fn finished(&mut self, _class: usize, at: u64, response_ns: u64) -> bool {
        self.count += 1;
        if self.count <= self.dropped {
            self.began = at;
            return true;
        }
        let batch = ((self.count - self.dropped - 1) / self.each) as usize;
        self.sums.resize(batch + 1, 0.0);
        self.ends.resize(batch + 1, 0);
        self.sums[batch] += response_ns as f64 / 1e9;
        self.ends[batch] = at;
        self.count < self.dropped + self.each * BATCHES as u64
    }
}

struct Outcome {
    responses: Vec<f64>,
    throughputs: Vec<f64>,
    meters: MachineMeters,
}

fn run(machine: Machine, seed: u64, interactions: u64) -> Outcome {
    let each = interactions / BATCHES as u64;
    let mut batches = Batches { each, dropped: interactions / 10, count: 0, sums: vec![], ends: vec![], began: 0 };
    let meters = simulate::run(&Arc::new(machine), seed, &mut batches).unwrap();
    let begins = std::iter::once(&batches.began).chain(&batches.ends);
    let throughputs = batches.ends.iter().zip(begins).map(|(end, begin)| each as f64 / ((end - begin) as f64 / 1e9)).collect();
    Outcome { responses: batches.sums.iter().map(|sum| sum / each as f64).collect(), throughputs, meters }
}

/// Asserts that the mean of the batches is within four standard errors of the exact one, and the error below a tenth of it.
fn assert_mean_is(what: &str, batches: &[f64], exact: f64) {
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let variance = batches.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    assert!(error < 0.1 * exact, "{what}: {mean} give or take {error} says nothing");
    assert!((mean - exact).abs() < 4.0 * error + 1e-9 * exact, "{what}: {mean} give or take {error}, exactly {exact}");
}

fn open(count: u32, discipline: Discipline, rate: f64, service: AmountLaw) -> Machine {
    machine(count, discipline, work("job", service), Population::Open(rate), AmountLaw::ZERO)
}

#[test]
fn one_server_has_the_response_and_throughput_of_an_m_m_1_queue() {
    let outcome = run(open(1, Discipline::FirstCome, 0.8, exponential(1.0)), 1, 600_000);
    assert_mean_is("M/M/1 response", &outcome.responses, 5.0);
    assert_mean_is("M/M/1 throughput", &outcome.throughputs, 0.8);
}

#[test]
fn with_one_server_the_response_follows_pollaczek_and_khinchin_for_any_law_of_service() {
    for (service, wait) in
        [(AmountLaw::Fixed(1e9), 2.0), (AmountLaw::Erlang(2, 1e9), 3.0), (AmountLaw::Hyperexponential(1e9, 4.0), 10.0)]
    {
        let outcome = run(open(1, Discipline::FirstCome, 0.8, service.clone()), 2, 400_000);
        assert_mean_is(&format!("M/G/1 response with {service:?}"), &outcome.responses, wait + 1.0);
    }
}

#[test]
fn several_servers_have_erlangs_response() {
    for (count, rate, wait) in
        [(2, 1.6, 1.777_777_777_777_78), (8, 7.0, 0.635_316_017_536_429), (16, 15.0, 0.730_075_961_086_409)]
    {
        let outcome = run(open(count, Discipline::FirstCome, rate, exponential(1.0)), 3, 600_000);
        assert_mean_is(&format!("M/M/{count} response"), &outcome.responses, wait + 1.0);
    }
}

#[test]
fn a_store_with_two_servers_has_the_response_of_two_processors() {
    let stages = vec![at_store(0, exponential(1.0), &[(1.0, None)])];
    let mut model = machine(1, Discipline::FirstCome, routed("job", stages), Population::Open(1.6), AmountLaw::ZERO);
    model.stores = vec![server("io", 2)];
    let outcome = run(model, 4, 600_000);
    assert_mean_is("response of two servers of a store", &outcome.responses, 2.777_777_777_777_78);
}

#[test]
fn under_sharing_the_mean_response_does_not_depend_on_the_law_of_service() {
    for service in [AmountLaw::Fixed(1e9), exponential(1.0), AmountLaw::Hyperexponential(1e9, 4.0), AmountLaw::Pareto(1e9, 2.5)] {
        let outcome = run(open(1, Discipline::Sharing, 0.8, service.clone()), 5, 600_000);
        assert_mean_is(&format!("shared response with {service:?}"), &outcome.responses, 5.0);
    }
}

#[test]
fn with_exponential_work_the_mean_response_does_not_depend_on_the_discipline() {
    let long = Discipline::RoundRobin { quantum_ns: 3 * SECOND, switch_ns: 0, dispatch_ns: 0 };
    let short = Discipline::RoundRobin { quantum_ns: SECOND / 20, switch_ns: 0, dispatch_ns: 0 };
    let linux = Discipline::Linux { slice_ns: SECOND / 10, tick_ns: 0, switch_ns: 0, packs: false };
    let ctss = Discipline::Ctss { quantum_ns: SECOND / 5, words_per_quantum: 1000, levels: 9, rise_ns: 0 };
    let multics = Discipline::Multics { first_ns: SECOND, last_ns: SECOND, most_ns: 8 * SECOND };
    for discipline in [long, short, linux, ctss, multics] {
        let outcome = run(open(1, discipline.clone(), 0.8, exponential(1.0)), 6, 300_000);
        assert_mean_is(&format!("response under {discipline:?}"), &outcome.responses, 5.0);
    }
}

/// Mean responses of two classes, with priority 0 and 1. They arrive at 0.3 and 0.5 a second, with a mean work of 1 s.
fn by_class(preemptive: bool) -> [Vec<f64>; 2] {
    struct ByClass(Vec<[(f64, u64); 2]>, u64);
    impl InteractionSink for ByClass {
        fn finished(&mut self, class: usize, _at: u64, response_ns: u64) -> bool {
            self.1 += 1;
            let batch = (self.1 / 20_000) as usize;
            self.0.resize(batch + 1, [(0.0, 0); 2]);
            self.0[batch][class].0 += response_ns as f64 / 1e9;
            self.0[batch][class].1 += 1;
            batch < 32
        }
    }
    let mut model = open(1, Discipline::Priority { preemptive }, 0.3, exponential(1.0));
    model.commands.push(loadgo_machine::spec::Command { priority: 1, ..work("slow", exponential(1.0)) });
    let mut second = model.load[0].clone();
    second.population = Population::Open(0.5);
    second.commands = vec![1];
    model.load.push(second);
    let mut sink = ByClass(Vec::new(), 0);
    simulate::run(&Arc::new(model), 7, &mut sink).unwrap();
    [0, 1].map(|class| sink.0[2..32].iter().map(|batch| batch[class].0 / batch[class].1 as f64).collect())
}

#[test]
fn two_priorities_have_cobhams_responses() {
    let [first, second] = by_class(true);
    assert_mean_is("first class, pre-emptive", &first, 1.428_571_428_571_43);
    assert_mean_is("second class, pre-emptive", &second, 7.142_857_142_857_14);
    let [first, second] = by_class(false);
    assert_mean_is("first class", &first, 2.142_857_142_857_14);
    assert_mean_is("second class", &second, 6.714_285_714_285_71);
}

#[test]
fn users_who_think_have_the_response_of_the_machine_repairman_model() {
    for (users, count, throughput, response) in [
        (10, 1, 0.961_498_873_230_074, 0.400_428_204_773_494),
        (34, 1, 2.950_827_779_738_1, 1.522_190_564_105_93),
        (50, 2, 4.740_876_726_694_46, 0.546_572_476_450_384),
        (100, 2, 6.666_421_899_199_95, 5.000_550_747_020_85),
    ] {
        for quantum_ns in [SECOND / 20, SECOND] {
            let discipline = Discipline::RoundRobin { quantum_ns, switch_ns: 0, dispatch_ns: 0 };
            let model = machine(count, discipline, work("edit", exponential(0.3)), Population::Closed(users), exponential(10.0));
            let outcome = run(model, 8, 300_000);
            assert_mean_is(&format!("repairman {users}, {count} throughput"), &outcome.throughputs, throughput);
            assert_mean_is(&format!("repairman {users}, {count} response"), &outcome.responses, response);
        }
    }
}

#[test]
fn the_central_server_agrees_with_exact_mean_value_analysis() {
    for (users, throughput, response, busy, queue) in [
        (1, 0.092_592_592_592_592_6, 0.8, 0.027_777_777_777_777_8, 0.018_518_518_518_518_5),
        (10, 0.919_724_096_405_893, 0.872_825_925_816_337, 0.275_917_228_921_768, 0.219_580_736_450_642),
        (36, 2.954_218_527_486_34, 2.185_963_788_749_01, 0.886_265_558_245_903, 1.359_763_665_926_13),
        (50, 3.314_057_335_457_61, 5.087_246_519_558_47, 0.994_217_200_637_282, 1.930_401_444_069_55),
        (80, 3.333_333_136_731_54, 14.000_001_415_533, 0.999_999_941_019_463, 1.999_996_413_803_92),
    ] {
        let outcome = run(central_server(users), 9, 400_000);
        assert_mean_is(&format!("central server {users} throughput"), &outcome.throughputs, throughput);
        assert_mean_is(&format!("central server {users} response"), &outcome.responses, response);
        let meters = &outcome.meters;
        let at = meters.at as f64;
        let worked = meters.total_ns(Category::User) as f64 / at / 2.0;
        assert!((worked / busy - 1.0).abs() < 0.02, "{users}: processors are busy {worked}, exactly {busy}");
        let length = meters.stores[0].length_ns as f64 / at;
        assert!((length / queue - 1.0).abs() < 0.06, "{users}: {length} at the disk, exactly {queue}");
    }
}

#[test]
fn with_a_switch_for_every_quantum_the_saturated_throughput_is_exact() {
    let (work_s, quantum_s, switch_s) = (0.3, 0.1, 0.02);
    let discipline = Discipline::RoundRobin { quantum_ns: SECOND / 10, switch_ns: SECOND / 50, dispatch_ns: 0 };
    let model = machine(2, discipline, work("edit", exponential(work_s)), Population::Closed(200), exponential(10.0));
    let outcome = run(model, 10, 200_000);
    let exact = 2.0 / (work_s + switch_s / (1.0 - f64::exp(-quantum_s / work_s)));
    assert_mean_is("saturated throughput", &outcome.throughputs, exact);
}

#[test]
fn one_user_alone_pays_for_each_dispatch() {
    let (work_s, quantum_s, dispatch_s) = (0.8, 0.1, 0.015);
    let discipline = Discipline::RoundRobin { quantum_ns: SECOND / 10, switch_ns: 0, dispatch_ns: 15 * SECOND / 1_000 };
    let model = machine(1, discipline, work("edit", exponential(work_s)), Population::Closed(1), exponential(25.0));
    let outcome = run(model, 12, 200_000);
    let exact = work_s + dispatch_s / (1.0 - f64::exp(-quantum_s / work_s));
    assert_mean_is("response", &outcome.responses, exact);
}

#[test]
fn two_visits_in_a_row_to_the_processors_are_two_bursts() {
    let stages = vec![at_processors(exponential(0.1), &[(1.0, Some(1))]), at_processors(exponential(0.2), &[(1.0, None)])];
    let model = machine(1, Discipline::Sharing, routed("job", stages), Population::Closed(10), exponential(10.0));
    let outcome = run(model, 11, 300_000);
    assert_mean_is("throughput", &outcome.throughputs, 0.961_498_873_230_074);
}
