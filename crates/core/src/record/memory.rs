//! Rows of the table `memory`.

use crate::system::UserId;
use crate::time::Instant;
use std::sync::Arc;

/// The name of free memory in [`MemoryRow::who`].
pub const FREE_MEMORY: &str = "free";

/// The name in [`MemoryRow::who`] of all memory that is in no other row.
pub const OTHER_MEMORY: &str = "others";

/// A row of `memory`: the memory of one owner at the end of a span, and pages that it lost and got in the span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span. If many users take turns, it is the time since this user's previous row.
    pub span_ns: u64,
    /// `users`, `driver`, `others`, `free`, `file cache`, or the name of a paging device.
    pub who: Arc<str>,
    /// The user whose memory it is; `None`: no user.
    pub user: Option<UserId>,
    /// Memory that the owner holds.
    pub resident_bytes: Option<u64>,
    /// The owner's pages on a paging device; for a device, its used part.
    pub device_bytes: Option<u64>,
    /// For a device, its size; for free memory, the size of all memory.
    pub size_bytes: Option<u64>,
    /// Page frames that page replacement took from the owner in the span.
    pub taken_pages: Option<u64>,
    /// Pages that were brought in for the owner in the span, from a paging device or a file.
    pub brought_pages: Option<u64>,
}

impl MemoryRow {
    /// A row without values.
    pub fn of(at: Instant, span_ns: u64, who: Arc<str>) -> MemoryRow {
        MemoryRow {
            at,
            span_ns,
            who,
            user: None,
            resident_bytes: None,
            device_bytes: None,
            size_bytes: None,
            taken_pages: None,
            brought_pages: None,
        }
    }
}
