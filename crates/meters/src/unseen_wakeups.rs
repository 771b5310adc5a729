//! Test of waits whose end no kernel program saw: a kernel may run none while a certain process has the processor. Needs root.

use crate::{MeterRequest, Meters, Tier};
use loadgo_core::time::Instant;
use loadgo_host::usage::waits::Waits;
use loadgo_sys::clock::monotonic_ns;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The process during whose time the meters' programs ignore events; 0 for none.
pub static UNSEEN_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Sleeps 100 times after it has read a line. As a batch process it preempts no other task when it wakes up, but waits for the processor.
const SLEEPS: &str = "
import os, time
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print('begun', flush=True)
input()
for _ in range(100):
    time.sleep(0.004)
print('slept', flush=True)
input()
";

/// A program under way on a single processor.
struct Pinned(Child);

impl Pinned {
    fn start(program: &[&str], processor: usize) -> Pinned {
        let [name, arguments @ ..] = program else { unreachable!() };
        let child = Command::new(name).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut only = CpuSet::new();
        only.set(processor);
        sched_setaffinity(Pid::from_raw(child.id() as i32), &only).unwrap();
        Pinned(child)
    }

    /// Waits until the program has printed `line` and sleeps. Returns its time ready so far in nanoseconds, by the kernel's count.
    fn ready_ns_at(&mut self, line: &str) -> u64 {
        let mut printed = String::new();
        BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap()).read_line(&mut printed).unwrap();
        assert_eq!(printed.trim(), line);
        while !self.proc_file("stat").contains(") S ") {
            std::thread::yield_now();
        }
        self.proc_file("schedstat").split(' ').nth(1).and_then(|number| number.parse().ok()).expect("the kernel counts it")
    }

    fn proc_file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.0.id())).unwrap()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time ready of a program that often sleeps: by its account, and by the kernel's count. Only the unseen process competes with it for the
/// processor, and nearly all its wake-ups come while that process runs.
fn ready_beside_unseen(tier: Tier) -> (u64, u64) {
    let processor = sched_getcpu();
    let unseen = Pinned::start(&["sh", "-c", "while :; do :; done"], processor);
    UNSEEN_PROCESS.store(unseen.0.id(), Relaxed);
    let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
    let mut meters =
        Meters::begin(&wanted, Instant(monotonic_ns())).unwrap_or_else(|refusal| panic!("this test needs root: {refusal}"));
    let mut waits = meters.waits(vec![0]).expect("sessions are distinguished");
    let user = 7;
    let mut sleeper = Pinned::start(&["python3", "-c", SLEEPS], processor);
    waits.began(user, sleeper.0.id());
    let before_ns = sleeper.ready_ns_at("begun");
    waits.interaction(user).expect("the program has an account");
    sleeper.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let counted_ns = sleeper.ready_ns_at("slept") - before_ns;
    (waits.interaction(user).unwrap().ready_ns, counted_ns)
}

#[test]
fn time_after_a_wake_up_that_no_program_saw_is_ready_time() {
    for tier in [Tier::Cheap, Tier::Exact] {
        let (ready_ns, truth_ns) = ready_beside_unseen(tier);
        eprintln!("{tier:?}: ready {ready_ns} ns, by the kernel's count {truth_ns} ns");
        // On a busy machine the unseen process is often away, and less is left to judge by.
        assert!(truth_ns > 5_000_000, "the two compete for the processor: {truth_ns} ns");
        assert!(ready_ns.abs_diff(truth_ns) * 100 <= truth_ns * 2, "{tier:?}: ready {ready_ns} ns, in truth {truth_ns} ns");
    }
}
