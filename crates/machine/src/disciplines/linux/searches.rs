//! How far Linux searches for an idle processor when a process is woken.

/// Time constant of the busy share, in ns: its half-life is 32 ms (kernel/sched/pelt.c).
const BUSY_TIME_NS: f64 = 32e6 / std::f64::consts::LN_2;
/// Percent of busy time from which on nobody searches: 100 / `imbalance_pct` of a domain.
const MOST_BUSY_PERCENT: f64 = 100.0 / 1.17;

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
}
