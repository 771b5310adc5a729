//! Any number of events, the least first, of which only the nearest few thousand lie in a heap.
//!
//! A heap of a million events is larger than a processor's cache, and each removal goes through all its levels. Here, later
//! events lie in buckets of equal width by their time, in no order, and events beyond the last bucket in one list. When the heap
//! is empty, the next bucket is poured into it; after the last bucket, the list is dealt into buckets. This is a ladder queue
//! with one rung. Source: Tang, Goh and Thng, "Ladder queue", ACM TOMACS 15(3), 2005.

use super::heap::Heap;

/// Largest number of events that lie in the heap alone: as many fit into a processor's second cache.
const MOST_NEAR_EVENTS: usize = 1 << 12;
/// Dealing goes through all events. The heap or a bucket that is dealt anew has at least this part of them: a 64th.
const DEALT_PART: usize = 64;
/// Number of buckets. The ends of all of them, where events are added, fit into a processor's second cache.
const BUCKETS: usize = 1 << 12;
/// Time that the buckets cover at least, as a multiple of the mean time until an event. Four of it have 98 % of exponential times.
const COVERED_MEANS: u128 = 4;

/// Future events, by their number, whose high half is the time.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    /// The events before `near_end`. It is not empty while there are others.
    near: Heap,
    near_end: u64,
    /// Number of events in the heap from which it is better to deal them into buckets.
    near_limit: usize,
    /// The events from `near_end` on. The first bucket begins at `start`, and each is 2^`width_power` ns wide.
    buckets: Vec<Vec<u128>>,
    start: u64,
    width_power: u32,
    /// Index of the next bucket to be poured.
    next: usize,
    /// The events beyond the buckets.
    far: Vec<u128>,
    /// Number of events in the buckets and beyond.
    later: usize,
    /// The events of the bucket that was poured last, until they are taken.
    poured: Vec<u128>,
}

impl Default for Ladder {
    fn default() -> Ladder {
        Ladder {
            near: Heap::default(),
            near_end: u64::MAX,
            near_limit: MOST_NEAR_EVENTS,
            buckets: Vec::new(),
            start: 0,
            width_power: 0,
            next: 0,
            far: Vec::new(),
            later: 0,
            poured: Vec::new(),
        }
    }
}

impl Ladder {
    /// The least event; [`NO_NUMBER`](super::heap::NO_NUMBER) if there is none.
    #[inline]
    pub fn first(&mut self) -> u128 {
        self.near.first()
    }

    /// Removes the event that [`Ladder::first`] has just returned.
    #[inline]
    pub fn take_first(&mut self) {
        self.near.take_first();
        if self.near.is_empty() {
            self.pour();
        }
    }

    /// Adds an event.
    #[inline]
    pub fn enter(&mut self, event: u128) {
        if time(event) >= self.near_end {
            return self.enter_later(event);
        }
        self.near.enter(event);
        if self.near.len() > self.near_limit {
            self.split();
        }
    }

    /// The events that the last bucket brought, if they have not been taken yet.
    #[inline]
    pub fn take_poured(&mut self) -> Vec<u128> {
        std::mem::take(&mut self.poured)
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.near.len() + self.later
    }

    /// Removes and returns all events, in no order.
    pub fn drain(&mut self) -> Vec<u128> {
        let mut events = self.near.drain();
        events.extend(self.drain_later());
        *self = Ladder::default();
        events
    }

    fn enter_later(&mut self, event: u128) {
        self.put_later(event);
        if self.near.is_empty() {
            self.pour();
        }
    }

    fn put_later(&mut self, event: u128) {
        self.later += 1;
        let bucket = (time(event) - self.start) >> self.width_power;
        match self.buckets.get_mut(bucket as usize) {
            Some(bucket) => bucket.push(event),
            None => self.far.push(event),
        }
    }

    fn drain_later(&mut self) -> Vec<u128> {
        self.later = 0;
        let mut events = std::mem::take(&mut self.far);
        self.buckets.drain(..).for_each(|bucket| events.extend(bucket));
        events
    }

    /// Pours the next bucket that has events into the heap, which is empty.
    #[cold]
    #[inline(never)]
    fn pour(&mut self) {
        while self.near.is_empty() && self.later > 0 {
            let Some(bucket) = self.buckets.get_mut(self.next).map(std::mem::take) else {
                self.deal_far();
                continue;
            };
            self.next += 1;
            self.later -= bucket.len();
            let most_near = MOST_NEAR_EVENTS.max(self.later / DEALT_PART);
            if bucket.len() > most_near && self.width_power > 0 {
                let others = self.drain_later();
                self.deal(&bucket, &others);
                continue;
            }
            let covered_ns = (self.next as u64).saturating_mul(1 << self.width_power);
            self.near_end = self.start.saturating_add(covered_ns);
            self.near_limit = most_near.max(2 * bucket.len());
            bucket.iter().for_each(|event| self.near.enter(*event));
            self.poured = bucket;
        }
    }

