//! One deadline for each user, the earliest first: a four-way heap that knows where each user stands in it.
//!
//! A user's deadline is set, moved in either direction and cleared in O(log n), and no stale entry is ever left behind,
//! so a run of any length holds as many entries as it has users.

use crate::time::Instant;

const ABSENT: u32 = u32::MAX;
const WAYS: usize = 4;

/// Deadlines of the keys 0..n, at most one each.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    heap: Vec<(Instant, u32)>,
    place: Vec<u32>,
}

impl Deadlines {
    /// No deadlines; keys are added as they are first used.
    pub fn new() -> Deadlines {
        Deadlines::default()
    }

    /// The earliest deadline and its key; of equal ones, the lower key.
    pub fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().copied()
    }

    /// Sets the deadline of `key`, in place of the one that it had.
    pub fn set(&mut self, key: u32, at: Instant) {
        if self.place.len() <= key as usize {
            self.place.resize(key as usize + 1, ABSENT);
        }
        let place = self.place[key as usize];
        if place == ABSENT {
            self.heap.push((at, key));
            self.rise(self.heap.len() - 1);
        } else {
            let earlier = (at, key) < self.heap[place as usize];
            self.heap[place as usize].0 = at;
            if earlier { self.rise(place as usize) } else { self.sink(place as usize) }
        }
    }

    /// Clears the deadline of `key`, if it has one.
    pub fn clear(&mut self, key: u32) {
        let place = self.place.get(key as usize).copied().unwrap_or(ABSENT);
        if place == ABSENT {
            return;
        }
        self.place[key as usize] = ABSENT;
        let last = self.heap.pop().expect("a key that has a place is in the heap");
        if last.1 != key {
            self.heap[place as usize] = last;
            self.sink(place as usize);
            self.rise(self.place[last.1 as usize] as usize);
        }
    }

    /// Takes out the key whose deadline is the earliest, if that is not after `now`.
    pub fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let (at, key) = self.first()?;
        if at > now {
            return None;
        }
        self.clear(key);
        Some(key)
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / WAYS;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * WAYS + 1;
            let children = first..(first + WAYS).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if entry <= self.heap[least] {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Instant, u32)) {
        self.heap[place] = entry;
        self.place[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};
    use std::collections::BTreeMap;

    #[test]
    fn the_earliest_deadline_comes_first_whatever_is_moved_or_cleared() {
        let mut random = Stream::new(7, 1, Purpose::Choice);
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
    fn only_what_is_due_is_taken_out() {
        let mut heap = Deadlines::new();
        heap.set(3, Instant(30));
        heap.set(1, Instant(10));
        assert_eq!(heap.pop_due(Instant(9)), None);
        assert_eq!(heap.pop_due(Instant(10)), Some(1));
        assert_eq!(heap.pop_due(Instant(10)), None);
    }
}
