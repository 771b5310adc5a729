//! Prints the time that the driver's and the writer's thread take for a recorded interaction, and the time of finishing a run.
//!
//! Usage: `cargo run --release -p loadgo-store --example row_cost [ROWS] [ROWS_A_SECOND]`.

use std::time::{Duration, Instant as Clock};

use loadgo_core::record::{InteractionRow, Outcome, Phase, Recorder};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;
use loadgo_store::{Folder, Recording, WhenFull, finish};

const COMMANDS: [&str; 5] = ["edit", "compile", "rename", "list", "run"];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (rows, rate) = (arguments.next().unwrap_or(1_000_000), arguments.next().unwrap_or(130_000));
    let dir = std::env::temp_dir().join(format!("loadgo-row-cost-{}", std::process::id()));
    let folder = Folder::create(&dir, "format = 1\n").expect("a folder");
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Lose).expect("a recording");
    let tid = recording.tid();
    let spent = drive(&mut recorder, rows, rate);
    drop(recorder);
    let writer = cpu_ns(tid);
    let stopped = recording.stop();
    println!(
        "driver: {:.0} ns a row at {rate} rows/s; writer: {:.0} ns a row",
        spent.as_nanos() as f64 / rows as f64,
        writer as f64 / rows as f64
    );
    println!("written {} of {rows}", stopped.interactions);
    let began = Clock::now();
    finish(&stopped.folder, "format = 1\nfinished = true\n", &stopped.unwritten).expect("finished");
    println!("finished in {:.2} s, {}", began.elapsed().as_secs_f64(), peak_memory());
    std::fs::remove_dir_all(&dir).expect("the folder goes");
}

/// Records `rows` interactions at `rate` a second in bursts of a millisecond. Returns the time spent in recording.
fn drive(recorder: &mut impl Recorder, rows: u64, rate: u64) -> Duration {
    let (began, burst, mut spent) = (Clock::now(), (rate / 1000).max(1), Duration::ZERO);
    for first in (0..rows).step_by(burst as usize) {
        let burst_began = Clock::now();
        for number in first..(first + burst).min(rows) {
            recorder.interaction(&row(number));
        }
        spent += burst_began.elapsed();
        let due = Duration::from_nanos((first + burst) * 1_000_000_000 / rate);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    spent
}

fn row(number: u64) -> InteractionRow<'static> {
    let sent = number * 7_700;
    let usage = Usage { cpu_user_ns: Some(number % 977 * 1000), cpu_system_ns: Some(number % 331 * 1000), ..Usage::default() };
    InteractionRow {
        user: (number % 64) as u32 + 1,
        pass: (number / 640) as u32 + 1,
        line: (number % 5) as u32 + 1,
        command: COMMANDS[(number % 5) as usize],
        planned: Instant(sent),
        sent: Instant(sent + number % 40_000),
        first_output: Some(Instant(sent + 200_000)),
        ready: Some(Instant(sent + 300_000 + number % 99_999)),
        response_there_ns: None,
        typing_ns: 0,
        think_ns: 0,
        usage,
        typing_usage: Usage::default(),
        cpu_excess_ns: Some(0),
        bytes_out: number % 80,
        exit_status: Some(0),
        outcome: Outcome::Ok,
        phase: Phase::Steady,
    }
}

/// The processor time of thread `tid` so far.
fn cpu_ns(tid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).expect("the thread lives");
    text.split(' ').next().expect("a first field").parse().expect("a number")
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    status.lines().find(|line| line.starts_with("VmHWM")).expect("VmHWM").replace('\t', " ")
}
