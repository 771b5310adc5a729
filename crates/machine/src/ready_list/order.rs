//! Jobs in the order of a key, lowest first, from which any job can be taken out.
//!
//! A heap with four children a node, and for each job its place in it: inserting and taking out are O(log n), looking is O(1), and
//! nothing is allocated once the tables have grown. A published heap would find a job by hashing; ours are numbered from 0.

use super::Job;

const NOWHERE: u32 = u32::MAX;
const CHILDREN: usize = 4;

/// Jobs in the order of a key. Keys must differ between jobs where the order among equals matters.
#[derive(Clone, Debug)]
pub struct Order<K> {
    heap: Vec<(K, Job)>,
    place: Vec<u32>,
}

impl<K> Default for Order<K> {
    fn default() -> Order<K> {
        Order { heap: Vec::new(), place: Vec::new() }
    }
}

impl<K: Copy + Ord> Order<K> {
    /// How many are in it.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The lowest key and its job.
    pub fn first(&self) -> Option<(K, Job)> {
        self.heap.first().copied()
    }

    /// Puts `job` in; it must not be in already.
    pub fn insert(&mut self, key: K, job: Job) {
        let index = job as usize;
        if self.place.len() <= index {
            self.place.resize(index + 1, NOWHERE);
        }
        assert!(self.place[index] == NOWHERE, "job {job} waits in one list twice");
        self.heap.push((key, job));
        self.up(self.heap.len() - 1);
    }

    /// Takes out the job with the lowest key.
    pub fn take_first(&mut self) -> Option<Job> {
        let (_, job) = self.first()?;
        self.remove(job);
        Some(job)
    }

    /// Takes `job` out; false when it was not in.
    pub fn remove(&mut self, job: Job) -> bool {
        let Some(&place) = self.place.get(job as usize).filter(|place| **place != NOWHERE) else { return false };
        self.place[job as usize] = NOWHERE;
        let place = place as usize;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.down(place);
            self.up(place);
        }
        true
    }

    fn up(&mut self, mut place: usize) {
        let moving = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent].0 <= moving.0 {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, moving);
    }

    fn down(&mut self, mut place: usize) {
        let moving = self.heap[place];
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child].0) else { break };
            if moving.0 <= self.heap[least].0 {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, moving);
    }

    fn put(&mut self, place: usize, entry: (K, Job)) {
        self.heap[place] = entry;
        self.place[entry.1 as usize] = place as u32;
    }
}
