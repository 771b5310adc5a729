//! Jobs in the order of a key, lowest first, from which any job can be taken out.

use super::Job;
use loadgo_core::indexed_heap::{HeapEntry, IndexedHeap};

/// Jobs in the order of a key. Keys must differ between jobs where the order among equals matters.
#[derive(Clone, Debug)]
pub struct Order<K>(IndexedHeap<Waiting<K>>);

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    key: K,
    job: Job,
}

impl<K: Copy + Ord> HeapEntry for Waiting<K> {
    fn number(&self) -> u32 {
        self.job
    }

    fn is_before(&self, other: &Waiting<K>) -> bool {
        self.key < other.key
    }
}

impl<K> Default for Order<K> {
    fn default() -> Order<K> {
        Order(IndexedHeap::default())
    }
}

impl<K: Copy + Ord> Order<K> {
    /// How many are in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest key and its job.
    pub fn first(&self) -> Option<(K, Job)> {
        self.0.first().map(|Waiting { key, job }| (key, job))
    }

    /// Puts `job` in; it must not be in already.
    pub fn insert(&mut self, key: K, job: Job) {
        assert!(!self.0.has(job), "job {job} waits in one list twice");
        self.0.set(Waiting { key, job });
    }

    /// Takes out the job with the lowest key.
    pub fn take_first(&mut self) -> Option<Job> {
        let (_, job) = self.first()?;
        self.remove(job);
        Some(job)
    }

    /// Takes `job` out; false when it was not in.
    pub fn remove(&mut self, job: Job) -> bool {
        self.0.remove(job)
    }
}
