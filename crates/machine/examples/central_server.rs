//! How many events of the model a second: the closed central server with two processors in turn and a disk, all meters on.
//!
//!     cargo run --release --example central_server -- [USERS] [INTERACTIONS] [RUNS]

use std::sync::Arc;
use std::time::Instant;

use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::Machine;

#[path = "../tests/models/mod.rs"]
mod models;

/// Counts, and sums response times.
struct Count {
    most: u64,
    count: u64,
    sum_ns: u128,
}

impl InteractionSink for Count {
    fn finished(&mut self, _class: usize, _at: u64, response_ns: u64) -> bool {
        self.count += 1;
        self.sum_ns += u128::from(response_ns);
        self.count < self.most
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<f64>().expect("a number"));
    let users = arguments.next().unwrap_or(50.0) as u32;
    let interactions = arguments.next().unwrap_or(3e6) as u64;
    let runs = arguments.next().unwrap_or(5.0) as u64;
    let machine = Arc::new(models::central_server(users));
    let mut rates: Vec<f64> = (1..=runs).map(|seed| measure(&machine, seed, interactions)).collect();
    rates.sort_by(f64::total_cmp);
    println!("median {:.1} M events/s of {runs} runs, {users} users", rates[rates.len() / 2]);
}

fn measure(machine: &Arc<Machine>, seed: u64, interactions: u64) -> f64 {
    let mut count = Count { most: interactions, count: 0, sum_ns: 0 };
    let begun = Instant::now();
    let meters = simulate::run(machine, seed, &mut count).expect("a machine that works");
    let seconds = begun.elapsed().as_secs_f64();
    let rate = meters.events as f64 / seconds / 1e6;
    println!(
        "{} events in {seconds:.3} s: {rate:.1} M events/s; {:.2} an interaction, response {:.4} s, throughput {:.4}/s",
        meters.events,
        meters.events as f64 / count.count as f64,
        count.sum_ns as f64 / count.count as f64 / 1e9,
        count.count as f64 / (meters.at as f64 / 1e9),
    );
    rate
}
