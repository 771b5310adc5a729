//! The host's interrupt time by the clock ticks of `/proc/stat`, and its load averages. Any user may read both.

use std::fs;

/// Length of a tick of `/proc/stat`: the same on every Linux.
const TICK_NS: u64 = 10_000_000;

/// Ticks that all processors have spent in interrupts since the machine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InterruptTicks {
    interrupts: u64,
    soft: u64,
}

impl InterruptTicks {
    /// Reads the present ticks; 0 if they cannot be read.
    pub fn read() -> InterruptTicks {
        fs::read_to_string("/proc/stat").map(|text| parse_ticks(&text)).unwrap_or_default()
    }

    /// Nanoseconds in soft interrupts and in interrupts since `before`.
    pub fn since(&self, before: &InterruptTicks) -> (u64, u64) {
        let span = |now: u64, then: u64| now.saturating_sub(then) * TICK_NS;
        (span(self.soft, before.soft), span(self.interrupts, before.interrupts))
    }
}

/// Parses the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq (proc_stat(5)).
fn parse_ticks(text: &str) -> InterruptTicks {
    let numbers: Vec<u64> =
        text.lines().next().unwrap_or("").split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
    InterruptTicks { interrupts: numbers.get(5).copied().unwrap_or(0), soft: numbers.get(6).copied().unwrap_or(0) }
}

/// The load averages of one and of five minutes; 0 if they cannot be read.
pub fn load_averages() -> [f64; 2] {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut words = text.split_whitespace().map_while(|word| word.parse().ok());
    [words.next().unwrap_or(0.0), words.next().unwrap_or(0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixth_and_seventh_numbers_are_interrupts_and_soft_ones() {
        let now = parse_ticks("cpu  1 2 3 4 5 60 70 8 9 10\ncpu0 1 1 1 1 1 1 1");
        let before = parse_ticks("cpu  1 2 3 4 5 50 40 8 9 10");
        assert_eq!(now.since(&before), (300_000_000, 100_000_000));
        assert_eq!(parse_ticks("").since(&before), (0, 0));
    }
}
