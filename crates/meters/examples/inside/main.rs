//! The first process of a second kernel: meters known loads there, and prints the meters' figures beside the kernel's.
//!
//! `tests/support/second_kernel.py` runs it as `/init` of an emulated machine without other programs. Each printed line has `loadgo`,
//! the tier, the load, the table, the names, and the value, separated by tabs. The last line is `loadgo`, `end`.

mod kernel;
mod loads;
mod rows;

use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loads::{Child, LOADS, Load};
use std::env::args;
use std::error::Error;

fn main() {
    let arguments: Vec<String> = args().skip(1).collect();
    if let [load, amount] = arguments.as_slice() {
        return loads::perform(load, amount.parse().expect("an amount is a number"));
    }
    if let Err(error) = kernel::prepare().map_err(Box::from).and_then(|()| meter_all()) {
        println!("loadgo\tfailed\t{error}");
    }
    println!("loadgo\tend");
    kernel::power_off();
}

fn meter_all() -> Result<(), Box<dyn Error>> {
    println!("loadgo\tkernel\t{}", kernel::release()?);
    for (tier, name) in [(Tier::Cheap, "cheap"), (Tier::Exact, "exact")] {
        let begun = now();
        // A slow clock: a machine that is emulated with two processors is kept busy by a thousand stacks a second.
        let wanted = MeterRequest {
            tier,
            accounts: 64,
            commands: Vec::new(),
            locks: tier == Tier::Exact,
            profile_hz: (tier == Tier::Exact).then_some(20),
        };
        let mut meters = Meters::begin(&wanted, begun)?;
        for available in meters.availability() {
            println!("loadgo\t{name}\tbegin\thave\t{}\t{:?}", available.meter, available.quality);
        }
        for load in LOADS {
            for line in meter_load(&mut meters, load)? {
                println!("loadgo\t{name}\t{}\t{line}", load.name);
            }
        }
        for lost in meters.take_lost() {
            println!("loadgo\t{name}\tend\tlost\t{}\t{}\t{}", lost.what, lost.reason, lost.count);
        }
    }
    Ok(())
}

/// The figures of the meters and of the kernel for one load. The kernel is read before and after each reading of the meters, which
/// gives a lower and an upper bound for the meters.
fn meter_load(meters: &mut Meters, load: &Load) -> Result<Vec<String>, Box<dyn Error>> {
    let mut child = Child::start(load)?;
    meters.sample(now())?; // the meters' first allocations are then not in the span
    let outer = kernel::Figures::read(child.pid(), load)?;
    meters.sample(now())?;
    let inner = kernel::Figures::read(child.pid(), load)?;
    child.go(load)?;
    let inner = kernel::Figures::read(child.pid(), load)?.since(&inner);
    let sample: MeterRows = meters.sample(now())?;
    let outer = kernel::Figures::read(child.pid(), load)?.since(&outer);
    child.end()?;
    let mut lines = rows::lines(&sample);
    lines.extend(inner.into_iter().zip(outer).map(|((name, least), (_, most))| format!("kernel\t{name}\t{least}\t{most}")));
    Ok(lines)
}

/// The time on CLOCK_MONOTONIC.
fn now() -> Instant {
    Instant(loadgo_sys::clock::monotonic_ns())
}
