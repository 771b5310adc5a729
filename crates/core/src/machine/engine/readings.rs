//! The meters, and who holds which part of memory, read off at the present moment.

use super::Pages;
use super::clockwork::Clockwork;
use crate::machine::meters::Meters;
use crate::machine::ready_list::{Job, ReadyList};
use crate::machine::spec::Residence;

impl<L: ReadyList> Clockwork<L> {
    /// Who holds the page frames.
    pub fn pages(&self) -> Option<Pages> {
        let (Some(paged), Residence::Paging(spec)) = (&self.paged, &self.machine.residence) else { return None };
        let held = (0..self.processes.len() as Job).map(|job| paged.frames.held(job)).collect();
        Some(Pages { frames: spec.frames, wired: spec.wired, free: paged.frames.free(), held })
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
