//! Limits that a server's connections share: how many at once, and bytes on disk. Dropping a share releases it, also in a panic.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A slot of the server for a connection or transfer, until dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    taken: Arc<AtomicUsize>,
    before: usize,
}

impl ConnectionSlot {
    /// Takes a slot; `taken` counts the taken slots.
    pub fn take(taken: &Arc<AtomicUsize>) -> ConnectionSlot {
        ConnectionSlot { before: taken.fetch_add(1, Ordering::Relaxed), taken: taken.clone() }
    }

    /// Number of slots that were taken before this one.
    pub fn before(&self) -> usize {
        self.before
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes on disk that all kept files of a server may take.
#[derive(Debug)]
pub(crate) struct DiskBudget {
    total: u64,
    free: AtomicU64,
}

/// Unit of a file's share of the disk. A file takes at least one, so that the number of empty files is limited too.
const DISK_BLOCK_BYTES: u64 = 4096;

impl DiskBudget {
    /// A budget of `total` bytes.
    pub fn new(total: u64) -> Arc<DiskBudget> {
        Arc::new(DiskBudget { total, free: AtomicU64::new(total) })
    }

    /// Takes the share of a file of `bytes`.
    ///
    /// # Errors
    /// Fewer bytes are left.
    pub fn take_share(self: &Arc<DiskBudget>, bytes: u64) -> Result<DiskShare, BudgetExceeded> {
        let bytes = bytes.max(1).checked_next_multiple_of(DISK_BLOCK_BYTES).unwrap_or(u64::MAX);
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(bytes));
        let exceeded = |left| BudgetExceeded { bytes, left, total: self.total };
        taken.map(|_| DiskShare { budget: self.clone(), bytes }).map_err(exceeded)
    }
}

/// A file has more bytes than are left of the budget.
#[derive(Debug)]
pub(crate) struct BudgetExceeded {
    bytes: u64,
    left: u64,
    total: u64,
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BudgetExceeded { bytes, left, total } = self;
        write!(out, "a file of {bytes} bytes is more than the {left} left of the {total} that are kept here in all (--total)")
    }
}

impl Error for BudgetExceeded {}

/// The share of one file; dropping it returns the bytes to the budget.
#[derive(Debug)]
pub struct DiskShare {
    budget: Arc<DiskBudget>,
    bytes: u64,
}

impl DiskShare {
    /// Keeps the bytes, because the file stays.
    pub fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for DiskShare {
    fn drop(&mut self) {
        self.budget.free.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_whose_thread_panics_releases_its_slot() {
        let taken = Arc::new(AtomicUsize::new(0));
        let slot = ConnectionSlot::take(&taken);
        assert_eq!((slot.before(), taken.load(Ordering::Relaxed)), (0, 1));
        let panics = std::thread::spawn(move || {
            let _held = slot;
            panic!("as a test asks for");
        });
        assert!(panics.join().is_err());
        assert_eq!(taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_share_of_a_kept_file_stays_taken_and_others_return() {
        let budget = DiskBudget::new(3 * DISK_BLOCK_BYTES);
        budget.take_share(DISK_BLOCK_BYTES + 1).expect("there is room").keep();
        drop(budget.take_share(DISK_BLOCK_BYTES).expect("there is room"));
        assert!(
            budget
                .take_share(DISK_BLOCK_BYTES + 1)
                .expect_err("there is not")
                .to_string()
                .contains("8192 bytes is more than the 4096 left of the 12288")
        );
        budget.take_share(0).expect("a file of nothing is one").keep();
        assert!(budget.take_share(0).is_err());
        assert!(budget.take_share(u64::MAX).is_err());
    }
}
