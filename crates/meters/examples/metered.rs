//! Runs a command under the meters: `metered none|bare|cheap|cheap,locks|cheap,profile|sampled|exact|exact-alone COMMAND…`. With `METERED=FILE`, writes their sums to the file as JSON. With
//! `METERED=-`, prints the system calls and the waits for locks to standard error.

use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_meters::programs::bare::BareHooks;
use loadgo_meters::{MeterRequest, Meters, PROFILE_HZ, Tier};
use std::collections::BTreeMap;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::mpsc::channel;
use std::time::Duration;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tier, program, arguments @ ..] = &words[..] else {
        panic!("usage: metered none|bare|cheap|cheap,locks|cheap,profile|sampled|exact|exact-alone COMMAND…")
    };
    let began = std::time::Instant::now();
    let now = || Instant(began.elapsed().as_nanos() as u64);
    let _bare = (tier == "bare").then(|| BareHooks::attach(Tier::Exact).unwrap_or_else(|refusal| panic!("{refusal}")));
    let mut meters = wanted(tier).map(|wanted| Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("{refusal}")));
    let child = Command::new(program).args(arguments).spawn().expect("the command starts");
    let mut samples = Vec::new();
    let status =
        each_second(child, || samples.extend(meters.as_mut().map(|meters| meters.sample(now()).expect("the kernel answers"))));
    match std::env::var("METERED").as_deref() {
        Ok("-") => print(&samples),
        Ok(path) => std::fs::write(path, sums_as_json(&samples)).expect("the file can be written"),
        Err(_) => {}
    }
    status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code as u8))
}

fn wanted(tier: &str) -> Option<MeterRequest> {
    let locks = matches!(tier, "cheap,locks" | "exact" | "exact-alone");
    let (tier, profile_hz) = match tier {
        "none" | "bare" => return None, // bare: programs that do nothing at the exact tier's hooks
        "cheap" | "cheap,locks" => (Tier::Cheap, None),
        "cheap,profile" => (Tier::Cheap, Some(PROFILE_HZ)),
        "sampled" => (Tier::Sampled, None),
        "exact" => (Tier::Exact, Some(PROFILE_HZ)),
        "exact-alone" => (Tier::Exact, None), // without the profile
        _ => panic!("no tier is called {tier}"),
    };
    Some(MeterRequest { tier, accounts: 64, commands: vec!["all".into()], locks, profile_hz })
}

/// Waits for the child; calls `read` every second meanwhile, and when the child has ended.
fn each_second(mut child: Child, mut read: impl FnMut()) -> ExitStatus {
    let (ended, wait) = channel();
    std::thread::spawn(move || ended.send(child.wait().expect("the command ends")));
    loop {
        let status = wait.recv_timeout(Duration::from_secs(1));
        read();
        if let Ok(status) = status {
            return status;
        }
    }
}

/// Sums of all spans: processor time by category, and faults by kind.
fn sums_as_json(samples: &[MeterRows]) -> String {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |name: String, value: u64| *sums.entry(name).or_default() += value;
    for row in samples.iter().flat_map(|sample| &sample.time) {
        add(format!("time {}", row.category), row.time_ns);
        add("time of all".into(), row.time_ns);
    }
    for sample in samples {
        let processors: std::collections::BTreeSet<_> = sample.time.iter().map(|row| row.processor).collect();
        add("span of all".into(), sample.time.first().map_or(0, |row| row.span_ns) * processors.len() as u64);
    }
    for row in samples.iter().flat_map(|sample| &sample.faults).filter(|row| row.bucket_ns.is_none() && row.user.is_none()) {
        add(format!("{} count", row.kind), row.count);
        add(format!("{} ns", row.kind), row.cpu_ns.unwrap_or(0));
    }
    for row in samples.iter().flat_map(|sample| &sample.meter_price) {
        add(format!("price of {} runs", row.meter), row.runs);
        add(format!("price of {} ns", row.meter), row.run_ns + row.call_ns.unwrap_or(0));
        add("price in windows".into(), row.run_ns + row.call_ns.unwrap_or(0));
        add("calls in windows".into(), row.call_ns.unwrap_or(0));
    }
    for sample in samples {
        let windows: BTreeMap<_, _> = sample.meter_price.iter().map(|row| (row.at, row.busy_ns)).collect();
        add("windows".into(), windows.len() as u64);
        add("busy in windows".into(), windows.values().sum());
    }
    let fields: Vec<String> = sums.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}\n", fields.join(", "))
}

fn print(samples: &[MeterRows]) {
    print_lock_waits(samples);
    let mut calls: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    let sums = |row: &&loadgo_core::record::PrimitiveRow| row.bucket_ns.is_none() && row.user.is_none() && row.command.is_none();
    for row in samples.iter().flat_map(|sample| &sample.primitives).filter(sums) {
        let sums = [Some(row.count), row.errors, row.time_ns, row.wait_ns, row.faults];
        for (total, sum) in calls.entry(&row.name).or_default().iter_mut().zip(sums) {
            *total += sum.unwrap_or(0);
        }
    }
    for (name, [count, errors, time_ns, wait_ns, faults]) in calls {
        eprintln!(
            "{name:24} {count:>10} {errors:>8} {:>10} ns {:>10} ns waiting {faults:>6} faults",
            time_ns / count,
            wait_ns / count
        );
    }
}

fn print_lock_waits(samples: &[MeterRows]) {
    let mut waits: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    for row in samples.iter().flat_map(|sample| &sample.lock_waits) {
        let [count, wait_ns, longest_ns] = waits.entry((&row.kind, row.place.as_deref().unwrap_or("-"))).or_default();
        *count += row.count;
        *wait_ns += row.wait_ns;
        *longest_ns = (*longest_ns).max(row.longest_ns);
    }
    for ((kind, place), [count, wait_ns, longest_ns]) in waits {
        eprintln!("{kind:20} {place:32} {count:>8} waits, mean {:>10} ns, longest {longest_ns:>10} ns", wait_ns / count);
    }
}
