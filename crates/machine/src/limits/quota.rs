//! A user's quota of processor time in each period of 100 ms, as of Linux's `cpu.max`, and what it costs the user.
//!
//! At the beginning of a period the user gets the quota. What is left of the period before is lost. A user who has used the quota
//! up is throttled until the next period. A step of the supervisor always finishes: what it takes over the quota is a debt, which
//! the next periods pay first.
//! Source: Linux's kernel/sched/fair.c as of 6.6 (`__refill_cfs_bandwidth_runtime`, `distribute_cfs_runtime`,
//! `start_cfs_bandwidth`).
//! Assumed: periods are at fixed instants, with an offset drawn for each user, as in Linux from 6.3 on
//! (`init_cfs_bandwidth`). The kernel hands the quota to processors in slices of 5 ms, of which a processor may keep 1 ms into the
//! next period. This is left out, since a user has one process here. The switch to a process is not charged, as it is no part of
//! a turn. There is no burst (`cpu.max.burst`). A quota ends exactly,
//! not at the next tick.

use loadgo_core::record::LimitCounts;

/// Length of a period.
pub const PERIOD_NS: u64 = 100_000_000;

/// The quota of one user, what is left of it, and its costs so far.
#[derive(Clone, Debug)]
pub struct Quota {
    quota_ns: u64,
    /// Periods begin this long before whole multiples of their length.
    offset_ns: u64,
    /// The period that `left_ns` is of.
    period: u64,
    /// Processor time that is left in the period; below 0, a debt.
    left_ns: i64,
    cpu_ns: u64,
    /// When the user's process began to want a processor, if it wants one.
    wants_since: Option<u64>,
    /// When the user was throttled, who is so still.
    throttled_since: Option<u64>,
    throttled_ns: u64,
    wanted: PeriodCount,
    throttled: PeriodCount,
}

impl Quota {
    /// The full quota of so many processors, at least a nanosecond of each period.
    pub fn new(cpus: f64, offset_ns: u64) -> Quota {
        assert!(offset_ns < PERIOD_NS, "an offset is less than a period");
        let quota_ns = ((cpus * PERIOD_NS as f64).round() as u64).clamp(1, PERIOD_NS);
        Quota {
            quota_ns,
            offset_ns,
            period: 0,
            left_ns: quota_ns as i64,
            cpu_ns: 0,
            wants_since: None,
            throttled_since: None,
            throttled_ns: 0,
            wanted: PeriodCount::default(),
            throttled: PeriodCount::default(),
        }
    }

    /// Whether one process can never use the quota up.
    fn is_whole(&self) -> bool {
        self.quota_ns == PERIOD_NS
    }

    fn period_at(&self, at: u64) -> u64 {
        (at + self.offset_ns) / PERIOD_NS
    }

    fn end_of(&self, period: u64) -> u64 {
        (period + 1) * PERIOD_NS - self.offset_ns
    }

    /// Gives the quota of each period that has begun since.
    fn refill(&mut self, now: u64) {
        let begun = self.period_at(now) - self.period;
        if begun > 0 {
            let given = i64::try_from(begun.saturating_mul(self.quota_ns)).unwrap_or(i64::MAX);
            self.left_ns = self.left_ns.saturating_add(given).min(self.quota_ns as i64);
            self.period += begun;
        }
    }

    /// Charges the user's process for having run from `from` to `to` without a break.
    pub fn charge(&mut self, from: u64, to: u64) {
        self.cpu_ns += to - from;
        self.refill(from);
        let first_end = to.min(self.end_of(self.period));
        self.left_ns -= (first_end - from) as i64;
        if first_end < to {
            self.refill(first_end);
            // Whole periods of work leave no quota that could be lost.
            let begun = self.period_at(to) - self.period;
            self.left_ns += (begun * self.quota_ns) as i64 - (to - first_end) as i64;
            self.left_ns = self.left_ns.min(self.quota_ns as i64);
            self.period += begun;
        }
    }

    /// Counts the switch to the user's process, for which the quota is not charged.
    pub fn count_switch(&mut self, span_ns: u64) {
        self.cpu_ns += span_ns;
    }

    /// How long the user's process may run from `now` on without a break; 0 if the quota is used up.
    pub fn allowance_ns(&mut self, now: u64) -> u64 {
        if self.is_whole() {
            return u64::MAX;
        }
        self.refill(now);
        let to_refill_ns = self.end_of(self.period) - now;
        match u64::try_from(self.left_ns) {
            Ok(left_ns) if left_ns < to_refill_ns => left_ns,
            Ok(_) => to_refill_ns + self.quota_ns,
            Err(_) => 0,
        }
    }

    /// When the user, whose quota is used up now, has some again.
    pub fn next_refill(&self) -> u64 {
        let debt_ns = u64::try_from(-self.left_ns).expect("the quota is used up");
        self.end_of(self.period + debt_ns / self.quota_ns)
    }

    /// Counts that the user's process wants a processor from `now` on.
    pub fn wants(&mut self, now: u64) {
        self.wants_since.get_or_insert(now);
    }

    /// Counts that the user's process wants no processor any more.
    pub fn rests(&mut self, now: u64) {
        self.ends_throttling(now);
        if let Some(since) = self.wants_since.take() {
            self.wanted.add(self.period_at(since), self.period_at(now.saturating_sub(1)));
        }
    }

    /// Counts that the user's process is throttled from `now` on.
    pub fn begins_throttling(&mut self, now: u64) {
        self.throttled_since = Some(now);
    }

    /// Counts that the user's process is not throttled any more.
    pub fn ends_throttling(&mut self, now: u64) {
        if let Some(since) = self.throttled_since.take() {
            self.throttled_ns += now - since;
            self.throttled.add(self.period_at(since), self.period_at(now.saturating_sub(1)));
        }
    }

    /// The costs up to `now`.
    pub fn costs(&self, now: u64) -> LimitCounts {
        let mut ended = self.clone();
        ended.rests(now);
        LimitCounts {
            cpu_ns: Some(ended.cpu_ns),
            periods: Some(ended.wanted.count),
            throttled_periods: Some(ended.throttled.count),
            throttled_ns: Some(ended.throttled_ns),
            ..LimitCounts::default()
        }
    }
}

/// A number of periods, of which each counts once.
#[derive(Clone, Copy, Debug, Default)]
struct PeriodCount {
    count: u64,
    /// The first period that is not counted yet.
    next: u64,
}

impl PeriodCount {
    /// Counts the periods from `first` to `last`.
    fn add(&mut self, first: u64, last: u64) {
        let last = last.max(first);
        let first = first.max(self.next);
        if last >= first {
            self.count += last - first + 1;
            self.next = last + 1;
        }
    }
}
