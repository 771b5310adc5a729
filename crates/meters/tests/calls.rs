//! System calls on this host: the meters count exactly the calls of programs. Needs root.

mod metered;

use metered::{Metered, Sums, own};
use rustix::process::{Pid, Signal, getppid, kill_process};
use std::collections::BTreeMap;
use std::fs::{read_to_string, remove_dir};
use std::hint::black_box;
use std::io::{Read, Write, stderr, stdin};
use std::process::{Command, Stdio};
use std::thread::{scope, sleep};
use std::time::Duration;
use syscalls::Sysno;

/// A load that the other tests run in a process of its own: `LOADGO_LOAD` has its name and amount.
#[test]
#[ignore = "a load of the other tests"]
fn load() {
    let load = std::env::var("LOADGO_LOAD").expect("LOADGO_LOAD names the load");
    let (name, amount) = load.split_once(' ').expect("a load and an amount");
    let amount: u64 = amount.parse().expect("the amount is a number");
    match name {
        "call" => call(amount),
        "fail" => (0..amount).for_each(|_| assert!(remove_dir("/nowhere/at/all").is_err())),
        "sleep" => sleep(Duration::from_millis(amount)),
        "threads" => scope(|threads| (0..8).for_each(|_| _ = threads.spawn(|| call(amount)))),
        "programs" => (0..amount).for_each(|_| assert!(Command::new("/bin/true").status().is_ok_and(|status| status.success()))),
        "echo" => (0..amount).for_each(|_| echo()),
        _ => panic!("no load is called {name}"),
    }
}

fn call(amount: u64) {
    (0..amount).for_each(|_| _ = black_box(getppid()));
}

fn echo() {
    let mut byte = [0];
    stdin().read_exact(&mut byte).expect("the test writes");
    stderr().write_all(&byte).expect("the test reads");
}

/// Runs a load of this test program as user 1. Returns the totals of its calls.
fn totals_of_load(metered: &mut Metered, load: &str) -> BTreeMap<String, Sums> {
    let child = metered.start(1, own(load).stdout(Stdio::null()));
    metered.until_over(child, 1, 1);
    metered.of(1)
}

#[test]
fn a_call_is_counted_once() {
    assert_eq!(totals_of_load(&mut Metered::begin(&[]), "call 1000")["getppid"].count, 1000);
}

#[test]
fn calls_of_all_threads_are_counted() {
    let totals = totals_of_load(&mut Metered::begin(&[]), "threads 500");
    assert_eq!(totals["getppid"].count, 4000);
    assert!(totals["exit"].count >= 8, "each thread ends once");
}

#[test]
fn a_call_that_fails_is_an_error() {
    let rmdir = totals_of_load(&mut Metered::begin(&[]), "fail 100")["rmdir"];
    assert_eq!((rmdir.count, rmdir.errors), (100, 100));
}

#[test]
fn a_call_that_waits_takes_time_and_no_processor() {
    let slept = totals_of_load(&mut Metered::begin(&[]), "sleep 200")["clock_nanosleep"];
    assert_eq!(slept.count, 1);
    assert!(slept.time_ns >= 200_000_000, "{slept:?}");
    assert!(slept.wait_ns <= slept.time_ns && slept.wait_ns > slept.time_ns / 2, "{slept:?}");
}

#[test]
fn a_thousand_programs_are_executed_and_end_once_each() {
    let mut metered = Metered::begin(&[]);
    let child = metered.start(1, own("programs 1000").stdout(Stdio::null()));
    metered.until_over(child, 1, 1001);
    let totals = metered.of(1);
    assert_eq!(totals["execve"].count, 1001, "and the load itself");
    assert_eq!(totals["exit_group"].count, 1001);
    assert_eq!(totals["wait4"].count, 1000);
}

#[test]
fn a_call_that_is_interrupted_and_restarted_counts_as_two() {
    let mut metered = Metered::begin(&[]);
    let mut child = metered.start(1, Command::new("sleep").arg("60"));
    let proc_file = |file: &str| read_to_string(format!("/proc/{}/{file}", child.id())).expect("the child lives");
    let sleeps = format!("{} ", Sysno::clock_nanosleep as u32);
    await_that(|| proc_file("syscall").starts_with(&sleeps));
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    await_that(|| proc_file("stat").contains(") T "));
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    await_that(|| proc_file("stat").contains(") S "));
    child.kill().unwrap();
    metered.until_over(child, 1, 0);
    let totals = metered.of(1);
    assert_eq!((totals["clock_nanosleep"].count, totals["clock_nanosleep"].errors), (1, 1));
    assert_eq!(totals["restart_syscall"].count, 1);
}

