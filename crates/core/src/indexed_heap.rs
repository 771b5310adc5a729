//! A heap of numbered entries, the least first, with an index from numbers to positions.
//!
//! Adding, changing and removing an entry takes O(log n), and reading the first O(1). No stale entry stays. Each node has
//! four children, which lie in one or two cache lines, and the heap is half as deep as with two. Heaps of other crates find
//! an entry by hashing; here numbers count from 0, so a list suffices.

/// Marks a number without an entry.
const ABSENT: u32 = u32::MAX;
/// Children of a node.
const NODE_CHILDREN: usize = 4;

/// An entry of an [`IndexedHeap`], which keeps the least entry first.
pub trait HeapEntry: Copy {
    /// The number of the entry, unique in its heap.
    fn number(&self) -> u32;
    /// Whether this entry comes before `other`.
    fn is_before(&self, other: &Self) -> bool;
}

/// Entries with the numbers 0..n, at most one for each number.
#[derive(Clone, Debug)]
pub struct IndexedHeap<E> {
    heap: Vec<E>,
    /// The position of each number in `heap`, or [`ABSENT`].
    positions: Vec<u32>,
}

impl<E> Default for IndexedHeap<E> {
    fn default() -> IndexedHeap<E> {
        IndexedHeap { heap: Vec::new(), positions: Vec::new() }
    }
}

impl<E: HeapEntry> IndexedHeap<E> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether the heap has no entry.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The least entry.
    pub fn first(&self) -> Option<E> {
        self.heap.first().copied()
    }

    /// Whether an entry has this number.
    pub fn has(&self, number: u32) -> bool {
        self.position_of(number) != ABSENT
    }

    /// Adds `entry`, or replaces the entry that has its number.
    pub fn set(&mut self, entry: E) {
        let number = entry.number() as usize;
        if self.positions.len() <= number {
            self.positions.resize(number + 1, ABSENT);
        }
        let position = self.positions[number];
        if position == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1);
        } else {
            let earlier = entry.is_before(&self.heap[position as usize]);
            self.heap[position as usize] = entry;
            if earlier { self.rise(position as usize) } else { self.sink(position as usize) }
        }
    }

    /// Removes the entry with this number, and says whether there was one.
    pub fn remove(&mut self, number: u32) -> bool {
        let position = self.position_of(number);
        if position == ABSENT {
            return false;
        }
        self.positions[number as usize] = ABSENT;
        let position = position as usize;
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            self.sink(position);
            self.rise(position);
        }
        true
    }

    fn position_of(&self, number: u32) -> u32 {
        self.positions.get(number as usize).copied().unwrap_or(ABSENT)
    }

    fn rise(&mut self, mut position: usize) {
        let entry = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / NODE_CHILDREN;
            if !entry.is_before(&self.heap[parent]) {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        self.put(position, entry);
    }

    fn sink(&mut self, mut position: usize) {
        let entry = self.heap[position];
        loop {
            let first = position * NODE_CHILDREN + 1;
            let children = first..(first + NODE_CHILDREN).min(self.heap.len());
            let lesser = |left: usize, right: usize| if self.heap[right].is_before(&self.heap[left]) { right } else { left };
            let Some(least) = children.reduce(lesser) else { break };
            if !self.heap[least].is_before(&entry) {
                break;
            }
            self.put(position, self.heap[least]);
            position = least;
        }
        self.put(position, entry);
    }

    fn put(&mut self, position: usize, entry: E) {
        self.heap[position] = entry;
        self.positions[entry.number() as usize] = position as u32;
    }
}
