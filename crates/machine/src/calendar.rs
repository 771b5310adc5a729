//! The calendar of future events, ordered by time and, at the same nanosecond, by the order of entry.
//!
//! An event is one 128-bit number: time 64 | serial 36 | payload 28. One comparison orders two of them, without a lookup. The
//! few events that come soon, at processors and stores, have a small heap. The ends of think times have a ladder, which keeps to
//! the cache for any number of users. Nine of ten events never touch the ladder.

use heap::{Heap, NO_NUMBER};
use ladder::{Ladder, time};

mod heap;
mod ladder;

/// Bits of a payload.
pub(crate) const PAYLOAD_BITS: u32 = 28;
const SERIAL_BITS: u32 = 36;
const PAYLOAD_MASK: u128 = (1 << PAYLOAD_BITS) - 1;

/// Future events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    soon: Heap,
    later: Ladder,
    serial: u64,
}

impl Calendar {
    /// Enters an event; `payload` has at most [`PAYLOAD_BITS`] bits.
    #[inline]
    pub fn enter(&mut self, at: u64, payload: u32) {
        let event = self.event(at, payload);
        self.later.enter(event);
    }

    /// Enters an event among the few that come soon. Its order is the same, and it is found faster.
    #[inline(always)]
    pub(crate) fn enter_soon(&mut self, at: u64, payload: u32) {
        let event = self.event(at, payload);
        self.soon.enter(event);
    }

    #[inline(always)]
    fn event(&mut self, at: u64, payload: u32) -> u128 {
        debug_assert!(payload >> PAYLOAD_BITS == 0, "payload {payload} is too wide");
        if self.serial >> SERIAL_BITS != 0 {
            self.renumber();
        }
        self.serial += 1;
        u128::from(at) << 64 | u128::from(self.serial - 1) << PAYLOAD_BITS | u128::from(payload)
    }

    /// Removes and returns the next event, as time and payload.
    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<(u64, u32)> {
        self.take_next_until(u64::MAX)
    }

    /// Removes and returns the next event, if it comes at `until` or before.
    #[inline(always)]
    pub(crate) fn take_next_until(&mut self, until: u64) -> Option<(u64, u32)> {
        let (soon, later) = (self.soon.first(), self.later.first());
        // A processor predicts which heap is next and goes on while the time is checked, so no minimum is computed first.
        let next = if soon < later {
            if time(soon) > until {
                return None;
            }
            self.soon.take_first();
            soon
        } else {
            if later == NO_NUMBER || time(later) > until {
                return None;
            }
            self.later.take_first();
            later
        };
        Some((time(next), payload(next)))
    }

    /// Payloads of the events that have come near since the last call, in no order. A calendar of few events has none.
    #[inline]
    pub(crate) fn take_approaching(&mut self) -> impl Iterator<Item = u32> + use<> {
        self.later.take_poured().into_iter().map(payload)
    }

    /// When the next event comes.
    #[inline]
    pub(crate) fn next_at(&mut self) -> Option<u64> {
        let next = self.soon.first().min(self.later.first());
        (next != NO_NUMBER).then_some(time(next))
    }

    /// Number of future events.
    pub fn len(&self) -> usize {
        self.soon.len() + self.later.len()
    }

    /// Whether no event is to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all events whose payload `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.retain_soon(&mut keep);
        let mut events = self.later.drain();
        events.retain(|event| keep(payload(*event)));
        events.into_iter().for_each(|event| self.later.enter(event));
    }

    /// Removes all events whose payload `keep` refuses, of those that were entered as coming soon.
    pub(crate) fn retain_soon(&mut self, mut keep: impl FnMut(u32) -> bool) {
        let mut events = self.soon.drain();
        events.retain(|event| keep(payload(*event)));
        events.into_iter().for_each(|event| self.soon.enter(event));
    }

    /// Numbers the future events again from 0 in their order, when the serials are used up.
    #[cold]
    fn renumber(&mut self) {
        let soon = self.soon.drain().into_iter().map(|event| (event, true));
        let mut events: Vec<_> = soon.chain(self.later.drain().into_iter().map(|event| (event, false))).collect();
        events.sort_unstable();
        for (serial, (event, soon)) in events.iter().enumerate() {
            let event = event >> 64 << 64 | (serial as u128) << PAYLOAD_BITS | event & PAYLOAD_MASK;
            if *soon { self.soon.enter(event) } else { self.later.enter(event) }
        }
        self.serial = events.len() as u64;
    }
}

#[inline]
fn payload(event: u128) -> u32 {
    (event & PAYLOAD_MASK) as u32
}

#[cfg(test)]
mod tests {
    use super::{Calendar, SERIAL_BITS};
    use loadgo_core::random::{RandomStream, StreamPurpose};

    #[test]
    fn events_come_in_the_order_of_time_and_then_of_entering() {
        let mut stream = RandomStream::new(1, 1, StreamPurpose::Work);
        let (mut calendar, mut expected) = (Calendar::default(), Vec::new());
        for payload in 0..2_000u32 {
            let at = stream.index(50) as u64;
            if payload % 3 == 0 {
                calendar.enter_soon(at, payload)
            } else {
                calendar.enter(at, payload)
            }
            expected.push((at, payload));
        }
        expected.sort();
        let came: Vec<_> = std::iter::from_fn(|| calendar.take_next()).collect();
        assert_eq!(came, expected);
    }

    #[test]
    fn an_event_entered_while_one_comes_finds_its_place() {
        let mut stream = RandomStream::new(2, 1, StreamPurpose::Work);
        let (mut calendar, mut others) = (Calendar::default(), std::collections::BTreeSet::new());
        (0..40).for_each(|payload| calendar.enter(u64::from(payload), payload));
        others.extend((0..40u32).map(|payload| (u64::from(payload), payload)));
        for payload in 40..20_000u32 {
            let (now, came) = calendar.take_next().unwrap();
            assert_eq!(others.pop_first(), Some((now, came)));
            for twin in 0..stream.index(3) as u32 * u32::from(calendar.len() < 300) + u32::from(calendar.len() < 5) {
                let entered = (now + stream.index(90) as u64, payload * 4 + twin);
                if entered.1 % 5 < 2 {
                    calendar.enter_soon(entered.0, entered.1)
                } else {
                    calendar.enter(entered.0, entered.1)
                }
                others.insert(entered);
            }
            assert_eq!(calendar.len(), others.len());
        }
    }

    #[test]
    fn when_the_serials_are_used_up_the_order_stays() {
        let mut calendar = Calendar { serial: (1 << SERIAL_BITS) - 2, ..Calendar::default() };
        (0..6).for_each(|payload| if payload % 2 == 0 { calendar.enter(7, payload) } else { calendar.enter_soon(7, payload) });
        assert_eq!(std::iter::from_fn(|| calendar.take_next()).collect::<Vec<_>>(), (0..6).map(|p| (7, p)).collect::<Vec<_>>());
    }

    #[test]
    fn a_removed_event_does_not_come() {
        let mut calendar = Calendar::default();
        (0..100).for_each(|payload| calendar.enter(1_000 - u64::from(payload), payload));
        calendar.retain(|payload| payload % 2 == 0);
        assert_eq!((calendar.len(), calendar.take_next()), (50, Some((902, 98))));
    }
}
