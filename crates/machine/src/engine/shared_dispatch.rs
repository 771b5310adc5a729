//! Processor sharing: each process joins with its next step or work, and leaves when that is done.

use super::clockwork::Clockwork;
use super::errand::{StepCount, SupervisorStep};
use super::error::EngineError;
use super::execution::{Departure, NextStep};
use super::process::ProcessState;
use super::sharing::{MOST_WORK_NS, SharedActivity};
use crate::disciplines::{ProcessId, ReadyList};
use crate::meters::{Category, FaultKind};

impl<L: ReadyList> Clockwork<L> {
    /// Lets `pid`, which can run, have its share.
    pub fn join_share(&mut self, pid: ProcessId) {
        self.set_state(pid, ProcessState::Running);
        self.scheduler.dispatches += 1;
        if self.execution.processes[pid].on_errand {
            let interrupts = self.shared.as_mut().expect("processors that are shared").take_interrupts();
            let ns = interrupts.saturating_mul(self.execution.commands.costs.interrupt_ns);
            let step = SupervisorStep::Spend { category: Category::Interrupt, ns, counted: StepCount::Nothing };
            self.execution.processes[pid].errand().steps.extend((ns > 0).then_some(step));
        }
        self.share_next_step(pid);
    }

    /// Lets `pid` do its next step or work.
    #[inline(always)]
    pub fn share_next_step(&mut self, pid: ProcessId) {
        let activity = match self.execution.next_step(pid, self.events.now) {
            NextStep::Spend(category, ns) => SharedActivity { category, ns, is_work: false },
            NextStep::Leaves(departure) => return self.wait_for_device(pid, departure),
            NextStep::Works => SharedActivity { category: Category::User, ns: self.execution.work_to_goal(pid), is_work: true },
        };
        if activity.ns > MOST_WORK_NS {
            self.execution.failure.get_or_insert(EngineError::LongCommand);
        }
        let (now, ns) = (self.events.now, activity.ns.min(MOST_WORK_NS));
        let shared = self.shared.as_mut().expect("processors that are shared");
        if !shared.add(pid, SharedActivity { ns, ..activity }, &mut self.processors, now) {
            self.scheduler.ready.rise(now);
        }
    }

    /// Ends the share that is over next, if it ends before all scheduled events and at `until` or before.
    ///
    /// Returns the process and its next place.
    #[inline(always)]
    pub fn end_due_share(&mut self, until: u64) -> Option<(ProcessId, Departure)> {
        let scheduled = self.events.next_at();
        let shared = self.shared.as_mut()?;
        let due = shared.due.filter(|due| *due <= until && scheduled.is_none_or(|at| *due <= at))?;
        self.events.now = due;
        let (pid, activity, idles) = shared.take_due(due, &mut self.processors);
        if !idles {
            self.scheduler.ready.fall(due);
        }
        if !activity.is_work {
            self.execution.on_step_done(pid, activity.ns);
            return Some((pid, Departure::Stays));
        }
        self.model_events += 1;
        self.execution.charge_work(pid, activity.ns, due);
        Some((pid, self.execution.on_goal_reached(pid)))
    }

    /// Takes `pid`, whose command is given up, out of the share.
    pub fn leave_share(&mut self, pid: ProcessId) {
        let now = self.events.now;
        let shared = self.shared.as_mut().expect("processors that are shared");
        if !shared.remove(pid, &mut self.processors, now) {
            self.scheduler.ready.fall(now);
        }
        self.scheduler.list.forget(pid);
    }

    /// Keeps a device's interrupt for the next process that joins.
    pub fn interrupt_shared(&mut self) {
        let interrupt_ns = self.execution.commands.costs.interrupt_ns;
        self.execution.tallies.faults[FaultKind::Interrupt as usize].add(interrupt_ns, 0);
        if interrupt_ns > 0 {
            self.shared.as_mut().expect("processors that are shared").queue_interrupt();
        }
    }
}
