//! Processes share all processors: each joins with what it does next, and leaves when that is done.

use super::clockwork::Clockwork;
use super::errand::{Counted, Step};
use super::execution::{Departure, NextStep};
use super::process::ProcessState;
use super::sharing::{LONG_COMMAND_MESSAGE, MOST_WORK_NS, SharedActivity};
use crate::disciplines::{Job, ReadyList};
use crate::meters::{Category, FaultKind};

impl<L: ReadyList> Clockwork<L> {
    /// Lets `job`, which can run, have its share.
    pub fn join_share(&mut self, job: Job) {
        self.set_state(job, ProcessState::Running);
        self.scheduler.dispatches += 1;
        if self.execution.processes[job].on_errand {
            let interrupts = self.shared.as_mut().expect("processors that are shared").take_interrupts();
            let ns = interrupts.saturating_mul(self.execution.commands.costs.interrupt_ns);
            let step = Step::Spend { category: Category::Interrupt, ns, counted: Counted::Nothing };
            self.execution.processes[job].errand().steps.extend((ns > 0).then_some(step));
        }
        self.share_next_step(job);
    }

    /// Lets `job` do whatever is next.
    #[inline(always)]
    pub fn share_next_step(&mut self, job: Job) {
        let activity = match self.execution.next_step(job, self.events.now) {
            NextStep::Spend(category, ns) => SharedActivity { category, ns, is_work: false },
            NextStep::Leaves(departure) => return self.wait_for_device(job, departure),
            NextStep::Works => SharedActivity { category: Category::User, ns: self.execution.work_to_goal(job), is_work: true },
        };
        if activity.ns > MOST_WORK_NS {
            self.execution.failure.get_or_insert_with(|| LONG_COMMAND_MESSAGE.into());
        }
        let (now, ns) = (self.events.now, activity.ns.min(MOST_WORK_NS));
        let shared = self.shared.as_mut().expect("processors that are shared");
        if !shared.add(job, SharedActivity { ns, ..activity }, &mut self.processors, now) {
            self.scheduler.ready.rise(now);
        }
    }

    /// Ends the share that is over next, if that comes before all scheduled events and at `until` or before: whose it is, and where the
    /// process goes.
    #[inline(always)]
    pub fn end_due_share(&mut self, until: u64) -> Option<(Job, Departure)> {
        let scheduled = self.events.next_at();
        let shared = self.shared.as_mut()?;
        let due = shared.due.filter(|due| *due <= until && scheduled.is_none_or(|at| *due <= at))?;
        self.events.now = due;
        let (job, activity, idles) = shared.take_due(due, &mut self.processors);
        if !idles {
            self.scheduler.ready.fall(due);
        }
        if !activity.is_work {
            self.execution.on_step_done(job, activity.ns);
            return Some((job, Departure::Stays));
        }
        self.model_events += 1;
        self.execution.charge_work(job, activity.ns, due);
        Some((job, self.execution.on_goal_reached(job)))
    }

    /// Takes `job`, whose command is given up, out of the share.
    pub fn leave_share(&mut self, job: Job) {
        let now = self.events.now;
        let shared = self.shared.as_mut().expect("processors that are shared");
        if !shared.remove(job, &mut self.processors, now) {
            self.scheduler.ready.fall(now);
        }
        self.scheduler.list.forget(job);
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
