//! Rows of the table `working_sets`.

use crate::system::UserId;
use crate::time::Instant;

/// A row of `working_sets`: the memory of a user's processes that they referred to in a window.
///
/// Memory that several processes share counts by each process's share.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkingSetRow {
    /// The end of the window.
    pub at: Instant,
    /// The length of the window. At its beginning all marks of referred pages were cleared.
    pub span_ns: u64,
    /// The user whose processes these are.
    pub user: UserId,
    /// Number of processes at the end of the window.
    pub processes: u32,
    /// Bytes in memory that belong to no file.
    pub resident_bytes: u64,
    /// Bytes among them that were referred to in the window. All memory of a process that began in the window is.
    pub referenced_bytes: u64,
    /// Bytes in memory of mapped files.
    pub file_resident_bytes: u64,
    /// Bytes among them that were referred to in the window.
    pub file_referenced_bytes: u64,
    /// Bytes on paging devices.
    pub device_bytes: u64,
    /// Bytes that were on paging devices at the beginning of the window, and came back in it.
    pub returned_bytes: u64,
}
