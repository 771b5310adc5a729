//! Rows of `user_limits`: costs of users' own limits, span by span.

use std::collections::HashMap;
use std::sync::Arc;

use loadgo_core::record::{LimitCounts, UserLimitRow};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;

use crate::groups::Groups;

/// Reads the counts of all users, and gives the differences. A user's group stays until the end of the run, and its counts too.
#[derive(Debug)]
pub(crate) struct LimitCosts {
    groups: Arc<Groups>,
    began: Instant,
    last: HashMap<UserId, (Instant, LimitCounts)>,
}

impl LimitCosts {
    /// Begins to read at `now`; `None` where no user has limits of their own.
    pub(crate) fn begin(groups: Option<Arc<Groups>>, now: Instant) -> Option<LimitCosts> {
        let groups = groups.filter(|groups| groups.holds_each())?;
        Some(LimitCosts { groups, began: now, last: HashMap::new() })
    }

    /// Adds a row for each user whose counts have changed since the user's last row, or who has none yet.
    pub(crate) fn sample_into(&mut self, now: Instant, rows: &mut Vec<UserLimitRow>) {
        let mut users = self.groups.users().unwrap_or_default();
        users.sort_unstable();
        for user in users {
            let counts = self.groups.limit_counts(user);
            let (since, before) = self.last.get(&user).copied().unwrap_or((self.began, LimitCounts::default()));
            if counts == before && self.last.contains_key(&user) {
                continue;
            }
            let span_ns = now.since(since).0;
            rows.push(UserLimitRow { at: now, span_ns, user, counts: added(&counts, &before) });
            self.last.insert(user, (now, counts));
        }
    }
}

/// The counts from `before` to `now`, but for the peak of memory, which is that of now.
fn added(now: &LimitCounts, before: &LimitCounts) -> LimitCounts {
    let added = |count: fn(&LimitCounts) -> Option<u64>| count(now).map(|value| value.saturating_sub(count(before).unwrap_or(0)));
    LimitCounts {
        cpu_ns: added(|counts| counts.cpu_ns),
        periods: added(|counts| counts.periods),
        throttled_periods: added(|counts| counts.throttled_periods),
        throttled_ns: added(|counts| counts.throttled_ns),
        memory_refusals: added(|counts| counts.memory_refusals),
        memory_kills: added(|counts| counts.memory_kills),
        memory_peak_bytes: now.memory_peak_bytes,
        pids_refusals: added(|counts| counts.pids_refusals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_span_are_differences_the_peak_is_as_it_is_and_what_is_not_counted_stays_unknown() {
        let before =
            LimitCounts { cpu_ns: Some(5), throttled_ns: Some(7), memory_peak_bytes: Some(90), ..LimitCounts::default() };
        let now = LimitCounts { cpu_ns: Some(25), throttled_ns: Some(7), ..before };
        let counts = added(&now, &before);
        assert_eq!((counts.cpu_ns, counts.throttled_ns), (Some(20), Some(0)));
        assert_eq!((counts.memory_peak_bytes, counts.pids_refusals), (Some(90), None));
    }
}
