//! The meters, and who holds which part of memory, read off at the present moment.

use super::Pages;
use super::clockwork::Clockwork;
use super::paging::Paged;
use super::process::State;
use crate::core_memory::CoreMemory;
use crate::disciplines::{Job, ReadyList};
use crate::meters::{DeviceMeter, HolderMeter, MemoryMeter, Meters, WORD_BYTES};
use crate::spec::{Paging, Residence, Swapping};

impl<L: ReadyList> Clockwork<L> {
    /// Who holds the page frames.
    pub fn pages(&self) -> Option<Pages> {
        let (Some(paged), Residence::Paging(spec)) = (&self.paged, &self.machine.residence) else { return None };
        let held = (0..self.processes.len() as Job).map(|job| paged.frames.held(job)).collect();
        Some(Pages { frames: spec.frames, wired: spec.wired, free: paged.frames.free(), held })
    }

    /// Who holds which part of memory; `None` where everything always is in it.
    pub fn memory(&self) -> Option<MemoryMeter> {
        match (&self.machine.residence, &self.paged, &self.core) {
            (Residence::Paging(spec), Some(paged), _) => Some(self.paged_memory(spec, paged)),
            (Residence::Swapping(spec), _, Some(core)) => Some(self.swapped_memory(spec, core)),
            _ => None,
        }
    }

    fn paged_memory(&self, spec: &Paging, paged: &Paged) -> MemoryMeter {
        let page_bytes = u64::from(spec.frame_words) * WORD_BYTES;
        let frames = &paged.frames;
        let held = |job: Job| if frames.has_shares() && !self.has_share(job) { 0 } else { frames.held(job) };
        let holder = |job: Job| HolderMeter {
            there: self.processes[job as usize].state != State::Absent,
            resident_bytes: u64::from(held(job)) * page_bytes,
            device_bytes: frames.on_device(job).map(|pages| u64::from(pages) * page_bytes),
            moves: Some(frames.moves(job)),
        };
        let holders: Vec<HolderMeter> = self.jobs().map(holder).collect();
        let room_bytes = u64::from(paged.room) * page_bytes;
        let resident_bytes: u64 = holders.iter().map(|holder| holder.resident_bytes).sum();
        MemoryMeter {
            size_bytes: u64::from(spec.frames) * page_bytes,
            free_bytes: room_bytes.saturating_sub(resident_bytes),
            wired_bytes: u64::from(spec.wired) * page_bytes,
            holders,
            device: spec.behind.zip(frames.device()).map(|(behind, (pages, moves))| DeviceMeter {
                store: spec.store,
                used_bytes: u64::from(pages) * page_bytes,
                size_bytes: u64::from(behind.pages) * page_bytes,
                moves,
            }),
        }
    }

    /// Whether `job`, of those that have equal shares of the frames, is multiprogrammed now.
    fn has_share(&self, job: Job) -> bool {
        let process = &self.processes[job as usize];
        process.on_errand && !matches!(process.state, State::Absent | State::Thinking | State::Asking)
    }

    fn swapped_memory(&self, spec: &Swapping, core: &CoreMemory) -> MemoryMeter {
        let holder = |job: Job| HolderMeter {
            there: self.processes[job as usize].state != State::Absent,
            resident_bytes: core.held(job) * WORD_BYTES,
            device_bytes: None,
            moves: None,
        };
        MemoryMeter {
            size_bytes: spec.words * WORD_BYTES,
            free_bytes: core.free() * WORD_BYTES,
            wired_bytes: 0,
            holders: self.jobs().map(holder).collect(),
            device: None,
        }
    }

    fn jobs(&self) -> impl Iterator<Item = Job> {
        0..self.processes.len() as Job
    }

    /// All meters.
    pub fn meters(&self) -> Meters {
        let now = self.now;
        let time_ns: Vec<_> = match &self.shared {
            Some(shared) => shared.times(now, &self.processors),
            None => self.processors.iter().map(|processor| processor.times(now)).collect(),
        };
        for times in &time_ns {
            assert!(times.iter().sum::<u64>() == now, "a processor's categories add up to the time: {times:?} at {now}");
        }
        Meters {
            at: now,
            time_ns,
            stores: self.stores.iter().map(|store| store.meter(now)).collect(),
            ready: self.ready.at(now),
            eligible: self.eligible.at(now),
            asking: self.asking.at(now),
            active: self.active.at(now),
            faults: self.tallies.faults.clone(),
            command_faults: self.tallies.command_faults.clone(),
            primitives: self.tallies.primitives.clone(),
            dispatches: self.dispatches,
            preemptions: self.preemptions,
            interactions: self.interactions,
            events: self.events,
        }
    }
}
