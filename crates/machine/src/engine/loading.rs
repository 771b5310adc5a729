//! Swapping: the moves that bring a process's program into core memory, and take others out for it.

use std::collections::VecDeque;

use crate::core_memory::CoreMemory;
use crate::devices::DeviceRequest;
use crate::disciplines::ProcessId;
use crate::spec::{Machine, Residence, Swapping};

/// A transfer of a program, or of a part of it, that is still to be made.
#[derive(Clone, Copy, Debug)]
struct PlannedMove {
    words: u64,
    /// From the store on which commands are kept.
    from_first: bool,
    /// Out of core memory.
    write: bool,
}

/// Core memory, and the moves for the program that is being brought in.
#[derive(Clone, Debug)]
pub(super) struct ProgramLoader {
    /// Core memory.
    pub core: CoreMemory,
    swapping: Swapping,
    moves: VecDeque<PlannedMove>,
}

impl ProgramLoader {
    /// The core memory of `machine`, empty, if it swaps.
    pub fn from_machine(machine: &Machine) -> Option<ProgramLoader> {
        let Residence::Swapping(swapping) = &machine.residence else { return None };
        Some(ProgramLoader { core: CoreMemory::new(swapping), swapping: swapping.clone(), moves: VecDeque::new() })
    }

    /// Plans the moves for the program of `pid`, of this number of words. False if it is in core memory already.
    ///
    /// `fresh` says that the program comes from the store of commands.
    #[inline(always)]
    pub fn plan_moves(&mut self, pid: ProcessId, words: u64, fresh: bool) -> bool {
        let moved = self.core.bring(pid, words, fresh);
        let out = PlannedMove { words: moved.out_words, from_first: false, write: true };
        let into = PlannedMove { words: moved.in_words, from_first: moved.from_first, write: false };
        self.moves.extend([out, into].into_iter().filter(|planned| planned.words > 0));
        !self.moves.is_empty()
    }

    /// Takes out the next move as a request under this id, with its store. None if the program is in core memory.
    #[inline]
    pub fn next_request(&mut self, id: u32) -> Option<(usize, DeviceRequest)> {
        let PlannedMove { words, from_first, write } = self.moves.pop_front()?;
        let store = self.swapping.first.filter(|_| from_first).unwrap_or(self.swapping.store);
        Some((store, DeviceRequest { id, words, service_ns: None, write }))
    }

    /// Gives up the moves that are still to be made.
    pub fn cancel_moves(&mut self) {
        self.moves.clear();
    }
}
