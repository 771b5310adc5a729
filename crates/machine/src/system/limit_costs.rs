//! Rows of `user_limits`: costs of each user's limits, as the kernel of a host counts them.

use super::span::{SampledSpan, SpanEnd};
use loadgo_core::record::{LimitCounts, UserLimitRow};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;

/// Largest number of users with a row in a span. If there are more, they have rows at the beginning of a phase and at the end alone.
const MOST_USERS_PER_SPAN: usize = 256;

/// The last reported costs of each user, from which the next rows are computed.
pub(super) struct LimitCostReporter {
    began: Instant,
    reported: Vec<Option<(Instant, LimitCounts)>>,
}

impl LimitCostReporter {
    /// A reporter without reports, from `began` on.
    pub(super) fn begin(began: Instant) -> LimitCostReporter {
        LimitCostReporter { began, reported: Vec::new() }
    }

    /// Adds a row for each user whose counts have changed since the user's last row, or who has none yet.
    pub(super) fn rows(
        &mut self,
        costs: &[(UserId, LimitCounts)],
        span: SampledSpan,
        end: SpanEnd,
        rows: &mut Vec<UserLimitRow>,
    ) {
        if costs.len() > MOST_USERS_PER_SPAN && end != SpanEnd::Cut {
            return;
        }
        self.reported.resize(costs.len().max(self.reported.len()), None);
        for ((user, now), reported) in costs.iter().zip(&mut self.reported) {
            let (since, before) = reported.unwrap_or((self.began, LimitCounts::default()));
            if reported.is_some() && *now == before {
                continue;
            }
            rows.push(UserLimitRow { at: span.at, span_ns: span.at.since(since).0, user: *user, counts: now.since(&before) });
            *reported = Some((span.at, *now));
        }
    }
}
