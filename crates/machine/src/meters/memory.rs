//! The holders of a machine's memory at an instant, and the moved pages since its beginning.

use crate::frames::Moves;

/// Bytes of a word. A Multics page of 1024 words then has the 4096 bytes of today's pages.
pub const WORD_BYTES: u64 = 4;

/// Memory at an instant. The parts of the holders and of the supervisor and the free part add up to its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMeter {
    /// All memory; with swapping, the memory for programs.
    pub size_bytes: u64,
    /// Free memory.
    pub free_bytes: u64,
    /// Memory that the supervisor always holds; 0 with swapping, where only the memory for programs counts.
    pub wired_bytes: u64,
    /// The users' processes, from user 1.
    pub holders: Vec<HolderMeter>,
    /// The paging device, if a store is behind it; otherwise its content is not known.
    pub device: Option<DeviceMeter>,
}

/// Memory of a user's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolderMeter {
    /// Whether the process exists.
    pub there: bool,
    /// The process's part of memory.
    pub resident_bytes: u64,
    /// The process's part of the paging device, if that is known.
    pub device_bytes: Option<u64>,
    /// Numbers of moved pages; `None` with swapping.
    pub moves: Option<Moves>,
}

/// The content of a paging device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMeter {
    /// Number of the device among the stores.
    pub store: usize,
    /// Used part.
    pub used_bytes: u64,
    /// Size of the device.
    pub size_bytes: u64,
    /// Numbers of pages that came from the store behind, and of pages that were replaced.
    pub moves: Moves,
}
