//! The processes of all users: where each one is, and which requests to stores it still waits for.

use std::ops::{Index, IndexMut};

use super::process::{Process, ProcessState};
use crate::disciplines::Job;
use crate::meters::Level;
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Bits of a request's id that are the process's number; above them is the process's generation.
const JOB_BITS: u32 = 22;
const GENERATIONS: u16 = 1 << (32 - JOB_BITS);
/// The id of a request that no process waits for: the last generation is never used.
pub(super) const UNAWAITED_REQUEST: u32 = u32::MAX;

/// All processes, by number, with counts of what they do.
#[derive(Clone, Debug)]
pub(super) struct ProcessTable {
    seed: u64,
    processes: Vec<Process>,
    /// Processes that wait for a page.
    pub page_waiting: u32,
    /// Processes that wait for another device.
    pub disk_waiting: u32,
    /// Processes with a command in hand.
    pub active: Level,
}

impl ProcessTable {
    /// A table without processes; the work of those to come is drawn under this seed.
    pub fn new(seed: u64) -> ProcessTable {
        ProcessTable { seed, processes: Vec::new(), page_waiting: 0, disk_waiting: 0, active: Level::default() }
    }

    /// Makes processes with the numbers up to `job`, where they are missing.
    pub fn make_room(&mut self, job: Job) {
        for number in self.processes.len()..=job as usize {
            let stream = RandomStream::new(self.seed, number as u32 + 1, StreamPurpose::Work);
            self.processes.push(Process::new(stream));
        }
    }

    /// The process, if there has ever been one with this number.
    pub fn get(&self, job: Job) -> Option<&Process> {
        self.processes.get(job as usize)
    }

    /// The numbers of all processes.
    pub fn jobs(&self) -> std::ops::Range<Job> {
        0..self.processes.len() as Job
    }

    /// Sets where the process is from `now` on; how long it has been where it was.
    #[inline]
    pub fn set_state(&mut self, job: Job, state: ProcessState, now: u64) -> u64 {
        let process = &mut self[job];
        let stayed_ns = now - process.since;
        process.since = now;
        process.state = state;
        stayed_ns
    }

    /// The id for a request of `job`.
    #[inline]
    pub fn request_id(&self, job: Job) -> u32 {
        u32::from(self[job].generation) << JOB_BITS | job
    }

    /// The process that waits for the request. None if it was never awaited, or the command has been given up.
    #[inline]
    pub fn awaiting(&self, request_id: u32) -> Option<Job> {
        let job = request_id & ((1 << JOB_BITS) - 1);
        (request_id != UNAWAITED_REQUEST && u32::from(self[job].generation) == request_id >> JOB_BITS).then_some(job)
    }

    /// Lets `job` wait for none of its requests any more.
    pub fn disown_requests(&mut self, job: Job) {
        let process = &mut self[job];
        process.generation = (process.generation + 1) % (GENERATIONS - 1);
    }
}

impl Index<Job> for ProcessTable {
    type Output = Process;

    #[inline]
    fn index(&self, job: Job) -> &Process {
        &self.processes[job as usize]
    }
}

impl IndexMut<Job> for ProcessTable {
    #[inline]
    fn index_mut(&mut self, job: Job) -> &mut Process {
        &mut self.processes[job as usize]
    }
}
