//! The sampled tier on this host: what its windows estimate is what programs did. Needs root.

use loadgo_core::record::{MeterRows, MeterWindowRow, PrimitiveRow};
use loadgo_core::time::Instant;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use rustix::process::getppid;
use std::hint::black_box;
use std::io::{Read, stdin};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant as HostInstant};

/// Number of windows in a test.
const WINDOWS_COUNT: usize = 5;
/// Longest time in which they come.
const WINDOWS_TIME: Duration = Duration::from_secs(180);

/// Calls in a hundredth of a second of the load `call`.
const CALLS_PER_ROUND: u64 = 2000;

/// Threads of the load `sleep`, so that some sleep ends in any window.
const SLEEPERS_COUNT: u32 = 40;

/// A load that the tests run in a process of its own, until its input ends: `LOADGO_LOAD` has its name. It prints how often it did a thing, and in
/// how many seconds.
#[test]
#[ignore = "a load of the other tests"]
fn load() {
    let name = std::env::var("LOADGO_LOAD").expect("LOADGO_LOAD names the load");
    let (each, round_time) = if name == "call" { (CALLS_PER_ROUND, 10) } else { (1, 200) };
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    std::thread::spawn(move || {
        let _ = stdin().read_to_end(&mut Vec::new());
        over.store(true, Relaxed);
    });
    let sleepers = if name == "call" { 0 } else { SLEEPERS_COUNT };
    for number in 0..sleepers {
        std::thread::spawn(move || {
            sleep(Duration::from_millis(200) * number / SLEEPERS_COUNT); // so that they do not end together
            loop {
                sleep(Duration::from_millis(200));
            }
        });
    }
    let (began, mut rounds) = (HostInstant::now(), 0u32);
    while !is_over.load(Relaxed) {
        rounds += 1;
        (0..each).for_each(|_| _ = black_box(getppid()));
        sleep((Duration::from_millis(round_time) * rounds).saturating_sub(began.elapsed()));
    }
    println!("\ndid {} in {}", u64::from(rounds) * each, began.elapsed().as_secs_f64());
}

/// A load at work, until its input ends.
struct Load(Child);

impl Load {
    fn begin(name: &str) -> Load {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args(["--ignored", "--exact", "--nocapture", "load"]).env("LOADGO_LOAD", name);
        Load(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the load starts"))
    }

    /// Ends the load. Returns how often it did its thing in a second.
    fn rate(self) -> f64 {
        let output = self.0.wait_with_output().expect("the load ends"); // which closes its input
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let words: Vec<&str> =
            text.lines().find_map(|line| line.strip_prefix("did ")).expect("it says so").split(" in ").collect();
        words[0].parse::<f64>().expect("a count") / words[1].parse::<f64>().expect("a time")
    }
}

/// The rows of windows, beside a load that does one thing again and again, and how often it did in a second.
fn windows(load: &str) -> (MeterRows, f64) {
    let now = || Instant(monotonic_ns());
    let load = Load::begin(load);
    let wanted = MeterRequest { tier: Tier::Sampled, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
    let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("this test needs root: {refusal}"));
    let (began, mut rows) = (HostInstant::now(), MeterRows::default());
    while rows.meter_windows.len() < WINDOWS_COUNT {
        assert!(began.elapsed() < WINDOWS_TIME, "{:?}", rows.meter_windows);
        sleep(Duration::from_millis(100));
        let mut sample = meters.sample(now()).expect("the kernel answers");
        rows.meter_windows.append(&mut sample.meter_windows);
        rows.primitives.append(&mut sample.primitives);
        rows.faults.append(&mut sample.faults);
    }
    assert_eq!(meters.take_lost(), []);
    (rows, load.rate())
}

/// The sums of a call in each window.
fn sums(rows: &MeterRows, name: &str) -> Vec<(MeterWindowRow, PrimitiveRow)> {
    let row_of = |window: &MeterWindowRow| {
        rows.primitives.iter().find(|row| row.at == window.at && &*row.name == name && row.bucket_ns.is_none()).cloned()
    };
    rows.meter_windows.iter().filter_map(|window| Some((*window, row_of(window)?))).collect()
}

/// The mean rate of windows, and its standard error.
fn mean_rate(of_windows: &[f64]) -> (f64, f64) {
    let count = of_windows.len() as f64;
    let mean = of_windows.iter().sum::<f64>() / count;
    let variance = of_windows.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

#[test]
fn the_rate_of_short_calls_in_windows_is_that_of_the_program() {
    let (rows, rate) = windows("call");
    let calls = sums(&rows, "getppid");
    assert_eq!(calls.len(), WINDOWS_COUNT, "the program calls in each window");
    let metered: Vec<f64> = calls.iter().map(|(window, row)| row.count as f64 / window.span_ns as f64 * 1e9).collect();
    let (mean, error) = mean_rate(&metered);
    assert!((mean - rate).abs() < 0.1 * rate + 6.0 * error, "{mean} ± {error} a second, and truly {rate}");
    for (window, row) in calls {
        let each_ns = row.time_ns.expect("calls are clocked") / row.count;
        assert!((20..20_000).contains(&each_ns), "{each_ns} ns each in {window:?}");
    }
}

#[test]
fn calls_longer_than_a_window_count_where_they_return() {
    let (rows, rounds_a_second) = windows("sleep");
    let sleeps = sums(&rows, "clock_nanosleep");
    // Of forty sleeps of 200 ms some end in each window of 50 ms, but where other programs keep the sleepers waiting for so long.
    let mean =
        sleeps.iter().map(|(window, row)| row.count as f64 / window.span_ns as f64 * 1e9).sum::<f64>() / WINDOWS_COUNT as f64;
    let own = f64::from(SLEEPERS_COUNT) * rounds_a_second; // on a busy host each thread sleeps as much too long as the main one
    assert!(mean > own / 4.0, "{mean} sleeps a second end in windows, of {own} or more");
    for (window, row) in &sleeps {
        let used_ns = row.time_ns.expect("its processor time is known");
        assert!(used_ns < window.span_ns, "the sleep itself takes no processor: {used_ns} ns in {window:?}");
    }
}

#[test]
fn windows_do_not_overlap_and_each_row_is_of_one() {
    let (rows, _) = windows("call");
    let mut last_ns = 0;
    for window in &rows.meter_windows {
        assert!(window.at.0 - window.span_ns >= last_ns, "{window:?} after {last_ns}");
        assert!(window.span_ns >= 40_000_000 && window.stretch_ns >= 1_000_000_000, "{window:?}");
        last_ns = window.at.0;
    }
    let stray = rows.primitives.iter().filter(|row| rows.meter_windows.iter().all(|window| window.at != row.at)).count();
    assert_eq!(stray, 0, "each row is of a window");
    assert!(rows.faults.iter().any(|row| row.kind == "interrupt" && row.count > 0), "a processor's clock interrupts it");
}
