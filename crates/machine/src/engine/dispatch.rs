//! Processors are given to processes one at a time, and do for them one segment after the other.
//!
//! A segment has one category, and its end is one event. Between segments a processor first handles the interrupts that are queued
//! for it, then switches to its process, then does the supervisor's steps for it, then its work. Only work is cut short by a
//! pre-emption; a step is done first.

use super::clockwork::Clockwork;
use super::errand::Aim;
use super::execution::{Departure, NextStep};
use super::process::ProcessState;
use super::processor::{NO_PROCESS, ProcessorActivity};
use crate::disciplines::{Job, Off, ReadyList, Stay, Why};
use crate::meters::{Category, FaultKind};

/// What is to follow, once a processor does its next segment or idles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aftermath {
    /// Nothing.
    Nothing,
    /// The process, which has lost the processor and its eligibility, asks for it again; then the processor runs on.
    AsksAgain(Job),
    /// The interaction is over, and the processor released; then it runs on.
    InteractionOver(Job),
}

/// What became of a free processor.
enum Dispatched {
    /// The process has it.
    To(Job),
    /// A process has it, whose program must be brought in first.
    Loading,
    /// No process is ready.
    Idle,
}

impl<L: ReadyList> Clockwork<L> {
    /// Ends the segment of processor `p` whose time is over, up to the processor's next one or to what must happen before it.
    #[inline(always)]
    pub fn end_segment(&mut self, p: usize) -> Aftermath {
        let processor = &mut self.processors[p];
        let span_ns = processor.close(self.events.now);
        let job = processor.job;
        match processor.doing {
            ProcessorActivity::Work => {
                self.model_events += 1;
                let cut = processor.cut;
                self.charge_work(p, job, span_ns);
                if !cut {
                    let departure = self.execution.on_goal_reached(job);
                    if departure == Departure::Done {
                        self.take_off(p, job, Off::Done);
                        return Aftermath::InteractionOver(job);
                    }
                    self.leave_processor(p, job, departure);
                }
            }
            ProcessorActivity::Step => {
                processor.charge_turn(span_ns);
                self.execution.on_step_done(job, span_ns);
            }
            ProcessorActivity::Getwork => {
                processor.getwork = false;
                self.execution.charge_system(job, span_ns);
            }
            ProcessorActivity::Interrupt => self.execution.tallies.faults[FaultKind::Interrupt as usize].add(span_ns, 0),
            ProcessorActivity::Idle | ProcessorActivity::Loading => unreachable!("nothing ends on an idle processor"),
        }
        self.begin_next_segment(p)
    }

    /// Lets processor `p` begin its next segment, for its own process or another one, or idle.
    pub fn begin_next_segment(&mut self, p: usize) -> Aftermath {
        loop {
            let processor = &mut self.processors[p];
            if processor.interrupts > 0 {
                processor.interrupts -= 1;
                let interrupt_ns = self.execution.commands.costs.interrupt_ns;
                self.begin_segment(p, ProcessorActivity::Interrupt, Category::Interrupt, interrupt_ns);
                return Aftermath::Nothing;
            }
            let mut job = processor.job;
            if job == NO_PROCESS {
                match self.dispatch(p) {
                    Dispatched::To(dispatched) => job = dispatched,
                    Dispatched::Loading => return Aftermath::Nothing,
                    Dispatched::Idle => {
                        self.processors.make_idle(p, self.events.now);
                        return Aftermath::Nothing;
                    }
                }
            }
            if self.processors[p].getwork {
                let getwork_ns = self.execution.commands.costs.getwork_ns;
                self.begin_segment(p, ProcessorActivity::Getwork, Category::Getwork, getwork_ns);
                return Aftermath::Nothing;
            }
            match self.execution.next_step(job, self.events.now) {
                NextStep::Spend(category, ns) => {
                    self.begin_segment(p, ProcessorActivity::Step, category, ns);
                    return Aftermath::Nothing;
                }
                NextStep::Leaves(departure) => {
                    self.leave_processor(p, job, departure);
                    continue;
                }
                NextStep::Works => {}
            }
            let processor = &self.processors[p];
            let why = if processor.preempted {
                Off::Preempted
            } else if processor.slice_ns == 0 && self.execution.processes[job].left_ns > 0 {
                Off::TurnOver
            } else {
                self.begin_work(p, job);
                return Aftermath::Nothing;
            };
            let aftermath = self.end_turn(p, why);
            if aftermath != Aftermath::Nothing {
                return aftermath;
            }
        }
    }

    #[inline(always)]
    fn begin_segment(&mut self, p: usize, activity: ProcessorActivity, category: Category, length_ns: u64) {
        self.processors.begin(p, activity, category, self.events.now);
        self.events.schedule_segment_end(p, length_ns);
    }

    #[inline(always)]
    fn begin_work(&mut self, p: usize, job: Job) {
        let planned_ns = self.execution.work_to_goal(job);
        let processor = &mut self.processors[p];
        processor.cut = processor.slice_ns < planned_ns;
        let length_ns = planned_ns.min(processor.slice_ns);
        self.begin_segment(p, ProcessorActivity::Work, Category::User, length_ns);
    }

