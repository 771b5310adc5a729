//! How far Linux searches: for an idle processor when a process is woken, and for a waiting process when a processor runs dry.

/// Time constant of the busy share, in ns: its half-life is 32 ms (kernel/sched/pelt.c).
const BUSY_TIME_NS: f64 = 32e6 / std::f64::consts::LN_2;
/// Busy share from which on nobody searches: 1 / `imbalance_pct` of a domain.
const MOST_BUSY: f64 = 1.0 / 1.17;
/// Number of calls in which successes are counted (`update_newidle_stats`). The share of successes is of as many.
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
        let part = (self.share / MOST_BUSY).powi(2).min(1.0);
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
