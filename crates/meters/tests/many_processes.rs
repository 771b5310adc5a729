//! Hundreds of processes a second, each of a millisecond, are charged as exactly as one process. Needs root.

mod stolen;

use loadgo_core::time::Instant;
use loadgo_host::usage::waits::Waits;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use stolen::{stolen_ns, stolen_since};

const SCRIPT: &str = "read go; i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done; echo did; read end";
const USER: u32 = 3;

fn now() -> Instant {
    Instant(monotonic_ns())
}

/// Processor time of a process and of its ended children, by the kernel's count, in ticks of 10 ms.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..15].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

#[test]
fn processes_of_a_millisecond_are_charged_to_their_names_and_their_user() {
    let wanted = MeterRequest { tier: Tier::Cheap, accounts: 4, commands: Vec::new(), locks: false, profile_hz: None };
    let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"));
    let mut waits = meters.waits(Vec::new()).expect("sessions are distinguished");
    let mut shell = Command::new("/bin/sh").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    waits.began(USER, shell.id());
    let mut keys = shell.stdin.take().unwrap();
    meters.sample(now()).unwrap();
    let (before, stolen) = (ticks(shell.id()), stolen_ns());
    keys.write_all(b"go\n").unwrap();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let truth_ns = (ticks(shell.id()) - before) * 10_000_000;
    let stolen_ns = stolen_since(stolen);
    let sample = meters.sample(now()).unwrap();
    keys.write_all(b"end\n").unwrap();
    shell.wait().unwrap();

    let rows: Vec<_> = sample.processes.iter().filter(|row| row.user == Some(USER)).collect();
    let metered_ns: u64 = rows.iter().map(|row| row.cpu_ns).sum();
    let names: Vec<&str> = rows.iter().map(|row| &*row.who).collect();
    assert!(names.ends_with(&["sh", "true"]), "{names:?}"); // before them the test itself, which forks the shell
    // The kernel rounds four sums down to ticks, before and after.
    let slack = truth_ns * 2 / 100 + 40_000_000;
    assert!(metered_ns + slack >= truth_ns, "{metered_ns} metered, {truth_ns} in truth");
    assert!(metered_ns <= truth_ns + slack + stolen_ns, "{metered_ns} metered, {truth_ns} in truth, {stolen_ns} stolen");
    assert!(meters.take_lost().is_empty());
}
