//! Loads for the meters: `loads calls|reads|touches|programs AMOUNT` runs one, and prints the processor time of one event in ns.

use rustix::process::getppid;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::process::Command;

const PAGE_BYTES: usize = 4096;
/// Pages of a piece of memory: so many that the allocator maps it anew each time.
const PIECE_PAGES: usize = 16 << 10;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, load, amount] = &words[..] else { panic!("usage: loads calls|reads|touches|programs AMOUNT") };
    let amount = amount.parse().expect("the amount is a number");
    let each = match load.as_str() {
        "calls" => clocked(amount, calls),
        "reads" => clocked(amount, reads),
        "touches" => touches(amount),
        "programs" => clocked(amount, programs),
        _ => panic!("no load is called {load}"),
    };
    println!("{each:.2}");
}

/// Null system calls.
fn calls(amount: u64) {
    for _ in 0..amount {
        black_box(getppid());
    }
}

/// Reads of a byte that need no device.
fn reads(amount: u64) {
    let (mut zero, mut byte) = (File::open("/dev/zero").expect("/dev/zero exists"), [1]);
    for _ in 0..amount {
        zero.read_exact(&mut byte).expect("/dev/zero has bytes");
    }
}

/// Programs, each forked and executed.
fn programs(amount: u64) {
    for _ in 0..amount {
        assert!(Command::new("/bin/true").status().is_ok_and(|status| status.success()));
    }
}

/// First touches of fresh pages; mapping and unmapping them is not clocked.
fn touches(amount: u64) -> f64 {
    let mut ns = 0;
    for _ in 0..amount.div_ceil(PIECE_PAGES as u64) {
        let mut piece = vec![0u8; PIECE_PAGES * PAGE_BYTES];
        let began = processor_ns();
        for byte in piece.iter_mut().step_by(PAGE_BYTES) {
            *black_box(byte) = 1;
        }
        ns += processor_ns() - began;
    }
    ns as f64 / (amount.div_ceil(PIECE_PAGES as u64) * PIECE_PAGES as u64) as f64
}

fn clocked(amount: u64, load: fn(u64)) -> f64 {
    load(amount / 10); // fills caches
    let began = processor_ns();
    load(amount);
    (processor_ns() - began) as f64 / amount as f64
}

/// Processor time of this process so far.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
