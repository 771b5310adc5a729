//! Rows of `memory`: the exact memory of each user, the free memory, and the moved pages.
//!
//! Up to [`MOST_USERS_PER_SPAN`] users each have a row in every span. If there are more, they take turns, and a row is for the time
//! since the user's row before. A thousand users for an hour then do not have more rows than the driver writes. At the beginning of
//! a phase and at the end, all users have a row.

use super::super::frames::Moves;
use super::super::meters::{DeviceMeter, HolderMeter, MemoryMeter};
use super::span::{SampledSpan, SpanEnd};
use loadgo_core::record::{FREE_MEMORY, MemoryRow, OTHER_MEMORY, PROCESS_OWNERS};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use std::sync::Arc;

/// Largest number of users with a row in a span.
const MOST_USERS_PER_SPAN: usize = 256;

/// The last reported memory of each user, from which the next rows are computed.
pub(super) struct MemoryReporter {
    users: Arc<str>,
    others: Arc<str>,
    free: Arc<str>,
    stores: Vec<Arc<str>>,
    reported: Vec<ReportedHolding>,
    /// The index of the user whose turn is next, if users take turns.
    next: usize,
    device: Moves,
}

/// A user's memory as last reported.
#[derive(Clone, Copy)]
struct ReportedHolding {
    at: Instant,
    there: bool,
    moves: Moves,
}

impl MemoryReporter {
    /// A reporter without reports, for a machine with these stores.
    pub(super) fn new(stores: &[Arc<str>]) -> MemoryReporter {
        let [users, ..] = PROCESS_OWNERS;
        MemoryReporter {
            users: users.into(),
            others: OTHER_MEMORY.into(),
            free: FREE_MEMORY.into(),
            stores: stores.to_vec(),
            reported: Vec::new(),
            next: 0,
            device: Moves::default(),
        }
    }

    /// Adds the rows of a finished span.
    pub(super) fn rows(&mut self, now: &MemoryMeter, span: SampledSpan, end: SpanEnd, rows: &mut Vec<MemoryRow>) {
        self.users(&now.holders, span, end, rows);
        if now.wired_bytes > 0 {
            let row = MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.others));
            rows.push(MemoryRow { resident_bytes: Some(now.wired_bytes), taken_pages: Some(0), brought_pages: Some(0), ..row });
        }
        let row = MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.free));
        rows.push(MemoryRow { resident_bytes: Some(now.free_bytes), size_bytes: Some(now.size_bytes), ..row });
        rows.extend(now.device.map(|device| self.device(device, span)));
    }

    fn users(&mut self, holders: &[HolderMeter], span: SampledSpan, end: SpanEnd, rows: &mut Vec<MemoryRow>) {
        let begin = Instant(span.at.0 - span.span_ns);
        self.reported
            .resize(holders.len().max(self.reported.len()), ReportedHolding { at: begin, there: false, moves: Moves::default() });
        let most = if end == SpanEnd::Cut { holders.len() } else { MOST_USERS_PER_SPAN };
        let (first, mut rows_left) = (if holders.len() <= most { 0 } else { self.next }, most);
        for index in (first..holders.len()).chain(0..first) {
            let (holder, reported) = (&holders[index], &mut self.reported[index]);
            if !holder.there && !reported.there && holder.moves.is_none_or(|moves| moves == reported.moves) {
                reported.at = span.at;
            } else if rows_left > 0 {
                rows_left -= 1;
                self.next = (index + 1) % holders.len();
                rows.push(reported.row(index as UserId + 1, holder, span.at, Arc::clone(&self.users)));
            }
        }
    }

    fn device(&mut self, now: DeviceMeter, span: SampledSpan) -> MemoryRow {
        let before = std::mem::replace(&mut self.device, now.moves);
        MemoryRow {
            device_bytes: Some(now.used_bytes),
            size_bytes: Some(now.size_bytes),
            taken_pages: Some(now.moves.taken - before.taken),
            brought_pages: Some(now.moves.brought - before.brought),
            ..MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.stores[now.store]))
        }
    }
}

impl ReportedHolding {
    /// The row of `user`, whose memory is `holder` now.
    fn row(&mut self, user: UserId, holder: &HolderMeter, at: Instant, who: Arc<str>) -> MemoryRow {
        let before = *self;
        *self = ReportedHolding { at, there: holder.there, moves: holder.moves.unwrap_or_default() };
        MemoryRow {
            user: Some(user),
            resident_bytes: Some(holder.resident_bytes),
            device_bytes: holder.device_bytes,
            taken_pages: holder.moves.map(|moves| moves.taken - before.moves.taken),
            brought_pages: holder.moves.map(|moves| moves.brought - before.moves.brought),
            ..MemoryRow::of(at, at.since(before.at).0, who)
        }
    }
}
