//! The calendar of events to come, ordered by time and, at the same nanosecond, by the order in which they were entered.
//!
//! An event is one 128-bit number: time 64 | serial 36 | payload 28, so that one comparison orders two of them and nothing is looked
//! up. Of the event that has come last only the hole at the top is left: the next one entered falls into it, one sift where a removal
//! and an insertion would take two. In a closed system nearly every event enters exactly one other.

/// Bits of a payload.
pub const PAYLOAD_BITS: u32 = 28;
const SERIAL_BITS: u32 = 36;
const PAYLOAD_MASK: u128 = (1 << PAYLOAD_BITS) - 1;
/// Children of a node: four lie in one or two cache lines, and the heap is half as deep as with two.
const ARITY: usize = 4;

/// Events to come.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    heap: Vec<u128>,
    serial: u64,
    /// The event at the top has come already.
    hole: bool,
}

impl Calendar {
    /// Enters an event; `payload` has at most [`PAYLOAD_BITS`] bits.
    #[inline]
    pub fn enter(&mut self, at: u64, payload: u32) {
        debug_assert!(payload >> PAYLOAD_BITS == 0, "payload {payload} is too wide");
        if self.serial >> SERIAL_BITS != 0 {
            self.renumber();
        }
        let event = u128::from(at) << 64 | u128::from(self.serial) << PAYLOAD_BITS | u128::from(payload);
        self.serial += 1;
        if self.hole {
            self.hole = false;
            self.sift_down(event);
        } else {
            self.heap.push(event);
            self.sift_up(event);
        }
    }

    /// Takes out the next event: its time and its payload.
    #[inline]
    pub fn take_next(&mut self) -> Option<(u64, u32)> {
        self.close_hole();
        let top = *self.heap.first()?;
        self.hole = true;
        Some(((top >> 64) as u64, (top & PAYLOAD_MASK) as u32))
    }

    /// When the next event comes.
    #[inline]
    pub fn next_at(&mut self) -> Option<u64> {
        self.close_hole();
        self.heap.first().map(|top| (top >> 64) as u64)
    }

    /// How many events are to come.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.hole)
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out all events whose payload does not pass.
    pub fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) {
        self.close_hole();
        self.heap.retain(|event| keep((event & PAYLOAD_MASK) as u32));
        self.heap.sort_unstable();
    }

    #[inline]
    fn close_hole(&mut self) {
        if self.hole {
            self.hole = false;
            if let Some(last) = self.heap.pop().filter(|_| !self.heap.is_empty()) {
                self.sift_down(last);
            }
        }
    }

    /// Puts `event` into the hole at the top, and down to its place.
    #[inline]
    fn sift_down(&mut self, event: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let Some((least, child)) = least_of(heap, first).filter(|(least, _)| *least < event) else { break };
            heap[at] = least;
            at = child;
        }
        heap[at] = event;
    }

    #[inline]
    fn sift_up(&mut self, event: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = heap.len() - 1;
        while at > 0 && event < heap[(at - 1) / ARITY] {
            heap[at] = heap[(at - 1) / ARITY];
            at = (at - 1) / ARITY;
        }
        heap[at] = event;
    }

    /// Gives the events to come the first serials, in their order: the serials are used up.
    #[cold]
    fn renumber(&mut self) {
        self.close_hole();
        self.heap.sort_unstable();
        for (serial, event) in self.heap.iter_mut().enumerate() {
            *event = *event >> 64 << 64 | (serial as u128) << PAYLOAD_BITS | *event & PAYLOAD_MASK;
        }
        self.serial = self.heap.len() as u64;
    }
}

/// The least of the children that begin at `first`, and where it is.
#[inline]
fn least_of(heap: &[u128], first: usize) -> Option<(u128, usize)> {
    if let Some(children) = heap.get(first..first + ARITY) {
        let low = usize::from(children[1] < children[0]);
        let high = 2 + usize::from(children[3] < children[2]);
        let best = if children[high] < children[low] { high } else { low };
        return Some((children[best], first + best));
    }
    let children = heap.get(first..)?;
    let best = (0..children.len()).min_by_key(|child| children[*child])?;
    Some((children[best], first + best))
}

#[cfg(test)]
mod tests {
    use super::{Calendar, SERIAL_BITS};
    use crate::random::{Purpose, Stream};

    #[test]
    fn events_come_in_the_order_of_time_and_then_of_entering() {
        let mut stream = Stream::new(1, 1, Purpose::Work);
        let (mut calendar, mut expected) = (Calendar::default(), Vec::new());
        for payload in 0..2_000u32 {
            let at = stream.index(50) as u64;
            calendar.enter(at, payload);
            expected.push((at, payload));
        }
        expected.sort();
        let came: Vec<_> = std::iter::from_fn(|| calendar.take_next()).collect();
        assert_eq!(came, expected);
    }

    #[test]
    fn an_event_entered_while_one_comes_finds_its_place() {
        let mut stream = Stream::new(2, 1, Purpose::Work);
        let (mut calendar, mut others) = (Calendar::default(), std::collections::BTreeSet::new());
        (0..40).for_each(|payload| calendar.enter(u64::from(payload), payload));
        others.extend((0..40u32).map(|payload| (u64::from(payload), payload)));
        for payload in 40..20_000u32 {
            let (now, came) = calendar.take_next().unwrap();
            assert_eq!(others.pop_first(), Some((now, came)));
            for twin in 0..stream.index(3) as u32 * u32::from(calendar.len() < 300) + u32::from(calendar.len() < 5) {
                let entered = (now + stream.index(90) as u64, payload * 4 + twin);
                calendar.enter(entered.0, entered.1);
                others.insert(entered);
            }
            assert_eq!(calendar.len(), others.len());
        }
    }

    #[test]
    fn when_the_serials_are_used_up_the_order_stays() {
        let mut calendar = Calendar { serial: (1 << SERIAL_BITS) - 2, ..Calendar::default() };
        (0..6).for_each(|payload| calendar.enter(7, payload));
        assert_eq!(std::iter::from_fn(|| calendar.take_next()).collect::<Vec<_>>(), (0..6).map(|p| (7, p)).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_taken_out_does_not_come() {
        let mut calendar = Calendar::default();
        (0..100).for_each(|payload| calendar.enter(1_000 - u64::from(payload), payload));
        calendar.retain(|payload| payload % 2 == 0);
        assert_eq!((calendar.len(), calendar.take_next()), (50, Some((902, 98))));
    }
}
