//! Time that the hypervisor takes from a virtual machine's processors. The scheduler charges it to no task, a clock to the running one.

/// A tick of /proc/stat, in nanoseconds.
const TICK_NS: u64 = 10_000_000;

/// Taken since the host began, of all processors together, in nanoseconds; each processor's part is cut to whole ticks.
pub fn stolen_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("the kernel tells");
    let of_all = stat.lines().next().and_then(|line| line.split_whitespace().nth(8)).and_then(|ticks| ticks.parse::<u64>().ok());
    of_all.expect("the eighth number is what was stolen") * TICK_NS
}

/// Upper bound of the time taken since `before`.
pub fn stolen_since(before: u64) -> u64 {
    stolen_ns() - before + TICK_NS
}
