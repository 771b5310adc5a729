//! A heap of numbered entries, the least first, that knows where each number stands in it.
//!
//! An entry is put in, changed in either direction and taken out in O(log n), looking at the first is O(1), and no stale entry is
//! ever left behind. Each node has four children: the heap is half as deep as with two, and the children of a node lie in one
//! or two cache lines. A published heap would find an entry by hashing; ours are numbered from 0.

const ABSENT: u32 = u32::MAX;
const WAYS: usize = 4;

/// An entry of an [`IndexedHeap`]: entries come in their order, the least first.
pub trait HeapEntry: Copy {
    /// Its number, by which it is found again.
    fn number(&self) -> u32;
    /// Whether it comes before `other`.
    fn is_before(&self, other: &Self) -> bool;
}

/// Entries of the numbers 0..n, at most one each.
#[derive(Clone, Debug)]
pub struct IndexedHeap<E> {
    heap: Vec<E>,
    place: Vec<u32>,
}

impl<E> Default for IndexedHeap<E> {
    fn default() -> IndexedHeap<E> {
        IndexedHeap { heap: Vec::new(), place: Vec::new() }
    }
}

impl<E: HeapEntry> IndexedHeap<E> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The first entry.
    pub fn first(&self) -> Option<E> {
        self.heap.first().copied()
    }

    /// Whether there is an entry of this number.
    pub fn has(&self, number: u32) -> bool {
        self.place_of(number) != ABSENT
    }

    /// Puts `entry` in, in place of the one of its number.
    pub fn set(&mut self, entry: E) {
        let number = entry.number() as usize;
        if self.place.len() <= number {
            self.place.resize(number + 1, ABSENT);
        }
        let place = self.place[number];
        if place == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1);
        } else {
            let earlier = entry.is_before(&self.heap[place as usize]);
            self.heap[place as usize] = entry;
            if earlier { self.rise(place as usize) } else { self.sink(place as usize) }
        }
    }

    /// Takes the entry of this number out; whether there was one.
    pub fn remove(&mut self, number: u32) -> bool {
        let place = self.place_of(number);
        if place == ABSENT {
            return false;
        }
        self.place[number as usize] = ABSENT;
        let place = place as usize;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.sink(place);
            self.rise(place);
        }
        true
    }

    fn place_of(&self, number: u32) -> u32 {
        self.place.get(number as usize).copied().unwrap_or(ABSENT)
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / WAYS;
            if !entry.is_before(&self.heap[parent]) {
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
            let lesser = |one: usize, other: usize| if self.heap[other].is_before(&self.heap[one]) { other } else { one };
            let Some(least) = children.reduce(lesser) else { break };
            if !self.heap[least].is_before(&entry) {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: E) {
        self.heap[place] = entry;
        self.place[entry.number() as usize] = place as u32;
    }
}