#[test]
fn calls_have_their_user_and_command() {
    let mut metered = Metered::begin(&["first".into(), "second".into()]);
    let children = [1, 2].map(|user| {
        let mut child = metered.start(user, own("echo 1").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
        metered.line(user, user);
        child.stdin.as_mut().unwrap().write_all(b"a").unwrap();
        child.stderr.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    });
    for (user, child) in [1, 2].into_iter().zip(children) {
        metered.until_over(child, user, 1);
    }
    for (user, command) in [(1, "first"), (2, "second")] {
        let ends = metered.rows.iter().filter(|row| row.user == Some(user) && &*row.name == "exit_group");
        assert_eq!(ends.map(|row| (row.command.as_deref(), row.count)).collect::<Vec<_>>(), [(Some(command), 1)]);
    }
}

#[test]
fn calls_without_room_are_lost_by_user_and_kept_in_the_totals() {
    const LINES: u32 = 20_000; // each line needs two sums, and there is room for 32768
    let mut metered = Metered::begin(&(1..=LINES).map(|line| line.to_string()).collect::<Vec<_>>());
    let mut child =
        metered.start(1, own(&format!("echo {LINES}")).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()));
    for line in 1..=LINES {
        metered.line(1, line);
        child.stdin.as_mut().unwrap().write_all(b"a").unwrap();
        child.stderr.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    }
    metered.until_over(child, 1, 0);
    let by_user: u64 = ["read", "write"].map(|name| metered.of(1)[name].count).iter().sum();
    assert!(metered.lost > 0);
    assert!(sum(&metered, "write", false) >= LINES.into(), "the totals of all users have them");
    assert!(by_user + metered.lost >= 2 * u64::from(LINES), "calls without a user's row are lost");
}

#[test]
fn buckets_have_as_many_calls_as_the_totals() {
    let mut metered = Metered::begin(&[]);
    totals_of_load(&mut metered, "call 5000");
    assert!(sum(&metered, "getppid", false) >= 5000);
    assert_eq!(sum(&metered, "getppid", true), sum(&metered, "getppid", false));
}

/// Number of calls of all users, by the totals or by the buckets.
fn sum(metered: &Metered, name: &str, buckets: bool) -> u64 {
    let rows = metered.rows.iter().filter(|row| row.user.is_none() && row.command.is_none() && &*row.name == name);
    rows.filter(|row| row.bucket_ns.is_some() == buckets).map(|row| row.count).sum()
}

#[test]
fn perf_counts_as_many_calls() {
    let command = ["/bin/cat", "/etc/passwd", "/etc/group", "/etc/hostname"];
    // A process resets its signals between fork and exec, where perf does not count yet.
    let signals = [Sysno::rt_sigaction, Sysno::rt_sigprocmask];
    let others = format!("id != {} && id != {}", signals[0] as u32, signals[1] as u32);
    let mut perf = Command::new("perf");
    perf.args(["stat", "-x", ";", "-e", "raw_syscalls:sys_enter", "--filter", &others, "--"]).args(command).stdout(Stdio::null());
    let output = String::from_utf8(perf.output().expect("perf is installed (scripts/setup dev)").stderr).unwrap();
    let perf_count: u64 = output.split(';').next().unwrap().trim().parse().unwrap_or_else(|_| panic!("{output}"));
    let mut metered = Metered::begin(&[]);
    let child = metered.start(1, Command::new(command[0]).args(&command[1..]).stdout(Stdio::null()));
    metered.until_over(child, 1, 1);
    let totals = metered.of(1);
    let count: u64 =
        totals.iter().filter(|(name, _)| signals.iter().all(|call| call.name() != *name)).map(|(_, sums)| sums.count).sum();
    assert!(
        (perf_count..perf_count + 10).contains(&count),
        "{perf_count} since the program was executed, {count} since its process was forked"
    );
}

/// Waits until the condition holds.
fn await_that(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
