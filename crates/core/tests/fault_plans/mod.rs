//! Whole loads in virtual time, each with faults that are drawn from a seed, and what must hold after any of them.
//!
//! `LOADGO_FAULT_PLANS=10000` tries that many seeds, and `LOADGO_FAULT_SEED=17` tries that one alone and prints its plan.

mod drawn_plan;
mod promises;

use crate::virtual_host::{Enough, Kept, VirtualHost};
use drawn_plan::Plan;
use loadgo_core::driver::{SessionCounts, drive};

/// The records, the counts and the system that a plan's load left.
struct Ended {
    kept: Kept,
    counts: SessionCounts,
    host: VirtualHost,
    /// Number of lines that the host was sent.
    sent_lines: u64,
}

fn run(plan: &Plan) -> Ended {
    let (mut host, sent_lines) = plan.host();
    let mut recorder = Enough { kept: Kept::default(), after: plan.enough_after.unwrap_or(usize::MAX) };
    let counts = drive(&plan.script(), &plan.load, &mut host, &mut recorder);
    Ended { kept: recorder.kept, counts, host, sent_lines: sent_lines.get() }
}

/// The first promise that the load of `seed` breaks, in words; `None` if it keeps all.
fn broken_promise(seed: u64) -> Option<String> {
    let plan = Plan::drawn(seed);
    let tried = std::panic::catch_unwind(|| {
        let ended = run(&plan);
        promises::broken(&plan, &ended).or_else(|| promises::differs_from(&ended, &run(&plan)))
    });
    tried.unwrap_or_else(|_| Some("the driver panicked".into()))
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, and not {text}")))
}

#[test]
fn every_load_keeps_the_drivers_promises_whatever_goes_wrong() {
    let seeds = match number("LOADGO_FAULT_SEED") {
        Some(seed) => {
            println!("{:#?}", Plan::drawn(seed));
            seed..seed + 1
        }
        None => 0..number("LOADGO_FAULT_PLANS").unwrap_or(500),
    };
    let broken: Vec<String> =
        seeds.filter_map(|seed| Some(format!("LOADGO_FAULT_SEED={seed}: {}", broken_promise(seed)?))).collect();
    assert!(broken.is_empty(), "{} plans:\n{}", broken.len(), broken[..broken.len().min(20)].join("\n"));
}

#[test]
fn the_plans_have_every_kind_of_fault_and_of_end() {
    let ends: Vec<Ended> = (0..200).map(|seed| run(&Plan::drawn(seed))).collect();
    let some = |what: &str, is: &dyn Fn(&Ended) -> bool| {
        let count = ends.iter().filter(|ended| is(ended)).count();
        assert!(count >= 10, "{count} of 200 plans have {what}");
    };
    some("a death", &|ended| ended.counts.died > 0);
    some("a refused log-in", &|ended| ended.counts.refused > 0);
    some("a stop", &|ended| ended.counts.stopped);
    some("a system that is stuck", &|ended| ended.counts.stuck.is_some());
    some("a session that was hung up", &|ended| !ended.host.hung_up.is_empty());
    some("a line that timed out", &|ended| !ended.host.interrupts.is_empty());
    some("a line sent late", &|ended| ended.kept.rows.iter().any(|row| row.sent > row.planned));
    some("interactions cut by a stop", &|ended| ended.kept.lost.iter().any(|lost| lost.what == "interaction"));
    some("nothing lost", &|ended| ended.kept.lost.is_empty());
}