    /// Gives processor `p`, which has no process, to the process that runs next.
    #[inline(always)]
    fn dispatch(&mut self, p: usize) -> Dispatched {
        let Some(turn) = self.scheduler.take_next(self.events.now) else { return Dispatched::Idle };
        let waited_ns = self.set_state(turn.job, ProcessState::Running);
        let process = &mut self.execution.processes[turn.job];
        process.ready_wait_ns += waited_ns;
        process.processor = p as u16;
        let processor = &mut self.processors[p];
        processor.getwork = turn.job != processor.last && self.execution.commands.costs.getwork_ns > 0;
        processor.job = turn.job;
        processor.slice_ns = turn.slice_ns.max(1);
        processor.ran_ns = 0;
        if self.execution.memory.loader.is_some() && self.begin_loading(p, turn.job) {
            Dispatched::Loading
        } else {
            Dispatched::To(turn.job)
        }
    }

    /// Has the program of `job` moved in on processor `p`; false if it is in core memory.
    #[inline(always)]
    fn begin_loading(&mut self, p: usize, job: Job) -> bool {
        let process = &mut self.execution.processes[job];
        if !process.on_errand || process.errand().aim == Aim::Creation {
            return false;
        }
        let errand = process.errand();
        let (words, fresh) = (errand.image_words, std::mem::take(&mut errand.fresh));
        let loader = self.execution.memory.loader.as_mut().expect("programs are loaded on machines that swap");
        if !loader.plan_moves(job, words, fresh) {
            return false;
        }
        let processor = &mut self.processors[p];
        processor.close(self.events.now);
        processor.doing = ProcessorActivity::Loading;
        processor.category = Category::IdleLoading;
        self.set_state(job, ProcessState::Loading);
        self.request_next_move(job);
        true
    }

    /// Lets `job`, whose program has come into core memory, run on; its processor.
    pub fn end_loading(&mut self, job: Job) -> usize {
        let loaded_ns = self.set_state(job, ProcessState::Running);
        self.execution.on_page_loaded(job, loaded_ns);
        let p = self.execution.processes[job].processor as usize;
        debug_assert!(self.processors[p].job == job, "a program is brought in for the process that has the processor");
        p
    }

    /// Queues `job` for the processor that it has just had, or another one that becomes free.
    #[inline(always)]
    pub fn enqueue(&mut self, job: Job, why: Why) {
        self.set_state(job, ProcessState::Ready);
        self.scheduler.enqueue(job, why, self.events.now);
    }

    /// Takes processor `p` from its process, at once from its work, or after the step in hand. None if it is the latter.
    pub fn preempt(&mut self, p: usize) -> Option<Aftermath> {
        if self.processors[p].doing != ProcessorActivity::Work {
            self.processors[p].preempted = true;
            return None;
        }
        self.stop_work(p);
        Some(self.end_turn(p, Off::Preempted))
    }

    /// Breaks the work off that processor `p` does.
    pub fn stop_work(&mut self, p: usize) {
        self.events.cancel_segment_end(p);
        let span_ns = self.processors[p].close(self.events.now);
        self.charge_work(p, self.processors[p].job, span_ns);
    }

    #[inline]
    fn charge_work(&mut self, p: usize, job: Job, span_ns: u64) {
        self.processors[p].charge_turn(span_ns);
        self.execution.charge_work(job, span_ns, self.events.now);
    }

    /// Ends the turn of processor `p`'s process, whose work is not over.
    #[inline(always)]
    fn end_turn(&mut self, p: usize, why: Off) -> Aftermath {
        let job = self.processors[p].job;
        self.scheduler.preemptions += u64::from(why == Off::Preempted);
        match self.take_off(p, job, why) {
            Stay::Eligible => {
                self.enqueue(job, Why::Again);
                Aftermath::Nothing
            }
            Stay::Asks => Aftermath::AsksAgain(job),
        }
    }

    /// Takes processor `p` from `job`.
    #[inline(always)]
    pub fn take_off(&mut self, p: usize, job: Job, why: Off) -> Stay {
        let ran_ns = self.processors[p].ran_ns;
        self.processors.release(p);
        self.scheduler.list.off(job, ran_ns, why, self.events.now)
    }

    /// Lets `job` go on from processor `p` to its next stage; its interaction is not over.
    #[inline(always)]
    fn leave_processor(&mut self, p: usize, job: Job, departure: Departure) {
        if departure == Departure::Stays {
            return;
        }
        let stay = self.take_off(p, job, Off::Waits);
        debug_assert!(stay == Stay::Eligible, "a process that waits stays eligible");
        if departure == Departure::Requeues {
            self.enqueue(job, Why::Woken);
        } else {
            self.wait_for_device(job, departure);
        }
    }

    /// Has a device's interrupt handled: at once on an idle processor, else before the next segment of another one.
    pub fn interrupt(&mut self) {
        let interrupt_ns = self.execution.commands.costs.interrupt_ns;
        if interrupt_ns == 0 {
            self.execution.tallies.faults[FaultKind::Interrupt as usize].add(0, 0);
        } else if let Some(p) = self.processors.take_idle() {
            self.begin_segment(p, ProcessorActivity::Interrupt, Category::Interrupt, interrupt_ns);
        } else {
            self.processors.queue_interrupt();
        }
    }
}
