//! Dispatching: each processor has one process at a time, and does one segment after the other for it.
//!
//! A segment has one category, and its end is one event. Between segments, a processor first handles its queued interrupts. Then
//! it switches to its process, does the supervisor's steps for it, and then its work. A pre-emption cuts only work short; a step
//! is done first.

use super::clockwork::Clockwork;
use super::errand::ErrandPurpose;
use super::execution::{Departure, NextStep};
use super::process::ProcessState;
use super::processor::{NO_PROCESS, ProcessorActivity, WaitingPath};
use crate::disciplines::{EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList};
use crate::meters::{Category, FaultKind};

/// An action that must be done before the processor can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aftermath {
    /// Nothing.
    Nothing,
    /// The process has lost the processor and its eligibility, and asks to be eligible again.
    AsksAgain(ProcessId),
    /// The interaction is over, and the process has released the processor.
    InteractionOver(ProcessId),
}

/// The result of dispatching a free processor.
enum Dispatched {
    /// A process has it.
    To(ProcessId),
    /// A process has it, and has begun to work, or its program is being brought in.
    Begun,
    /// No process is ready.
    Idle,
}

impl<L: ReadyList> Clockwork<L> {
    /// Ends the segment of processor `p`, and begins the next one unless the returned action must come before.
    #[inline(always)]
    pub fn end_segment(&mut self, p: usize) -> Aftermath {
        let now = self.events.now;
        let processor = &mut self.processors[p];
        let span_ns = processor.close(now);
        let pid = processor.pid;
        match processor.doing {
            ProcessorActivity::Work => {
                self.model_events += 1;
                processor.charge_turn(span_ns);
                let (cut, is_turn_over) = (processor.cut, processor.is_turn_over());
                self.charge_quota(pid, span_ns);
                self.execution.charge_work(pid, span_ns, now);
                if cut {
                    // The usual end of a turn, without a look at what only other turns have.
                    if !L::HAS_QUOTAS && is_turn_over {
                        let aftermath = self.end_turn(p, pid, LeaveCause::TurnOver);
                        if aftermath != Aftermath::Nothing {
                            return aftermath;
                        }
                    }
                } else {
                    let departure = self.execution.on_goal_reached(pid);
                    if departure == Departure::Done {
                        self.take_off(p, pid, LeaveCause::Done);
                        return Aftermath::InteractionOver(pid);
                    }
                    self.leave_processor(p, pid, departure);
                }
            }
            ProcessorActivity::Step => {
                processor.charge_turn(span_ns);
                self.charge_quota(pid, span_ns);
                self.execution.on_step_done(pid, span_ns);
            }
            ProcessorActivity::Getwork => {
                processor.getwork_ns = 0;
                self.scheduler.list.count_switch(pid, span_ns);
                self.execution.charge_getwork(pid, span_ns);
            }
            ProcessorActivity::Interrupt => {
                let interrupted = processor.interrupted;
                self.execution.end_interrupt(interrupted, span_ns);
            }
            ProcessorActivity::LockWait => return self.end_lock_wait(p, span_ns),
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
                self.begin_path(p, ProcessorActivity::Interrupt, Category::Interrupt, interrupt_ns);
                return Aftermath::Nothing;
            }
            let mut pid = processor.pid;
            if pid == NO_PROCESS {
                match self.dispatch(p) {
                    Dispatched::To(dispatched) => pid = dispatched,
                    Dispatched::Begun => return Aftermath::Nothing,
                    Dispatched::Idle => {
                        self.processors.make_idle(p, self.events.now);
                        return Aftermath::Nothing;
                    }
                }
            }
            let getwork_ns = self.processors[p].getwork_ns;
            if getwork_ns > 0 {
                self.begin_path(p, ProcessorActivity::Getwork, Category::Getwork, getwork_ns);
                return Aftermath::Nothing;
            }
            match self.execution.next_step(pid, self.events.now) {
                NextStep::Spend(category, ns) => {
                    self.begin_path(p, ProcessorActivity::Step, category, ns);
                    return Aftermath::Nothing;
                }
                NextStep::Leaves(departure) => {
                    self.leave_processor(p, pid, departure);
                    continue;
                }
                NextStep::Works => {}
            }
            let processor = &self.processors[p];
            let (is_preempted, slice_ns) = (processor.preempted, processor.slice_ns);
            let allowed_ns = self.allowed_ns(pid, slice_ns);
            let why = if is_preempted {
                LeaveCause::Preempted
            } else if allowed_ns == 0 && self.execution.processes[pid].left_ns > 0 {
                LeaveCause::TurnOver
            } else {
                self.begin_work(p, pid, allowed_ns);
                return Aftermath::Nothing;
            };
            let aftermath = self.end_turn(p, pid, why);
            if aftermath != Aftermath::Nothing {
                return aftermath;
            }
        }
    }

    #[inline(never)]
    fn begin_segment(&mut self, p: usize, activity: ProcessorActivity, category: Category, length_ns: u64) {
        self.processors[p].begin(activity, category, self.events.now);
        self.events.schedule_segment_end(p, length_ns);
    }

    /// Begins a path of the supervisor, once processor `p` has the path's lock.
    #[inline(always)]
    fn begin_path(&mut self, p: usize, activity: ProcessorActivity, category: Category, length_ns: u64) {
        if let Some(locks) = &mut self.locks {
            let wait_ns = locks.take(category, length_ns, self.events.now);
            if wait_ns > 0 {
                self.processors[p].waiting = Some(WaitingPath { activity, category, length_ns });
                return self.begin_segment(p, ProcessorActivity::LockWait, Category::LockWait, wait_ns);
            }
        }
        self.begin_segment(p, activity, category, length_ns);
    }

    /// Ends the wait of processor `p` for a lock, charges for it as for the path, and begins the path.
    fn end_lock_wait(&mut self, p: usize, span_ns: u64) -> Aftermath {
        let path = self.processors[p].waiting.take().expect("a processor waits for the lock of a path");
        self.charge_lock_wait(p, path.activity, span_ns);
        self.begin_segment(p, path.activity, path.category, path.length_ns);
        Aftermath::Nothing
    }

    /// Charges for `span_ns` for which processor `p` waited for the lock of a path of this activity.
    pub fn charge_lock_wait(&mut self, p: usize, activity: ProcessorActivity, span_ns: u64) {
        let pid = self.processors[p].pid;
        match activity {
            ProcessorActivity::Interrupt => self.execution.charge_interrupt(self.processors[p].interrupted, span_ns),
            ProcessorActivity::Getwork => self.execution.charge_getwork(pid, span_ns),
            _ => {
                self.processors[p].charge_turn(span_ns);
                self.charge_quota(pid, span_ns);
                self.execution.charge_system(pid, span_ns);
            }
        }
    }

    #[inline(always)]
    fn begin_work(&mut self, p: usize, pid: ProcessId, allowed_ns: u64) {
        let planned_ns = self.execution.work_to_goal(pid);
        let length_ns = self.processors[p].begin_work(planned_ns, allowed_ns, self.events.now);
        self.events.schedule_segment_end(p, length_ns);
    }

    /// How long the rest of a turn, and the quota of `pid`, which has it, let the process work on.
    #[inline(always)]
    fn allowed_ns(&mut self, pid: ProcessId, slice_ns: u64) -> u64 {
        if L::HAS_QUOTAS { slice_ns.min(self.scheduler.list.allowance_ns(pid, self.events.now)) } else { slice_ns }
    }

    /// Charges the quota of `pid` for having run for `span_ns` until now.
    #[inline(always)]
    pub fn charge_quota(&mut self, pid: ProcessId, span_ns: u64) {
        if L::HAS_QUOTAS {
            self.scheduler.list.charge(pid, self.events.now - span_ns, self.events.now);
        }
    }

    /// Gives processor `p`, which has no process, to the process that runs next.
    #[inline(always)]
    fn dispatch(&mut self, p: usize) -> Dispatched {
        let now = self.events.now;
        let Some(turn) = self.scheduler.take_next(p, now) else {
            self.schedule_balance();
            return Dispatched::Idle;
        };
        let process = &mut self.execution.processes[turn.pid];
        let waited_ns = process.enter(ProcessState::Running, now);
        process.ready_wait_ns += waited_ns;
        process.processor = p as u16;
        let processor = &mut self.processors[p];
        let costs = &self.execution.commands.costs;
        let getwork_ns = if turn.pid == processor.last { costs.dispatch_ns } else { costs.getwork_ns };
        processor.take(turn, getwork_ns);
        if !L::HAS_QUOTAS && !process.on_errand && getwork_ns == 0 {
            // A process on a route that is switched to in no time has nothing to do before its work.
            let length_ns = processor.begin_work(process.left_ns, processor.slice_ns, now);
            self.events.schedule_segment_end(p, length_ns);
            return Dispatched::Begun;
        }
        if self.execution.memory.loader.is_some() && self.begin_loading(p, turn.pid) {
            Dispatched::Begun
        } else {
            Dispatched::To(turn.pid)
        }
    }

    /// Begins to bring the program of `pid` into core memory, while processor `p` waits. Returns false if it is there already.
    #[inline(always)]
    fn begin_loading(&mut self, p: usize, pid: ProcessId) -> bool {
        let process = &mut self.execution.processes[pid];
        if !process.on_errand || process.errand().aim == ErrandPurpose::Creation {
            return false;
        }
        let errand = process.errand();
        let (words, fresh) = (errand.image_words, std::mem::take(&mut errand.fresh));
        let loader = self.execution.memory.loader.as_mut().expect("programs are loaded on machines that swap");
        if !loader.plan_moves(pid, words, fresh) {
            return false;
        }
        let processor = &mut self.processors[p];
        processor.close(self.events.now);
        processor.doing = ProcessorActivity::Loading;
        processor.category = Category::IdleLoading;
        self.set_state(pid, ProcessState::Loading);
        self.request_next_move(pid);
        true
    }

    /// Lets `pid`, whose program is now in core memory, run on. Returns its processor.
    pub fn end_loading(&mut self, pid: ProcessId) -> usize {
        let loaded_ns = self.set_state(pid, ProcessState::Running);
        self.execution.on_page_loaded(pid, loaded_ns);
        let p = self.execution.processes[pid].processor as usize;
        debug_assert!(self.processors[p].pid == pid, "a program is brought in for the process that has the processor");
        p
    }

    /// Queues `pid` for the processor that it has just had, or another one that becomes free.
    #[inline(always)]
    pub fn enqueue(&mut self, pid: ProcessId, why: ReadyCause) {
        self.set_state(pid, ProcessState::Ready);
        self.scheduler.enqueue(pid, why, self.events.now);
        if L::HAS_QUOTAS
            && let Some(at) = self.scheduler.list.take_new_refill(pid)
        {
            self.events.schedule_refill(pid, at);
        }
        self.schedule_balance();
    }

    /// Schedules the next move of waiting processes to idle processors, if there is anything to move.
    #[inline(always)]
    pub fn schedule_balance(&mut self) {
        if L::BALANCES
            && let Some(at) = self.scheduler.list.take_balance()
        {
            self.events.schedule_balance(at);
        }
    }

    /// Takes processor `p` from its process. None if the process keeps it until the end of the current step.
    pub fn preempt(&mut self, p: usize) -> Option<Aftermath> {
        if self.processors[p].doing != ProcessorActivity::Work {
            self.processors[p].preempted = true;
            return None;
        }
        self.stop_work(p);
        Some(self.end_turn(p, self.processors[p].pid, LeaveCause::Preempted))
    }

    /// Ends the current work of processor `p` early.
    pub fn stop_work(&mut self, p: usize) {
        self.events.cancel_segment_end(p);
        let now = self.events.now;
        let processor = &mut self.processors[p];
        let (span_ns, pid) = (processor.close(now), processor.pid);
        processor.charge_turn(span_ns);
        self.charge_quota(pid, span_ns);
        self.execution.charge_work(pid, span_ns, now);
    }

    /// Ends the turn of `pid` on processor `p`; the work of `pid` is not over.
    #[inline(always)]
    fn end_turn(&mut self, p: usize, pid: ProcessId, why: LeaveCause) -> Aftermath {
        self.scheduler.preemptions += u64::from(why == LeaveCause::Preempted);
        match self.take_off(p, pid, why) {
            EligibilityAfterTurn::Eligible => {
                self.enqueue(pid, ReadyCause::Again);
                Aftermath::Nothing
            }
            EligibilityAfterTurn::Asks => Aftermath::AsksAgain(pid),
        }
    }

    /// Takes processor `p` from `pid`.
    #[inline(always)]
    pub fn take_off(&mut self, p: usize, pid: ProcessId, why: LeaveCause) -> EligibilityAfterTurn {
        let ran_ns = self.processors[p].release();
        self.scheduler.list.off(pid, ran_ns, why, self.events.now)
    }

    /// Lets `pid` go on from processor `p` to its next stage; its interaction is not over.
    #[inline(always)]
    fn leave_processor(&mut self, p: usize, pid: ProcessId, departure: Departure) {
        if departure == Departure::Stays {
            return;
        }
        let stay = self.take_off(p, pid, LeaveCause::Waits);
        debug_assert!(stay == EligibilityAfterTurn::Eligible, "a process that waits stays eligible");
        if departure == Departure::Requeues {
            self.enqueue(pid, ReadyCause::Woken);
        } else {
            self.wait_for_device(pid, departure);
        }
    }

    /// Assigns a device's interrupt to an idle processor, or queues it before the next segment of a busy processor.
    pub fn interrupt(&mut self) {
        let interrupt_ns = self.execution.commands.costs.interrupt_ns;
        if interrupt_ns == 0 {
            self.execution.tallies.faults[FaultKind::Interrupt as usize].add(0, 0);
        } else if let Some(p) = self.processors.take_idle() {
            self.processors[p].interrupted = NO_PROCESS;
            self.begin_path(p, ProcessorActivity::Interrupt, Category::Interrupt, interrupt_ns);
        } else {
            self.processors.queue_interrupt();
        }
    }
}
