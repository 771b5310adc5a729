//! The processors of a machine, and the causes for which the idle ones idle.

use std::ops::{Index, IndexMut};

use super::processor::{NO_PROCESS, Processor, ProcessorActivity};
use crate::meters::Category;

/// Processes that wait, by the cause that they give to idle processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitingCounts {
    /// Processes that are not eligible and ask to be.
    pub asking: u64,
    /// Processes whose quota is used up.
    pub throttled: u64,
    /// Processes that wait for a page.
    pub for_pages: u64,
    /// Processes that wait for another device.
    pub for_disks: u64,
}

/// All processors.
#[derive(Clone, Debug)]
pub(super) struct ProcessorSet {
    processors: Vec<Processor>,
    /// Idle processors; the last one is the next to be used.
    idle: Vec<u16>,
    /// The positions in `idle` up to which each cause reaches: not eligible, governed, page wait, disk wait.
    idle_causes: [u64; 4],
    /// The processor that was given the last interrupt.
    last_interrupted: usize,
}

impl ProcessorSet {
    /// This number of processors, idle.
    pub fn new(count: usize) -> ProcessorSet {
        ProcessorSet {
            processors: vec![Processor::new(); count],
            idle: (0..count as u16).rev().collect(),
            idle_causes: [0; 4],
            last_interrupted: 0,
        }
    }

    /// All processors, by number.
    #[inline]
    pub fn all(&self) -> &[Processor] {
        &self.processors
    }

    /// All processors, by number, for changes.
    #[inline]
    pub fn all_mut(&mut self) -> &mut [Processor] {
        &mut self.processors
    }

    /// Removes and returns an idle processor.
    #[inline]
    pub fn take_idle(&mut self) -> Option<usize> {
        self.idle.pop().map(usize::from)
    }

    /// Removes processor `p` from the idle ones; false if it does not idle.
    pub fn take_idle_processor(&mut self, p: usize, now: u64) -> bool {
        let Some(position) = self.idle.iter().position(|idle| usize::from(*idle) == p) else { return false };
        self.idle.swap_remove(position);
        if let Some(moved) = self.idle.get(position) {
            let (cause, moved) = (self.idle_cause(position as u64), &mut self.processors[usize::from(*moved)]);
            if moved.category != cause {
                moved.close(now);
                moved.category = cause;
            }
        }
        true
    }

    /// Lets processor `p` idle from `now` on.
    #[inline]
    pub fn make_idle(&mut self, p: usize, now: u64) {
        let cause = self.idle_cause(self.idle.len() as u64);
        let processor = &mut self.processors[p];
        processor.close(now);
        processor.doing = ProcessorActivity::Idle;
        processor.category = cause;
        self.idle.push(p as u16);
    }

    /// Gives an interrupt to the next processor in turn, to be handled before its next segment.
    pub fn queue_interrupt(&mut self) {
        self.last_interrupted = (self.last_interrupted + 1) % self.processors.len();
        let processor = &mut self.processors[self.last_interrupted];
        processor.interrupts += 1;
        processor.interrupted = match processor.doing {
            ProcessorActivity::Interrupt => processor.interrupted,
            ProcessorActivity::LockWait if processor.waits_for(ProcessorActivity::Interrupt) => processor.interrupted,
            ProcessorActivity::Idle | ProcessorActivity::Loading => NO_PROCESS,
            ProcessorActivity::Getwork | ProcessorActivity::Step | ProcessorActivity::LockWait | ProcessorActivity::Work => {
                processor.pid
            }
        };
    }

    /// Checks whether idle processors still idle for the same causes, and begins a new span for those that do not.
    ///
    /// Each idle processor has one cause. As many are *not eligible* as processes ask. As many of the next
    /// are throttled, wait for a page or wait for a disk as processes do. The others have no process to run. This is the order of the Multics idle process, which asks itself when it
    /// is dispatched. A processor whose program is being brought in has none of these causes.
    #[inline]
    pub fn update_idle_causes(&mut self, waiting: impl FnOnce() -> WaitingCounts, now: u64) {
        if self.idle.is_empty() {
            return;
        }
        let idle = self.idle.len() as u64;
        let waiting = waiting();
        let throttled = waiting.asking + waiting.throttled;
        let for_pages = throttled + waiting.for_pages;
        let for_disks = for_pages + waiting.for_disks;
        let causes = [waiting.asking, throttled, for_pages, for_disks].map(|reach| reach.min(idle));
        if causes != self.idle_causes {
            self.change_idle_causes(causes, now);
        }
    }

    /// Begins new spans for the processors whose cause has changed.
    #[inline]
    fn change_idle_causes(&mut self, causes: [u64; 4], now: u64) {
        let before = std::mem::replace(&mut self.idle_causes, causes);
        for (old, new) in before.into_iter().zip(causes) {
            let end = old.max(new).min(self.idle.len() as u64);
            for position in old.min(new)..end {
                let cause = self.idle_cause(position);
                let processor = &mut self.processors[self.idle[position as usize] as usize];
                if processor.category != cause {
                    processor.close(now);
                    processor.category = cause;
                }
            }
        }
    }

    /// The cause for which the processor at this position of `idle` idles.
    #[inline]
    fn idle_cause(&self, position: u64) -> Category {
        let [not_eligible, governed, for_pages, for_disks] = self.idle_causes;
        if position < not_eligible {
            Category::IdleNotEligible
        } else if position < governed {
            Category::IdleGoverned
        } else if position < for_pages {
            Category::IdlePageWait
        } else if position < for_disks {
            Category::IdleDiskWait
        } else {
            Category::IdleZero
        }
    }
}

impl Index<usize> for ProcessorSet {
    type Output = Processor;

    #[inline]
    fn index(&self, p: usize) -> &Processor {
        &self.processors[p]
    }
}

impl IndexMut<usize> for ProcessorSet {
    #[inline]
    fn index_mut(&mut self, p: usize) -> &mut Processor {
        &mut self.processors[p]
    }
}
