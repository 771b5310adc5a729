//! Processes in the order of a key, the lowest first, from which any process can be removed.

use super::ProcessId;
use loadgo_core::indexed_heap::{HeapEntry, IndexedHeap};

/// Processes in the order of a key. Keys must differ where the order among equals matters.
#[derive(Clone, Debug)]
pub struct ProcessHeap<K>(IndexedHeap<Waiting<K>>);

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    key: K,
    pid: ProcessId,
}

impl<K: Copy + Ord> HeapEntry for Waiting<K> {
    fn number(&self) -> u32 {
        self.pid
    }

    fn is_before(&self, other: &Waiting<K>) -> bool {
        self.key < other.key
    }
}

impl<K> Default for ProcessHeap<K> {
    fn default() -> ProcessHeap<K> {
        ProcessHeap(IndexedHeap::default())
    }
}

impl<K: Copy + Ord> ProcessHeap<K> {
    /// Number of processes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no process is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest key and its process.
    pub fn first(&self) -> Option<(K, ProcessId)> {
        self.0.first().map(|Waiting { key, pid }| (key, pid))
    }

    /// Adds `pid`, which must not be in the list.
    pub fn insert(&mut self, key: K, pid: ProcessId) {
        assert!(!self.0.has(pid), "process {pid} is in one list twice");
        self.0.set(Waiting { key, pid });
    }

    /// Removes the process with the lowest key.
    pub fn take_first(&mut self) -> Option<ProcessId> {
        let (_, pid) = self.first()?;
        self.remove(pid);
        Some(pid)
    }

    /// Removes `pid`; false if it was not in the list.
    pub fn remove(&mut self, pid: ProcessId) -> bool {
        self.0.remove(pid)
    }
}
