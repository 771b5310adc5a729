//! The paging device of a run, as a limit names it.

/// A paging device for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Users do not page.
    None,
    /// Compressed memory that holds so many bytes.
    Zram(u64),
    /// A file of so many bytes.
    File(u64),
}

impl Swap {
    /// How many bytes of pages the device holds.
    pub fn bytes(self) -> u64 {
        match self {
            Swap::None => 0,
            Swap::Zram(bytes) | Swap::File(bytes) => bytes,
        }
    }
}
