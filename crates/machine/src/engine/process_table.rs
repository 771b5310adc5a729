//! The processes of all users, with their states and the requests to stores that they wait for.

use std::ops::{Index, IndexMut};

use super::process::{Process, ProcessState};
use crate::disciplines::ProcessId;
use crate::meters::TimedCount;
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Bits of a request's id that are the process's number; above them is the process's generation.
const PROCESS_ID_BITS: u32 = 22;
const GENERATIONS: u16 = 1 << (32 - PROCESS_ID_BITS);
/// The id of a request that no process waits for: the last generation is never used.
pub(super) const UNAWAITED_REQUEST: u32 = u32::MAX;

/// All processes by number, with counts of their states.
#[derive(Clone, Debug)]
pub(super) struct ProcessTable {
    seed: u64,
    processes: Vec<Process>,
    /// Processes that wait for a page.
    pub page_waiting: u32,
    /// Processes that wait for another device.
    pub disk_waiting: u32,
    /// Processes whose command is not answered.
    pub active: TimedCount,
}

impl ProcessTable {
    /// A table without processes. Later processes draw their work under this seed.
    pub fn new(seed: u64) -> ProcessTable {
        ProcessTable { seed, processes: Vec::new(), page_waiting: 0, disk_waiting: 0, active: TimedCount::default() }
    }

    /// Creates missing processes with the numbers up to `pid`.
    pub fn make_room(&mut self, pid: ProcessId) {
        for number in self.processes.len()..=pid as usize {
            let stream = RandomStream::new(self.seed, number as u32 + 1, StreamPurpose::Work);
            self.processes.push(Process::new(stream));
        }
    }

    /// The process with this number, if there has ever been one.
    pub fn get(&self, pid: ProcessId) -> Option<&Process> {
        self.processes.get(pid as usize)
    }

    /// The numbers of all processes.
    pub fn pids(&self) -> std::ops::Range<ProcessId> {
        0..self.processes.len() as ProcessId
    }

    /// Sets the state of a process from `now` on, and returns how long it was in the state before.
    #[inline]
    pub fn set_state(&mut self, pid: ProcessId, state: ProcessState, now: u64) -> u64 {
        self[pid].enter(state, now)
    }

    /// The id for a request of `pid`.
    #[inline]
    pub fn request_id(&self, pid: ProcessId) -> u32 {
        u32::from(self[pid].generation) << PROCESS_ID_BITS | pid
    }

    /// The process that waits for the request. None if no process ever waited, or the command has been given up.
    #[inline]
    pub fn awaiting(&self, request_id: u32) -> Option<ProcessId> {
        let pid = request_id & ((1 << PROCESS_ID_BITS) - 1);
        (request_id != UNAWAITED_REQUEST && u32::from(self[pid].generation) == request_id >> PROCESS_ID_BITS).then_some(pid)
    }

    /// Lets `pid` wait for none of its requests any more.
    pub fn disown_requests(&mut self, pid: ProcessId) {
        let process = &mut self[pid];
        process.generation = (process.generation + 1) % (GENERATIONS - 1);
    }
}

impl Index<ProcessId> for ProcessTable {
    type Output = Process;

    #[inline]
    fn index(&self, pid: ProcessId) -> &Process {
        &self.processes[pid as usize]
    }
}

impl IndexMut<ProcessId> for ProcessTable {
    #[inline]
    fn index_mut(&mut self, pid: ProcessId) -> &mut Process {
        &mut self.processes[pid as usize]
    }
}
