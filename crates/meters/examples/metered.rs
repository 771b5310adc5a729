//! Runs a command with the meters on: `metered none|cheap|exact COMMAND…`; what they found goes to the standard error when `METERED` is set.

use loadgo_core::record::Sample;
use loadgo_core::time::Instant;
use loadgo_meters::{Meters, Tier, Wanted};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let tier = match words.first().map(String::as_str) {
        Some("none") => None,
        Some("cheap") => Some(Tier::Cheap),
        Some("exact") => Some(Tier::Exact),
        _ => panic!("usage: metered none|cheap|exact COMMAND…"),
    };
    let wanted = |tier| Wanted { tier, accounts: 64, commands: vec!["all".into()], profile_hz: None, segments: false };
    let began = std::time::Instant::now();
    let now = || Instant(began.elapsed().as_nanos() as u64);
    let mut meters = tier.map(|tier| Meters::begin(&wanted(tier), now()).unwrap_or_else(|why| panic!("{why}")));
    let mut child = Command::new(&words[1]).args(&words[2..]).spawn().expect("the command starts");
    let (told, wait) = std::sync::mpsc::channel();
    let waiter = std::thread::spawn(move || told.send(child.wait().expect("the command ends")));
    let mut samples = Vec::new();
    let status = loop {
        let status = wait.recv_timeout(Duration::from_secs(1));
        samples.extend(meters.as_mut().map(|meters| meters.sample(now()).expect("the kernel answers")));
        if let Ok(status) = status {
            break status;
        }
    };
    waiter.join().expect("the waiter ends").ok();
    drop(meters);
    if std::env::var_os("METERED").is_some() {
        print(&samples);
    }
    status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8))
}

fn print(samples: &[Sample]) {
    let mut calls: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    for row in samples.iter().flat_map(|sample| &sample.primitives).filter(|row| row.bucket_ns.is_none() && row.user.is_none() && row.command.is_none()) {
        let sums = [Some(row.count), row.errors, row.time_ns, row.wait_ns, row.faults];
        for (total, sum) in calls.entry(&row.name).or_default().iter_mut().zip(sums) {
            *total += sum.unwrap_or(0);
        }
    }
    for (name, [count, errors, time_ns, wait_ns, faults]) in calls {
        eprintln!("{name:24} {count:>10} {errors:>8} {:>10} ns {:>10} ns waiting {faults:>6} faults", time_ns / count, wait_ns / count);
    }
}
