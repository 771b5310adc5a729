//! One command's account against wait4's and perf's.

use std::ffi::OsString;
use std::path::Path;

use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_sys::child::Exit;

#[path = "../../meters/tests/stolen/mod.rs"]
mod stolen;
use stolen::{stolen_ns, stolen_since};

const WORK: &str = "import os, subprocess
for _ in range(3): subprocess.run(['ls', '/'], stdout=subprocess.DEVNULL)
pages = [bytearray(4096 * 50) for _ in range(200)]
print(sum(range(12000000)))";

fn run(command: &[&str], warmth: Warmth) -> Run {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    Oneshot::open().unwrap().run(&command, Streams::Null, warmth).unwrap()
}

fn cpu_ns(run: &Run) -> f64 {
    (run.usage.cpu_user_ns.unwrap() + run.usage.cpu_system_ns.unwrap()) as f64
}

#[test]
fn processor_time_and_faults_agree_with_wait4_within_one_percent() {
    let run = run(&["python3", "-c", WORK], Warmth::AsItIs);
    assert_eq!(run.exit, Exit::Status(0));
    let waited_ns = (run.waited.user_ns + run.waited.system_ns) as f64;
    assert!((cpu_ns(&run) / waited_ns - 1.0).abs() < 0.01, "{} and {waited_ns}", cpu_ns(&run));
    let (ours, theirs) = (run.usage.faults_minor.unwrap() as f64, run.waited.faults_minor as f64);
    assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} and {theirs}");
    assert_eq!(run.usage.faults_major, Some(run.waited.faults_major));
    assert!(run.real_ns as f64 >= cpu_ns(&run) / 2.0 && run.waited.max_resident_bytes > 10_000_000);
    assert_eq!((run.left_running, run.lost), (0, 0));
}

/// Runs `program` under perf, and perf under the meter: processor nanoseconds and page faults by the meter and by perf.
/// No two runs of a program are alike to a percent on a shared machine, so both must look at the same one.
/// Perf does not see what a task switch takes. So the program has a priority at which others hardly ever preempt it.
fn by_meter_and_by_perf(program: &[&str]) -> [(f64, f64); 2] {
    let path = std::env::temp_dir().join(format!("loadgo-perf-{}", std::process::id()));
    let perf = ["nice", "-n", "-20", "perf", "stat", "-x", ";", "-e", "task-clock,page-faults", "-o", path.to_str().unwrap()];
    let command: Vec<&str> = perf.into_iter().chain(program.iter().copied()).collect();
    let run = run(&command, Warmth::AsItIs);
    assert_eq!(run.exit, Exit::Status(0), "these tests need perf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let value = |event: &str| -> f64 {
        let line = text.lines().find(|line| line.contains(event)).unwrap_or_else(|| panic!("{text}"));
        line.split(';').next().unwrap().parse().unwrap()
    };
    let faults = run.usage.faults_minor.unwrap() + run.usage.faults_major.unwrap();
    [(cpu_ns(&run), faults as f64), (value("task-clock") * 1e6, value("page-faults"))]
}

#[test]
fn processor_time_and_faults_agree_with_perf_within_one_percent() {
    let mut own: Vec<(f64, f64)> = (0..7)
        .map(|_| {
            let [meter, perf] = by_meter_and_by_perf(&["true"]);
            (meter.0 - perf.0, meter.1 - perf.1)
        })
        .collect();
    own.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (perf_itself_ns, perf_itself_faults) = own[own.len() / 2];
    let work = format!("{WORK}\nprint(sum(range(60000000)))");
    // On a busy machine perf's own time scatters by some milliseconds from run to run, so the median of three runs counts.
    let stolen = stolen_ns();
    let runs = [(); 3].map(|()| by_meter_and_by_perf(&["python3", "-S", "-c", &work]));
    let stolen_ns = stolen_since(stolen) as f64;
    let ratios = runs.map(|[meter, perf]| ((meter.0 - perf_itself_ns) / perf.0, (meter.1 - perf_itself_faults) / perf.1));
    let median = |mut values: [f64; 3]| {
        values.sort_by(f64::total_cmp);
        values[1]
    };
    let (time, faults) = (median(ratios.map(|ratio| ratio.0)), median(ratios.map(|ratio| ratio.1)));
    // Perf's clock runs on while a hypervisor has the processor, where the scheduler's account does not. What was stolen is known
    // in whole ticks, so the runs are added up.
    let sum = |of: fn(&[(f64, f64); 2]) -> f64| runs.iter().map(of).sum::<f64>();
    let with_stolen = (sum(|run| run[0].0) - 3.0 * perf_itself_ns + stolen_ns) / sum(|run| run[1].0);
    assert!((faults - 1.0).abs() < 0.01, "meter over perf, time and faults: {ratios:?}");
    assert!(time < 1.01 && time.max(with_stolen) > 0.99, "meter over perf, time and faults: {ratios:?}, {with_stolen}");
}

#[test]
fn a_cold_command_waits_for_its_pages() {
    // A program that nobody else on this machine runs.
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("perl-{}", std::process::id()));
    // Copied by another process: a child of a test beside this one must not hold it open for writing.
    assert!(std::process::Command::new("cp").arg("/usr/bin/perl").arg(&program).status().unwrap().success());
    let command = [program.to_str().unwrap(), "-e", "1"];
    let [_, warm, cold] = [Warmth::AsItIs, Warmth::AsItIs, Warmth::Cold].map(|warmth| run(&command, warmth));
    // A device may be so quick that a page is there before the process sleeps for it; not every time.
    let waited = cold.usage.io_wait_ns > Some(0) || (0..9).any(|_| run(&command, Warmth::Cold).usage.io_wait_ns > Some(0));
    std::fs::remove_file(&program).unwrap();
    let files = &cold.cold.as_ref().unwrap().files;
    let file = files.iter().find(|file| file.path.ends_with(program.file_name().unwrap())).expect("the program is one of them");
    assert_eq!(file.stayed_bytes, Some(0));
    assert!(files.iter().any(|file| file.path.to_string_lossy().contains("libc")), "{files:?}");
    assert!(cold.usage.faults_major.unwrap() > warm.usage.faults_major.unwrap(), "{cold:#?}");
    assert!(waited, "{cold:#?}");
    assert_eq!(warm.cold, None);
}

#[test]
fn status_and_signal_are_told_apart_and_what_cannot_run_is_an_error() {
    assert_eq!(run(&["sh", "-c", "exit 3"], Warmth::AsItIs).exit, Exit::Status(3));
    assert_eq!(run(&["sh", "-c", "kill -9 $$"], Warmth::AsItIs).exit, Exit::Signal(9));
    let mut oneshot = Oneshot::open().unwrap();
    for command in [&["no-such-program"][..], &["/etc/passwd"], &[]] {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        assert!(oneshot.run(&command, Streams::Null, Warmth::AsItIs).is_err(), "{command:?}");
    }
}

#[test]
fn what_a_command_leaves_running_is_told_and_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, done) = (folder.path().join("pipe"), folder.path().join("done"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // It lives until somebody opens the pipe for writing.
    let line = format!("cat {} > {} & exit 0", pipe.display(), done.display());
    let run = run(&["sh", "-c", &line], Warmth::AsItIs);
    assert_eq!((run.left_running, run.let_go), (1, 1), "it is not killed with the group");
    std::fs::write(&pipe, "it lived on").unwrap();
    while std::fs::read_to_string(&done).unwrap() != "it lived on" {
        std::thread::yield_now();
    }
}
