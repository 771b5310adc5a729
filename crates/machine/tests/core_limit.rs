//! A multiprogramming limit with a lifetime curve: the simulated machine against its exact Markov chain.
//!
//! Twenty users think for 15 s and ask for 1 s of work. At most m are multiprogrammed. Each of these has 150/m pages, and works
//! for e(150/m) between page faults. The curve e is Chamberlin's with b = 0.1 s and c = 40 pages. A fault takes v = 15 ms of the
//! processor and S = 25 ms of a drum. On this machine of 1969, more than two programs in memory are too many.

use std::sync::Arc;

use crate::markov_chain::Chain;
use crate::models::{exponential, machine, work};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{
    Discipline, EligibilityLimit, HeadwaySpec, Machine, Paging, Population, Replacement, Residence, Store, Supervisor,
};

const USERS: u32 = 20;
const THINK: f64 = 15.0;
const FRAMES: u32 = 150;
const FAULT: f64 = 0.015;
const DRUM: f64 = 0.025;
/// Number of Erlang stages that stand for the fixed processor time of a fault. So many stages are close to a fixed time.
const STAGES: u8 = 24;

/// Faults of an interaction when `most` processes are in memory.
fn faults(most: u32) -> f64 {
    let pages = f64::from(FRAMES) / f64::from(most);
    (1.0 + (40.0 / pages) * (40.0 / pages)) / (2.0 * 0.1)
}

/// The number of users who do not think, the number of those who wait for the drum, and the stage of the current fault.
///
/// At stage 0, the processor does a user's work.
type State = (u32, u32, u8);

/// Throughput of the exact chain in which the handling of a fault has this number of exponential stages.
fn exact(most: u32, stages: u8) -> f64 {
    let faults = faults(most);
    let moves = |(active, paging, stage): State| -> Vec<(State, f64)> {
        let in_memory = active.min(most);
        let mut moves = vec![
            ((active + 1, paging, stage), f64::from(USERS - active) / THINK),
            ((active, paging.saturating_sub(1), stage), if paging > 0 { 1.0 / DRUM } else { 0.0 }),
        ];
        if in_memory == paging {
            return moves;
        }
        let stage_rate = f64::from(stages) / FAULT;
        match stage {
            0 => moves.extend([((active, paging, 1), faults), ((active - 1, paging, 0), 1.0)]),
            last if last == stages => moves.push(((active, paging + 1, 0), stage_rate)),
            _ => moves.push(((active, paging, stage + 1), stage_rate)),
        }
        moves
    };
    let chain = Chain::reached((0, 0, 0), moves);
    chain
        .balance()
        .iter()
        .filter(|((active, paging, stage), _)| (*active).min(most) > *paging && *stage == 0)
        .map(|(_, part)| part)
        .sum()
}

/// Throughput of a simpler chain, in which a burst of work and the handling of the next fault are one exponential span.
fn exact_by_bursts(most: u32) -> f64 {
    let faults = faults(most);
    let burst = (1.0 + FAULT * faults) / (faults + 1.0);
    let moves = |(active, paging): (u32, u32)| {
        let works = if active.min(most) > paging { 1.0 / burst } else { 0.0 };
        vec![
            ((active + 1, paging), f64::from(USERS - active) / THINK),
            ((active, paging.saturating_sub(1)), if paging > 0 { 1.0 / DRUM } else { 0.0 }),
            ((active, paging + 1), works * faults / (faults + 1.0)),
            ((active.saturating_sub(1), paging), works / (faults + 1.0)),
        ]
    };
    let chain = Chain::reached((0, 0), moves);
    let works = |(active, paging): (u32, u32)| active.min(most) > paging;
    chain.balance().iter().filter(|(state, _)| works(*state)).map(|(_, part)| part / burst / (faults + 1.0)).sum()
}

/// The machine under test. Its command has more pages than there are frames, so its faults never cease.
fn limited(most: u32) -> Machine {
    let paging = Paging {
        frames: FRAMES,
        wired: 0,
        frame_words: 1024,
        replacement: Replacement::Equal,
        headway: HeadwaySpec::Chamberlin { b_ns: 0.1e9, c_pages: 40.0 },
        dirty: 0.0,
        store: 0,
        behind: None,
    };
    let drum = StoreKind::Server(ServerSpec { service: exponential(DRUM), servers: 1 });
    Machine {
        residence: Residence::Paging(paging),
        limit: EligibilityLimit::Fixed(most),
        stores: vec![Store { name: "drum".into(), kind: drum, interrupts: true }],
        supervisor: Supervisor { page_fault: vec![("all".into(), (FAULT * 1e9) as u64)], ..Supervisor::default() },
        ..machine(1, Discipline::FirstCome, work("work", exponential(1.0)), Population::Closed(USERS), exponential(THINK))
    }
}

/// Number of interactions finished in each of `most` equal spans, after a first span that does not count.
struct SpanCounts {
    span_ns: u64,
    finished: Vec<f64>,
    most: usize,
}

impl InteractionSink for SpanCounts {
    fn finished(&mut self, _class: usize, at: u64, _response_ns: u64) -> bool {
        let span = (at / self.span_ns) as usize;
        self.finished.resize(self.finished.len().max(span + 1), 0.0);
        self.finished[span] += 1.0;
        span <= self.most
    }
}

/// Throughput of the simulated machine over 40 spans, with its standard error.
fn simulated(most: u32) -> (f64, f64) {
    let mut spans = SpanCounts { span_ns: 5_000 * 1_000_000_000, finished: Vec::new(), most: 40 };
    simulate::run(&Arc::new(limited(most)), 17, &mut spans).expect("the machine can be simulated");
    let rates: Vec<f64> = spans.finished[1..=40].iter().map(|finished| finished / 5_000.0).collect();
    let mean = rates.iter().sum::<f64>() / 40.0;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 39.0;
    (mean, (variance / 40.0).sqrt())
}

/// The throughputs beside the limits were computed with another program, before this test was written.
#[test]
fn with_costly_faults_two_programs_in_memory_are_best() {
    let throughputs = [1, 2, 3, 4].map(exact_by_bursts);
    assert!(throughputs[1] > throughputs[0] && throughputs[1] > throughputs[2] && throughputs[2] > throughputs[3]);
    for (most, known) in [(2, 0.874), (8, 0.699), (10, 0.616)] {
        let exact = exact_by_bursts(most);
        assert!((exact - known).abs() < 0.0006, "m = {most}: {exact} for {known}");
    }
}

#[test]
fn a_limit_gives_the_throughput_of_its_exact_chain() {
    for most in [1, 2, 4, 8] {
        let exact = exact(most, STAGES);
        let (mean, error) = simulated(most);
        assert!(error < 0.004 * exact, "m = {most}: {mean} ± {error} is too rough to tell");
        assert!((mean - exact).abs() < 4.0 * error, "m = {most}: {mean} ± {error} for {exact}");
    }
}
