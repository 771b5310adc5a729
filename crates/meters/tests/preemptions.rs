//! Programs that lose their processor, though they would go on, are counted as often as the kernel counts it. Needs root.

use loadgo_core::time::Instant;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Programs that compute without end; dropping them ends them.
struct Loops(Vec<Child>);

impl Loops {
    fn start(count: usize) -> Loops {
        let start = |_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("there is a shell");
        Loops((0..count).map(start).collect())
    }

    /// How often they have lost their processor.
    fn losses(&self) -> u64 {
        self.0.iter().map(|program| losses(program.id())).sum()
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for program in &mut self.0 {
            program.kill().and_then(|()| program.wait()).expect("it is a child of the test's");
        }
    }
}

fn losses(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let count = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:")).expect("the kernel counts them");
    count.trim().parse().expect("a number")
}

fn all_switches() -> u64 {
    let stat = fs::read_to_string("/proc/stat").expect("the kernel tells");
    let count = stat.lines().find_map(|line| line.strip_prefix("ctxt ")).expect("the kernel counts them");
    count.trim().parse().expect("a number")
}

fn now() -> Instant {
    Instant(monotonic_ns())
}

#[test]
fn programs_that_lose_their_processor_are_counted_as_often_as_the_kernel_counts_it() {
    let processors = aya::util::online_cpus().expect("the kernel lists them").len();
    for tier in [Tier::Cheap, Tier::Exact] {
        let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
        let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"));
        let loops = Loops::start(2 * processors);
        let switches_before = all_switches();
        meters.sample(now()).expect("the kernel gives the counts");
        let before = loops.losses();
        while loops.losses() - before < 50 {
            thread::sleep(Duration::from_millis(50));
        }
        let lost = loops.losses() - before;
        let sample = meters.sample(now()).expect("the kernel gives the counts");
        let switched = all_switches() - switches_before;
        let counted: f64 = sample.queue.iter().filter(|row| row.measure == "pre-emptions").map(|row| row.value).sum();
        assert!((lost as f64..=switched as f64).contains(&counted), "{tier:?}: {counted} of {lost} to {switched}");
    }
}
