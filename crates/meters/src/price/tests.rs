//! Tests of the windows: their sums, and what this kernel clocks in them. Some need root.

use super::*;
use crate::programs::load::load;
use crate::wanted::{PROFILE_HZ, Tier};
use loadgo_sys::clock::thread_cpu_ns;

const CALL: CallPrice = CallPrice { each_ns: 50.0, error_ns: 2.0 };

#[test]
fn runs_are_summed_by_meter_with_the_price_of_their_calls() {
    let runs = |runs, run_ns| ProgramRuns { runs, run_ns };
    let sums = by_meter(
        [("queue", runs(3, 900), Some(CALL)), ("faults", runs(1, 200), None), ("queue", runs(1, 100), Some(CALL))].into_iter(),
    );
    let calls = CallPrice { each_ns: 200.0, error_ns: 8.0 };
    assert_eq!(
        sums,
        [
            PricedRuns { meter: "faults", runs: runs(1, 200), call: None },
            PricedRuns { meter: "queue", runs: runs(4, 1000), call: Some(calls) }
        ]
    );
}

#[test]
fn a_window_has_a_row_for_each_meter_on_the_clock_of_the_run() {
    let meters = vec![PricedRuns { meter: "queue", runs: ProgramRuns { runs: 4, run_ns: 1000 }, call: Some(CALL) }];
    let window = Window { end_ns: 5_000, length_ns: 40, busy_ns: 70, meters };
    let row = MeterPriceRow {
        at: Instant(4_000),
        span_ns: 40,
        busy_ns: 70,
        meter: "queue",
        runs: 4,
        run_ns: 1000,
        call_ns: Some(50),
        call_error_ns: Some(2),
    };
    assert_eq!(window.rows(1_000).collect::<Vec<_>>(), [row]);
}

/// The meters of a tier, whose windows the test clocks itself. These tests need root.
fn clocked(tier: Tier, profile_hz: Option<u32>) -> (Loaded, ClockedMeters) {
    let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), locks: false, profile_hz };
    let mut loaded = load(&wanted).unwrap_or_else(|refusal| panic!("this test needs root: {refusal}"));
    let calls = measure_calls(&mut loaded, &wanted);
    let ticking = Ticking::of(&mut loaded, &wanted).unwrap();
    let clocked = ClockedMeters::of(&loaded, &wanted, calls, ticking).unwrap();
    (loaded, clocked)
}

#[test]
fn a_window_clocks_every_run_within_it_and_the_busy_time() {
    const RENAMES: u64 = 1000;
    let (_loaded, clocked) = clocked(Tier::Cheap, None);
    let name = rustix::thread::name().unwrap();
    let mut own_ns = 0;
    let rename = || {
        let began = thread_cpu_ns();
        (0..RENAMES).for_each(|_| rustix::thread::set_name(&name).unwrap());
        own_ns = thread_cpu_ns() - began;
        false
    };
    let window = clocked.window(clocked.count(rename).unwrap(), None);
    let of_processes = window.meters.iter().find(|meter| meter.meter == "processes").unwrap();
    assert!(of_processes.runs.runs >= RENAMES, "{of_processes:?}");
    assert!(of_processes.runs.run_ns > 0 && of_processes.call.is_some(), "{of_processes:?}");
    assert!(window.busy_ns >= own_ns, "busy {} ns, of which {own_ns} are ours", window.busy_ns);
}

#[test]
fn every_meter_of_a_tier_has_a_price_with_its_calls() {
    let expected: [(Tier, Option<u32>, &[&str]); 3] = [
        (Tier::Cheap, None, &["processes", "queue", "total time", "waits by user"]),
        (Tier::Cheap, Some(PROFILE_HZ), &["clock profile", "processes", "queue", "segments", "total time", "waits by user"]),
        (
            Tier::Exact,
            Some(PROFILE_HZ),
            &["clock profile", "faults", "interrupts", "primitives", "processes", "queue", "total time", "waits by user"],
        ),
    ];
    for (tier, profile_hz, names) in expected {
        let (_loaded, clocked) = clocked(tier, profile_hz);
        let mut window = clocked.window(clocked.count(|| false).unwrap(), Some(9000.0));
        assert!(window.meters.iter().all(|meter| meter.call.is_some()), "{:?}", window.meters);
        window.meters.sort_by_key(|meter| meter.meter);
        assert_eq!(window.meters.iter().map(|meter| meter.meter).collect::<Vec<_>>(), names);
    }
}

#[test]
fn records_of_mappings_are_those_of_the_windows_share_of_the_time() {
    let (_loaded, mut clocked) = clocked(Tier::Cheap, Some(PROFILE_HZ));
    let (before, now) = (Recorded { at_ns: 1_000, count: 10 }, Recorded { at_ns: 9_000, count: 90 });
    assert_eq!(clocked.records_in(1_000, before, now), None);
    clocked.records = Some(MappingRecords { count: Arc::default(), each: Some(CALL) });
    let call = CallPrice { each_ns: 500.0, error_ns: 20.0 };
    let expected = PricedRuns { meter: "mapping records", runs: ProgramRuns { runs: 10, run_ns: 0 }, call: Some(call) };
    assert_eq!(clocked.records_in(1_000, before, now), Some(expected));
}

#[test]
fn a_tick_interrupts_a_thread_with_a_program_and_with_samples() {
    for profile_hz in [None, Some(PROFILE_HZ)] {
        let (_loaded, clocked) = clocked(Tier::Cheap, profile_hz);
        let mut clock = clocked.ticking.thread_clock().expect("the cheap meters have ticks").unwrap();
        let tick_ns = (0..1000).find_map(|_| clock.tick_ns()).expect("a millisecond of a thousand is undisturbed");
        assert!(tick_ns > 100.0, "an interrupt takes {tick_ns} ns");
    }
}
