//! How far Linux searches: for an idle processor when a process is woken, and for a waiting process when a processor runs dry.

/// Time constant of the busy share, in ns: its half-life is 32 ms (kernel/sched/pelt.c).
const BUSY_TIME_NS: f64 = 32e6 / std::f64::consts::LN_2;
/// Percent of busy time from which on nobody searches: 100 / `imbalance_pct` of a domain.
const MOST_BUSY_PERCENT: f64 = 100.0 / 1.17;
/// Number of calls in which successes are counted (`update_newidle_stats`).
const CALLS: u32 = 1024;

/// The recent busy share of all processors, which decides how many of them a wake-up looks at (`SIS_UTIL`).
#[derive(Clone, Copy, Debug, Default)]
pub struct BusyShare {
    share: f64,
    at: u64,
}

impl BusyShare {
    /// Notes that `running` of `count` processors were busy until `now`.
    pub fn note(&mut self, running: usize, count: usize, now: u64) {
        if now > self.at {
            let kept = (-((now - self.at) as f64) / BUSY_TIME_NS).exp();
            self.share = kept * self.share + (1.0 - kept) * running as f64 / count as f64;
            self.at = now;
        }
    }

    /// Number of processors at which a wake-up looks, of `count`.
    pub fn looked_at(&self, count: usize) -> usize {
        let part = (100.0 * self.share / MOST_BUSY_PERCENT).powi(2).min(1.0);
        ((1.0 - part) * count as f64) as usize
    }
}

/// The odds that a processor which runs dry searches the other queues: as often as it succeeds (`NI_RANDOM`).
#[derive(Clone, Copy, Debug)]
pub struct SearchOdds {
    calls: u32,
    successes: u32,
    ratio: u32,
    /// The last random number.
    state: u64,
}

impl Default for SearchOdds {
    fn default() -> SearchOdds {
        SearchOdds { calls: CALLS / 2, successes: CALLS / 4, ratio: CALLS / 2, state: 0x9E37_79B9_7F4A_7C15 }
    }
}

impl SearchOdds {
    /// Whether to search this time, with what a success counts. A search that is left out is no success.
    pub fn draw(&mut self) -> Option<u32> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let weight = 1 + self.ratio;
        if (self.state >> 32) as u32 % CALLS > weight {
            self.count(0);
            return None;
        }
        Some((CALLS + weight / 2) / weight)
    }

    /// Counts a search with its success.
    pub fn count(&mut self, success: u32) {
        self.calls += 1;
        self.successes += success;
        if self.calls >= CALLS {
            self.ratio = self.successes.min(CALLS);
            self.calls /= 2;
            self.successes /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn the_busier_the_processors_the_fewer_a_wake_up_looks_at() {
        for (running, looked_at) in [(0, 8), (4, 5), (8, 0)] {
            let mut busy = BusyShare::default();
            busy.note(running, 8, SECOND_NS);
            assert_eq!(busy.looked_at(8), looked_at, "{running} of 8 are busy");
        }
    }

    #[test]
    fn the_busy_share_of_long_ago_is_forgotten_by_half_in_32_ms() {
        let mut busy = BusyShare::default();
        busy.note(8, 8, SECOND_NS);
        busy.note(0, 8, SECOND_NS + 32_000_000);
        assert!((busy.share - 0.5).abs() < 1e-6, "{}", busy.share);
    }

    #[test]
    fn a_processor_searches_more_often_the_more_often_it_succeeds() {
        // A success counts in whole numbers, as in the kernel: the odds are no more precise than that.
        for (successes_of_10, least, most) in [(0, 0, 100), (5, 3_300, 7_500), (10, 6_000, 10_000)] {
            let mut odds = SearchOdds::default();
            let mut searches = 0u32;
            for turn in 0..20_000 {
                if let Some(success) = odds.draw() {
                    searches += u32::from(turn >= 10_000);
                    odds.count(if turn % 10 < successes_of_10 { success } else { 0 });
                }
            }
            assert!((least..=most).contains(&searches), "{searches} searches in 10,000");
        }
    }
}
