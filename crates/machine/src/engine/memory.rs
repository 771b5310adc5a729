//! The memory of a machine: page frames, core memory for swapped programs, or room for everything.

use super::loading::ProgramLoader;
use super::paging::PagingState;
use crate::disciplines::ProcessId;
use crate::spec::Machine;

/// Words of a request to a store, where the machine has no pages.
const RECORD_WORDS: u64 = 1024;

/// The memory. Without both parts, all programs are always in memory.
#[derive(Clone, Debug)]
pub(super) struct MachineMemory {
    /// Demand paging.
    pub paging: Option<PagingState>,
    /// Swapping.
    pub loader: Option<ProgramLoader>,
}

impl MachineMemory {
    /// The memory of `machine`, empty; `level` processes may be eligible at once.
    pub fn new(machine: &Machine, level: u32, seed: u64) -> MachineMemory {
        MachineMemory { paging: PagingState::from_machine(machine, level, seed), loader: ProgramLoader::from_machine(machine) }
    }

    /// Words that a command's request to a store moves.
    #[inline]
    pub fn request_words(&self) -> u64 {
        self.paging.as_ref().map_or(RECORD_WORDS, |paging| paging.page_words)
    }

    /// Frees what the process holds.
    pub fn release(&mut self, pid: ProcessId) {
        if let Some(paging) = &mut self.paging {
            paging.frames.leave(pid);
        }
        if let Some(loader) = &mut self.loader {
            loader.core.leave(pid);
        }
    }
}
