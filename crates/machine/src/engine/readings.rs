//! Readings of the meters and of memory at the present instant.

use super::clockwork::Clockwork;
use super::paging::PagingState;
use super::process::ProcessState;
use super::processor::ProcessorActivity;
use super::told::Pages;
use crate::core_memory::CoreMemory;
use crate::disciplines::limited::Limited;
use crate::disciplines::{ProcessId, ReadyList};
use crate::meters::{DeviceMeter, HolderMeter, MachineMeters, MemoryMeter, WORD_BYTES};
use crate::spec::{Paging, Residence, Swapping};
use loadgo_core::record::LimitCounts;
use loadgo_core::system::UserId;

impl<L: ReadyList> Clockwork<L> {
    /// The holders of the page frames.
    pub fn pages(&self) -> Option<Pages> {
        let Residence::Paging(spec) = &self.execution.commands.machine.residence else { return None };
        let paged = self.execution.memory.paging.as_ref()?;
        let held = self.execution.processes.pids().map(|pid| paged.frames.held(pid)).collect();
        Some(Pages { frames: spec.frames, wired: spec.wired, free: paged.frames.free(), held })
    }

    /// The holders of memory; `None` if all programs are always in memory.
    pub fn memory(&self) -> Option<MemoryMeter> {
        let memory = &self.execution.memory;
        match (&self.execution.commands.machine.residence, &memory.paging, &memory.loader) {
            (Residence::Paging(spec), Some(paged), _) => Some(self.paged_memory(spec, paged)),
            (Residence::Swapping(spec), _, Some(loader)) => Some(self.swapped_memory(spec, &loader.core)),
            _ => None,
        }
    }

    fn paged_memory(&self, spec: &Paging, paged: &PagingState) -> MemoryMeter {
        let page_bytes = u64::from(spec.frame_words) * WORD_BYTES;
        let frames = &paged.frames;
        let held = |pid: ProcessId| if frames.has_shares() && !self.has_share(pid) { 0 } else { frames.held(pid) };
        let holder = |pid: ProcessId| HolderMeter {
            there: self.execution.processes[pid].state != ProcessState::Absent,
            resident_bytes: u64::from(held(pid)) * page_bytes,
            device_bytes: frames.on_device(pid).map(|pages| u64::from(pages) * page_bytes),
            moves: Some(frames.moves(pid)),
        };
        let holders: Vec<HolderMeter> = self.execution.processes.pids().map(holder).collect();
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

    /// Whether `pid` is multiprogrammed now, and so has its equal share of the frames.
    fn has_share(&self, pid: ProcessId) -> bool {
        let process = &self.execution.processes[pid];
        process.on_errand && !matches!(process.state, ProcessState::Absent | ProcessState::Thinking | ProcessState::Asking)
    }

    fn swapped_memory(&self, spec: &Swapping, core: &CoreMemory) -> MemoryMeter {
        let holder = |pid: ProcessId| HolderMeter {
            there: self.execution.processes[pid].state != ProcessState::Absent,
            resident_bytes: core.held(pid) * WORD_BYTES,
            device_bytes: None,
            moves: None,
        };
        MemoryMeter {
            size_bytes: spec.words * WORD_BYTES,
            free_bytes: core.free() * WORD_BYTES,
            wired_bytes: 0,
            holders: self.execution.processes.pids().map(holder).collect(),
            device: None,
        }
    }

    /// All meters.
    pub fn meters(&self) -> MachineMeters {
        let now = self.events.now;
        let processors = self.processors.all();
        let time_ns: Vec<_> = match &self.shared {
            Some(shared) => shared.times(now, processors),
            None => processors.iter().map(|processor| processor.times(now)).collect(),
        };
        for times in &time_ns {
            assert!(times.iter().sum::<u64>() == now, "a processor's categories add up to the time: {times:?} at {now}");
        }
        let tallies = &self.execution.tallies;
        MachineMeters {
            at: now,
            time_ns,
            stores: self.stores.meters(now),
            ready: self.scheduler.ready.at(now),
            eligible: self.eligibility.eligible.at(now),
            asking: self.eligibility.asking.at(now),
            active: self.execution.processes.active.at(now),
            faults: tallies.faults.clone(),
            command_faults: tallies.command_faults.clone(),
            primitives: tallies.primitives.clone(),
            dispatches: self.scheduler.dispatches,
            preemptions: self.scheduler.preemptions,
            interactions: self.interactions,
            events: self.model_events,
        }
    }
}

impl Clockwork<Limited> {
    /// The costs of each user's limits, with those of the work that is being done.
    pub fn limit_costs(&self) -> Vec<(UserId, LimitCounts)> {
        let now = self.events.now;
        let mut costs: Vec<_> = self.scheduler.list.costs(now).collect();
        for processor in self.processors.all() {
            let works = matches!(processor.doing, ProcessorActivity::Work | ProcessorActivity::Step | ProcessorActivity::Getwork)
                || processor.waits_for(ProcessorActivity::Step);
            if let Some((_, counts)) = costs.get_mut(processor.pid as usize).filter(|_| works) {
                counts.cpu_ns = counts.cpu_ns.map(|cpu_ns| cpu_ns + now - processor.since);
            }
        }
        costs
    }
}
