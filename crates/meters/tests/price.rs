//! The price of the meters on this kernel, from random windows. Needs root.

use loadgo_core::record::MeterPriceRow;
use loadgo_core::time::Instant;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeSet;
use std::time::Duration;

/// Runs the cheap meters until they have clocked some windows.
fn windows(count: usize) -> (Vec<MeterPriceRow>, u64, u64) {
    let origin_ns = monotonic_ns() - 5_000_000_000; // the run's clock differs from the machine's
    let now = || Instant(monotonic_ns() - origin_ns);
    let wanted = MeterRequest { tier: Tier::Cheap, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
    let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("this test needs root: {refusal}"));
    let (began, mut rows) = (now().0, Vec::new());
    while ends(&rows).len() < count {
        std::thread::sleep(Duration::from_millis(100));
        rows.extend(meters.sample(now()).expect("the kernel answers").meter_price);
        assert!(now().0 - began < 120_000_000_000, "{count} windows take some {count} s, and {} came", ends(&rows).len());
    }
    assert_eq!(meters.take_lost(), []);
    (rows, began, now().0)
}

fn ends(rows: &[MeterPriceRow]) -> BTreeSet<u64> {
    rows.iter().map(|row| row.at.0).collect()
}

#[test]
fn windows_lie_in_the_run_do_not_overlap_and_end_with_the_meters() {
    let (rows, began, ended) = windows(4);
    let mut last = 0;
    for end in ends(&rows) {
        let of_window: Vec<&MeterPriceRow> = rows.iter().filter(|row| row.at.0 == end).collect();
        let names: Vec<&str> = of_window.iter().map(|row| row.meter).collect();
        assert_eq!(names, ["clock", "processes", "queue", "total time", "waits by user"]);
        let span_ns = of_window[0].span_ns;
        assert!(end - span_ns >= last && end <= ended, "{end} after {last}, in a run until {ended}");
        assert!(of_window.iter().all(|row| row.span_ns == span_ns && row.busy_ns == of_window[0].busy_ns));
        assert!(of_window[0].busy_ns > 0 && of_window.iter().any(|row| row.run_ns > 0), "{of_window:?}");
        last = end;
    }
    assert!(last > began);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let open: Vec<_> = open.filter(|target| target.to_string_lossy().contains("bpf")).collect();
    assert_eq!(open, [] as [std::path::PathBuf; 0], "nothing stays behind that lets the kernel count");
}
