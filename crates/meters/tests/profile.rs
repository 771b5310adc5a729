//! The clock profile inside the meters: samples and page faults have their user, command and segment in both tiers. Needs root.

mod stolen;

use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_host::usage::waits::Waits;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::io::Write;
use std::process::{Command, Stdio};
use stolen::{stolen_ns, stolen_since};

const USER: u32 = 7;
const PERIOD_NS: u64 = 1_003_021;
/// After its line the shell touches a megabyte, so that it has page faults when its user is known already, and then counts.
const COUNTING: &str =
    "read line; s=x; i=0; while [ $i -lt 20 ]; do s=$s$s; i=$((i+1)); done; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";

fn now() -> Instant {
    Instant(monotonic_ns())
}

/// The meters' rows for a user whose shell counts in the command `count`.
fn counting(tier: Tier) -> MeterRows {
    let wanted = MeterRequest { tier, accounts: 8, commands: vec!["count".into()], locks: false, profile_hz: Some(1000) };
    let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"));
    let mut waits = meters.waits(vec![0, 1]).expect("sessions are distinguished");
    let mut shell = Command::new("sh").args(["-c", COUNTING]).stdin(Stdio::piped()).spawn().unwrap();
    waits.began(USER, shell.id());
    waits.line(USER, 1);
    shell.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(shell.wait().unwrap().success());
    let sample = meters.sample(now()).unwrap();
    assert_eq!(meters.take_lost(), []);
    sample
}

#[test]
fn samples_have_their_user_and_command_and_agree_with_the_processor_time() {
    for tier in [Tier::Cheap, Tier::Exact] {
        let stolen = stolen_ns();
        let sample = counting(tier);
        let stolen_ns = stolen_since(stolen);
        let of_user = sample.stacks.iter().filter(|row| row.user == Some(USER) && row.command.as_deref() == Some("count"));
        let samples: u64 = of_user.inspect(|row| assert_eq!(&*row.process, "sh")).map(|row| row.samples).sum();
        let cpu_ns: u64 = sample.processes.iter().filter(|row| row.user == Some(USER)).map(|row| row.cpu_ns).sum();
        let sampled_ns = samples * PERIOD_NS;
        let times = format!("{tier:?}: {sampled_ns} ns sampled of {cpu_ns}, and {stolen_ns} stolen");
        assert!(sampled_ns < cpu_ns + cpu_ns / 5, "{times}");
        assert!(sampled_ns + stolen_ns > cpu_ns - cpu_ns / 5, "{times}"); // no timer ticks while the processor is stolen
    }
}

#[test]
fn segments_have_samples_and_faults_of_the_user_as_part_of_all() {
    for tier in [Tier::Cheap, Tier::Exact] {
        let sample = counting(tier);
        let mut users = [0; 2];
        for row in sample.segments.iter().filter(|row| row.user == Some(USER)) {
            let all = sample.segments.iter().find(|all| all.user.is_none() && all.segment == row.segment).expect("a row of all");
            let counts = [(row.samples, all.samples), (row.faults_minor, all.faults_minor)];
            for (index, (user_count, all_count)) in counts.into_iter().enumerate() {
                let user_count = user_count.expect("it is measured");
                assert!(user_count <= all_count.unwrap(), "{tier:?} {row:?} {all:?}");
                users[index] += user_count;
            }
        }
        assert!(users[0] > 50, "{tier:?}: {} samples", users[0]);
        assert!(users[1] > 50, "{tier:?}: {} page faults: a megabyte has more", users[1]);
    }
}
