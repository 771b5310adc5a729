//! Sends messages of three words from one thread to another; neither thread ever waits for the other.
//!
//! This is Lamport's ring for a single sender and a single receiver ("Specifying concurrent program modules", 1983). The slots
//! between `taken` and `sent` belong to the receiver, all others to the sender. Each thread moves its own end by a release
//! store, which the other thread loads with acquire. Messages that do not fit stay with the sender, and go first the next
//! time. `tests/ring_model.rs` compiles this file with loom's atomics and tries all interleavings.

use super::sync::{Arc, AtomicBool, AtomicU64, Ordering};
use std::collections::VecDeque;

/// The words of one slot.
pub(crate) type Message = [u64; 3];

#[derive(Debug)]
struct Ring {
    slots: Box<[[AtomicU64; 3]]>,
    /// Number of messages put into the ring since its beginning.
    sent: AtomicU64,
    /// Number of messages taken out of the ring since its beginning.
    taken: AtomicU64,
    /// Whether the receiver was dropped.
    closed: AtomicBool,
}

/// The sending end.
#[derive(Debug)]
pub(crate) struct Sender {
    ring: Arc<Ring>,
    sent: u64,
    /// The ring's `taken` at the last look.
    taken: u64,
    /// Messages that the ring had no room for.
    backlog: VecDeque<Message>,
}

/// The receiving end. When it is dropped, the sender discards its messages.
#[derive(Debug)]
pub(crate) struct Receiver {
    ring: Arc<Ring>,
    /// The ring's `sent` at the last look.
    sent: u64,
    taken: u64,
}

/// Both ends of a ring with `length` slots.
pub(crate) fn ring(length: usize) -> (Sender, Receiver) {
    let slots = (0..length).map(|_| [(); 3].map(|()| AtomicU64::new(0))).collect();
    let ring = Ring { slots, sent: AtomicU64::new(0), taken: AtomicU64::new(0), closed: AtomicBool::new(false) };
    let ring = Arc::new(ring);
    let sender = Sender { ring: Arc::clone(&ring), sent: 0, taken: 0, backlog: VecDeque::new() };
    (sender, Receiver { ring, sent: 0, taken: 0 })
}

impl Ring {
    fn slot(&self, number: u64) -> &[AtomicU64; 3] {
        &self.slots[(number % self.slots.len() as u64) as usize]
    }
}

impl Sender {
    /// Sends a message, after those that an earlier call had no room for.
    pub fn send(&mut self, message: Message) {
        if !self.has_receiver() {
            self.backlog = VecDeque::new();
            return;
        }
        self.backlog.push_back(message);
        while let Some(first) = self.backlog.front().copied() {
            if !self.put(first) {
                return;
            }
            self.backlog.pop_front();
        }
    }

    /// Whether the receiver is still there.
    pub fn has_receiver(&self) -> bool {
        !self.ring.closed.load(Ordering::Relaxed)
    }

    /// Number of messages that wait for room in the ring.
    #[cfg(test)]
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// Puts a message into the ring. Returns false if there is no room.
    fn put(&mut self, message: Message) -> bool {
        let length = self.ring.slots.len() as u64;
        if self.sent - self.taken == length {
            self.taken = self.ring.taken.load(Ordering::Acquire);
        }
        if self.sent - self.taken == length {
            return false;
        }
        for (word, value) in self.ring.slot(self.sent).iter().zip(message) {
            word.store(value, Ordering::Relaxed);
        }
        self.sent += 1;
        self.ring.sent.store(self.sent, Ordering::Release);
        true
    }
}

impl Receiver {
    /// Takes the next message; None if there is none now.
    pub fn take(&mut self) -> Option<Message> {
        if self.taken == self.sent {
            self.sent = self.ring.sent.load(Ordering::Acquire);
        }
        if self.taken == self.sent {
            return None;
        }
        let slot = self.ring.slot(self.taken);
        let message = [0, 1, 2].map(|word: usize| slot[word].load(Ordering::Relaxed));
        self.taken += 1;
        self.ring.taken.store(self.taken, Ordering::Release);
        Some(message)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.ring.closed.store(true, Ordering::Relaxed);
    }
}
