//! What a server lends to each connection and gets back however it ends: a place among them, and bytes on its disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A place among those who are there at once; it is given back when it is dropped, by a panic too.
#[derive(Debug)]
pub(crate) struct Slot {
    taken: Arc<AtomicUsize>,
    before: usize,
}

impl Slot {
    /// One more of those that are `taken`.
    pub fn take(taken: &Arc<AtomicUsize>) -> Slot {
        Slot { before: taken.fetch_add(1, Ordering::Relaxed), taken: taken.clone() }
    }

    /// How many there were before it.
    pub fn before(&self) -> usize {
        self.before
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What files may still take, over all transfers of a server.
#[derive(Debug)]
pub(crate) struct Room {
    total: u64,
    left: AtomicU64,
}

/// A file takes whole blocks of so many bytes, and one at least: files of nothing are not without end either.
const BLOCK: u64 = 4096;

impl Room {
    /// For `total` bytes.
    pub fn of(total: u64) -> Arc<Room> {
        Arc::new(Room { total, left: AtomicU64::new(total) })
    }

    /// Room for a file of `bytes`.
    ///
    /// # Errors
    /// In words for who asked: there is not as much left.
    pub fn share(self: &Arc<Room>, bytes: u64) -> Result<Share, String> {
        let bytes = bytes.max(1).checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
        let took = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        took.map(|_| Share { room: self.clone(), bytes }).map_err(|left| {
            let total = self.total;
            format!("a file of {bytes} bytes is more than the {left} left of the {total} that are kept here in all (--total)")
        })
    }
}

/// Room for one file; it is given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    room: Arc<Room>,
    bytes: u64,
}

impl Share {
    /// The file stays: nothing is given back.
    pub fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_panics_gives_its_place_back() {
        let taken = Arc::new(AtomicUsize::new(0));
        let slot = Slot::take(&taken);
        assert_eq!((slot.before(), taken.load(Ordering::Relaxed)), (0, 1));
        let panics = std::thread::spawn(move || {
            let _held = slot;
            panic!("as a test asks for");
        });
        assert!(panics.join().is_err());
        assert_eq!(taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_kept_is_gone_and_what_is_not_comes_back() {
        let room = Room::of(3 * BLOCK);
        room.share(BLOCK + 1).expect("there is room").keep();
        drop(room.share(BLOCK).expect("there is room"));
        assert!(room.share(BLOCK + 1).expect_err("there is not").contains("8192 bytes is more than the 4096 left of the 12288"));
        room.share(0).expect("a file of nothing is one").keep();
        assert!(room.share(0).is_err());
        assert!(room.share(u64::MAX).is_err());
    }
}
