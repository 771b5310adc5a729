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
            rows.push(UserLimitRow { at: now, span_ns, user, counts: counts.since(&before) });
            self.last.insert(user, (now, counts));
        }
    }
}