    /// Deals the events beyond the last bucket; if they are few, all of them go to the heap.
    fn deal_far(&mut self) {
        let events = self.drain_later();
        if events.len() > MOST_NEAR_EVENTS {
            return self.deal(&events, &[]);
        }
        (self.near_end, self.near_limit) = (u64::MAX, MOST_NEAR_EVENTS);
        events.into_iter().for_each(|event| self.near.enter(event));
    }

    /// Deals the events of a heap that has become large into buckets.
    #[cold]
    #[inline(never)]
    fn split(&mut self) {
        let (events, others) = (self.near.drain(), self.drain_later());
        self.deal(&events, &others);
        self.pour();
    }

    /// Deals all events into new buckets, whose width is right for the nearest of them. The `others` come after these.
    fn deal(&mut self, nearest: &[u128], others: &[u128]) {
        self.start = nearest.iter().map(|event| time(*event)).min().expect("there are events to be dealt");
        let total_ns: u128 = nearest.iter().map(|event| u128::from(time(*event) - self.start)).sum();
        let covered_ns = total_ns * COVERED_MEANS / nearest.len() as u128;
        let bucket_ns = (covered_ns / BUCKETS as u128 + 1).next_power_of_two();
        self.width_power = bucket_ns.trailing_zeros();
        self.buckets.resize(BUCKETS, Vec::new());
        (self.near_end, self.next) = (self.start, 0);
        nearest.iter().chain(others).for_each(|event| self.put_later(*event));
    }
}

/// When an event comes.
#[inline]
pub(crate) fn time(event: u128) -> u64 {
    (event >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Ladder, MOST_NEAR_EVENTS, time};
    use crate::calendar::heap::NO_NUMBER;
    use loadgo_core::random::{RandomStream, StreamPurpose};
    use std::collections::BTreeSet;

    /// Enters `count` events after times that `after_ns` draws, then takes and enters one after the other, beside a sorted set.
    fn assert_order(count: usize, mut after_ns: impl FnMut(&mut RandomStream) -> u64) {
        let mut stream = RandomStream::new(1, 1, StreamPurpose::Work);
        let (mut ladder, mut expected, mut serial) = (Ladder::default(), BTreeSet::new(), 0u64);
        let mut event_after = |now: u64, stream: &mut RandomStream| {
            serial += 1;
            u128::from(now.saturating_add(after_ns(stream))) << 64 | u128::from(serial)
        };
        for _ in 0..count {
            let event = event_after(0, &mut stream);
            ladder.enter(event);
            expected.insert(event);
        }
        for _ in 0..3 * count {
            let first = ladder.first();
            assert_eq!(Some(first), expected.pop_first());
            ladder.take_first();
            for _ in 0..stream.index(3) * usize::from(expected.len() < 2 * count) + usize::from(expected.is_empty()) {
                let event = event_after(time(first), &mut stream);
                ladder.enter(event);
                expected.insert(event);
            }
            assert_eq!(ladder.len(), expected.len());
        }
        let mut rest = ladder.drain();
        rest.sort_unstable();
        assert_eq!((rest, ladder.first()), (expected.into_iter().collect(), NO_NUMBER));
    }

    #[test]
    fn exponential_times_come_in_their_order() {
        for count in [5, MOST_NEAR_EVENTS - 1, 3 * MOST_NEAR_EVENTS, 10 * BUCKETS] {
            assert_order(count, |stream| (1e9 * stream.exponential()) as u64);
        }
    }

    #[test]
    fn events_at_one_instant_and_at_the_end_of_time_come_in_the_order_of_entering() {
        assert_order(2 * MOST_NEAR_EVENTS, |_| 7);
        assert_order(2 * MOST_NEAR_EVENTS, |stream| 5_000_000 * stream.index(3) as u64);
        assert_order(2 * MOST_NEAR_EVENTS, |stream| [3, u64::MAX - 9, u64::MAX][stream.index(3)]);
    }

    #[test]
    fn times_of_very_different_lengths_come_in_their_order() {
        assert_order(5 * MOST_NEAR_EVENTS, |stream| 1 << stream.index(64));
        assert_order(5 * MOST_NEAR_EVENTS, |stream| if stream.unit() < 1e-3 { 1 << 50 } else { stream.index(1_000) as u64 });
    }

    #[test]
    fn a_ladder_that_empties_is_a_heap_again() {
        let mut ladder = Ladder::default();
        (0..3 * MOST_NEAR_EVENTS as u128).for_each(|number| ladder.enter(number << 80 | number));
        for number in 0..3 * MOST_NEAR_EVENTS as u128 - 2 {
            assert_eq!(ladder.first(), number << 80 | number);
            ladder.take_first();
        }
        assert_eq!((ladder.len(), ladder.later), (2, 0));
    }
}
