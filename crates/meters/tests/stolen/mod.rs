//! Time that the hypervisor takes from a virtual machine's processors. The scheduler charges it to no task; the meters' clock charges it to
//! the running one.

/// Length of a tick of /proc/stat.
const TICK_NS: u64 = 10_000_000;

/// Stolen time of all processors together since the host began, in nanoseconds. Each processor's part is rounded down to ticks.
pub fn stolen_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("the kernel has it");
    let ticks = stat.lines().next().and_then(|line| line.split_whitespace().nth(8)).and_then(|ticks| ticks.parse::<u64>().ok());
    ticks.expect("the eighth number is the stolen time") * TICK_NS
}

/// Upper bound of the time stolen since `before`, in nanoseconds.
pub fn stolen_since(before: u64) -> u64 {
    stolen_ns() - before + TICK_NS
}
