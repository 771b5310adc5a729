//! Who holds which part of a machine's memory at a moment, and what has come and gone since its beginning.

use crate::frames::Moves;

/// Bytes of a word: those of a Multics word, whose pages of 1024 words then have the 4096 bytes of today's.
pub const WORD_BYTES: u64 = 4;

/// Memory at a moment. What the holders, the supervisor and nobody have of it adds up to its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMeter {
    /// All of it; with swapping, all that is for programs.
    pub size_bytes: u64,
    /// Nobody's.
    pub free_bytes: u64,
    /// The supervisor's for good; nothing with swapping, where memory is that for programs.
    pub wired_bytes: u64,
    /// By user, from user 1.
    pub holders: Vec<HolderMeter>,
    /// The paging device, where it is known what lies on it: where there is something behind it.
    pub device: Option<DeviceMeter>,
}

/// What a user's process holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolderMeter {
    /// Whether there is such a process.
    pub there: bool,
    /// In memory.
    pub resident_bytes: u64,
    /// On the paging device, where that is known.
    pub device_bytes: Option<u64>,
    /// Pages that have come and gone; none are counted where whole programs are swapped.
    pub moves: Option<Moves>,
}

/// What lies on a paging device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMeter {
    /// Its number among the stores.
    pub store: usize,
    /// In use.
    pub used_bytes: u64,
    /// All of it.
    pub size_bytes: u64,
    /// Pages that have come onto it from behind, and gone from it.
    pub moves: Moves,
}
