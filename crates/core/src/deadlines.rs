//! One deadline for each user, the earliest first.
//!
//! Setting, moving and clearing a deadline takes O(log n). A run of any length holds as many entries as it has users.

use crate::indexed_heap::{HeapEntry, IndexedHeap};
use crate::time::Instant;

/// Deadlines of the keys 0..n, at most one for each key.
#[derive(Clone, Debug, Default)]
pub struct Deadlines(IndexedHeap<Deadline>);

#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    key: u32,
}

impl HeapEntry for Deadline {
    fn number(&self) -> u32 {
        self.key
    }

    fn is_before(&self, other: &Deadline) -> bool {
        (self.at, self.key) < (other.at, other.key)
    }
}

impl Deadlines {
    /// An empty set; the first use of a key adds it.
    pub fn new() -> Deadlines {
        Deadlines::default()
    }

    /// The earliest deadline with its key. Of equal deadlines, the one with the lower key comes first.
    pub fn first(&self) -> Option<(Instant, u32)> {
        self.0.first().map(|Deadline { at, key }| (at, key))
    }

    /// Sets the deadline of `key`, in place of a previous one.
    pub fn set(&mut self, key: u32, at: Instant) {
        self.0.set(Deadline { at, key });
    }

    /// Clears the deadline of `key`, if it has one.
    pub fn clear(&mut self, key: u32) {
        self.0.remove(key);
    }

    /// Removes the earliest deadline if it is not after `now`, and returns its key.
    pub fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let (at, key) = self.first()?;
        if at > now {
            return None;
        }
        self.clear(key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{RandomStream, StreamPurpose};
    use std::collections::BTreeMap;

    #[test]
    fn the_earliest_deadline_comes_first_after_each_change() {
        let mut random = RandomStream::new(7, 1, StreamPurpose::Choice);
        let (mut heap, mut model) = (Deadlines::new(), BTreeMap::<u32, Instant>::new());
        for _ in 0..20_000 {
            let key = random.index(50) as u32;
            if random.unit() < 0.3 {
                heap.clear(key);
                model.remove(&key);
            } else {
                let at = Instant(random.index(1000) as u64);
                heap.set(key, at);
                model.insert(key, at);
            }
            let expected = model.iter().map(|(&key, &at)| (at, key)).min();
            assert_eq!(heap.first(), expected);
        }
    }

    #[test]
    fn only_a_due_deadline_is_removed() {
        let mut heap = Deadlines::new();
        heap.set(3, Instant(30));
        heap.set(1, Instant(10));
        assert_eq!(heap.pop_due(Instant(9)), None);
        assert_eq!(heap.pop_due(Instant(10)), Some(1));
        assert_eq!(heap.pop_due(Instant(10)), None);
    }
}
