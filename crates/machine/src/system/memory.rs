//! Rows of `memory`: what each user holds, what is free, and what was taken from whom, exactly.
//!
//! Of up to [`USERS_A_SPAN`] users each has a row in every span; of more, so many in turn, each of the time since his row before, so
//! that a thousand users for an hour have not more rows than the driver writes. Where a phase begins and at the end all have one.

use super::super::frames::Moves;
use super::super::meters::{DeviceMeter, HolderMeter, MemoryMeter};
use super::span::{End, Span};
use loadgo_core::record::{FREE_MEMORY, MemoryRow, OTHER_MEMORY, PROCESS_OWNERS};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use std::sync::Arc;

/// So many users have a row in a span.
const USERS_A_SPAN: usize = 256;

/// What was told last.
pub(super) struct Memory {
    users: Arc<str>,
    others: Arc<str>,
    free: Arc<str>,
    stores: Vec<Arc<str>>,
    told: Vec<Told>,
    /// Whose turn it is, where not everybody has a row in each span.
    next: usize,
    device: Moves,
}

/// A user as he was last told of.
#[derive(Clone, Copy)]
struct Told {
    at: Instant,
    there: bool,
    moves: Moves,
}

impl Memory {
    /// Nothing is told yet, of a machine with these stores.
    pub(super) fn new(stores: &[Arc<str>]) -> Memory {
        let [users, ..] = PROCESS_OWNERS;
        Memory {
            users: users.into(),
            others: OTHER_MEMORY.into(),
            free: FREE_MEMORY.into(),
            stores: stores.to_vec(),
            told: Vec::new(),
            next: 0,
            device: Moves::default(),
        }
    }

    /// Adds the rows of a span that is over.
    pub(super) fn rows(&mut self, now: &MemoryMeter, span: Span, end: End, rows: &mut Vec<MemoryRow>) {
        self.users(&now.holders, span, end, rows);
        if now.wired_bytes > 0 {
            let row = MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.others));
            rows.push(MemoryRow { resident_bytes: Some(now.wired_bytes), taken_pages: Some(0), brought_pages: Some(0), ..row });
        }
        let row = MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.free));
        rows.push(MemoryRow { resident_bytes: Some(now.free_bytes), size_bytes: Some(now.size_bytes), ..row });
        rows.extend(now.device.map(|device| self.device(device, span)));
    }

    fn users(&mut self, holders: &[HolderMeter], span: Span, end: End, rows: &mut Vec<MemoryRow>) {
        let begin = Instant(span.at.0 - span.span_ns);
        self.told.resize(holders.len().max(self.told.len()), Told { at: begin, there: false, moves: Moves::default() });
        let most = if end == End::Cut { holders.len() } else { USERS_A_SPAN };
        let (first, mut left) = (if holders.len() <= most { 0 } else { self.next }, most);
        for place in (first..holders.len()).chain(0..first) {
            let (holder, told) = (&holders[place], &mut self.told[place]);
            if !holder.there && !told.there && holder.moves.is_none_or(|moves| moves == told.moves) {
                told.at = span.at;
            } else if left > 0 {
                left -= 1;
                self.next = (place + 1) % holders.len();
                rows.push(told.row(place as UserId + 1, holder, span.at, Arc::clone(&self.users)));
            }
        }
    }

    fn device(&mut self, now: DeviceMeter, span: Span) -> MemoryRow {
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

impl Told {
    /// The row of `user`, who is told of as `holder` now.
    fn row(&mut self, user: UserId, holder: &HolderMeter, at: Instant, who: Arc<str>) -> MemoryRow {
        let before = *self;
        *self = Told { at, there: holder.there, moves: holder.moves.unwrap_or_default() };
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
