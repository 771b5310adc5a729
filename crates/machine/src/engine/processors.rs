//! How processors are given to processes, and what they do for them, one segment after the other.
//!
//! A segment has one category, and its end is one event of the calendar. Between segments a processor first handles the interrupts that
//! it owes, then switches to its process, then does the supervisor's steps for it, then its work. Only work is cut short by a
//! pre-emption; a step is done first.

use super::clockwork::Clockwork;
use super::process::State;
use super::processor::{Doing, NOBODY};
use super::work::{Fate, Next};
use crate::disciplines::{Job, Off, ReadyList, Stay, Why};
use crate::meters::{Category, FaultKind};

impl<L: ReadyList> Clockwork<L> {
    /// What processor `p` does is over.
    #[inline]
    pub(super) fn segment_over(&mut self, p: usize) {
        let now = self.now;
        let processor = &mut self.processors[p];
        let span_ns = processor.close(now);
        let job = processor.job;
        match processor.doing {
            Doing::Work => {
                self.events += 1;
                let cut = processor.cut;
                self.worked_on(p, job, span_ns);
                if !cut {
                    let fate = self.reached(job);
                    self.go_or_leave(p, job, fate);
                }
            }
            Doing::Step => {
                processor.ran_ns += span_ns;
                processor.slice_ns = processor.slice_ns.saturating_sub(span_ns);
                self.step_done(job, span_ns);
            }
            Doing::Getwork => {
                processor.getwork = false;
                self.charge_system(job, span_ns);
            }
            Doing::Interrupt => self.tallies.faults[FaultKind::Interrupt as usize].add(span_ns, 0),
            Doing::Idle | Doing::Loading => unreachable!("nothing ends on an idle processor"),
        }
        self.carry_on(p);
    }

    /// Accounts for work that `job` has done on processor `p`.
    #[inline]
    fn worked_on(&mut self, p: usize, job: Job, span_ns: u64) {
        let processor = &mut self.processors[p];
        processor.ran_ns += span_ns;
        processor.slice_ns = processor.slice_ns.saturating_sub(span_ns);
        self.worked(job, span_ns);
    }

    /// Lets processor `p` begin whatever is next.
    pub(super) fn carry_on(&mut self, p: usize) {
        loop {
            let processor = &mut self.processors[p];
            if processor.interrupts > 0 {
                processor.interrupts -= 1;
                return self.begin_segment(p, Doing::Interrupt, Category::Interrupt, self.costs.interrupt_ns);
            }
            let mut job = processor.job;
            if job == NOBODY {
                match self.dispatch(p) {
                    Dispatched::To(dispatched) => job = dispatched,
                    Dispatched::Loading => return,
                    Dispatched::Nobody => return self.go_idle(p),
                }
            }
            if self.processors[p].getwork {
                return self.begin_segment(p, Doing::Getwork, Category::Getwork, self.costs.getwork_ns);
            }
            if self.processes[job as usize].on_errand {
                match self.next_step(job) {
                    Next::Spend(category, ns) => return self.begin_segment(p, Doing::Step, category, ns),
                    Next::Leaves(fate) => {
                        self.go_or_leave(p, job, fate);
                        continue;
                    }
                    Next::Works => {}
                }
            }
            let processor = &self.processors[p];
            if processor.preempted {
                self.turn_ends(p, Off::Preempted);
            } else if processor.slice_ns == 0 && self.processes[job as usize].left_ns > 0 {
                self.turn_ends(p, Off::TurnOver);
            } else {
                return self.begin_work(p, job);
            }
        }
    }

    #[inline]
    fn begin_segment(&mut self, p: usize, doing: Doing, category: Category, length_ns: u64) {
        let now = self.now;
        let processor = &mut self.processors[p];
        if processor.since != now {
            processor.close(now);
        }
        processor.doing = doing;
        processor.category = category;
        self.enter_segment(p, length_ns);
    }

    #[inline]
    fn begin_work(&mut self, p: usize, job: Job) {
        let process = &mut self.processes[job as usize];
        let planned_ns = if process.on_errand { self.plan(job) } else { process.left_ns };
        let processor = &mut self.processors[p];
        processor.cut = processor.slice_ns < planned_ns;
        let length_ns = planned_ns.min(processor.slice_ns);
        self.begin_segment(p, Doing::Work, Category::User, length_ns);
    }

    /// Gives processor `p`, which has nobody, to who runs next.
    #[inline]
    fn dispatch(&mut self, p: usize) -> Dispatched {
        let Some(turn) = self.list.next(self.now) else { return Dispatched::Nobody };
        let waited_ns = self.place(turn.job, State::Running);
        self.ready.fall(self.now);
        self.dispatches += 1;
        let process = &mut self.processes[turn.job as usize];
        process.ready_wait_ns += waited_ns;
        process.processor = p as u16;
        let processor = &mut self.processors[p];
        processor.getwork = turn.job != processor.last && self.costs.getwork_ns > 0;
        processor.job = turn.job;
        processor.slice_ns = turn.slice_ns.max(1);
        processor.ran_ns = 0;
        if self.core.is_some() && self.begin_loading(p, turn.job) { Dispatched::Loading } else { Dispatched::To(turn.job) }
    }

    pub(super) fn go_idle(&mut self, p: usize) {
        let cause = self.idle_cause(self.idle.len() as u64);
        let processor = &mut self.processors[p];
        processor.close(self.now);
        processor.doing = Doing::Idle;
        processor.category = cause;
        self.idle.push(p as u16);
    }

    /// Makes `job` ready, and gives it a processor that idles or is to be taken from somebody else.
    #[inline]
    pub(super) fn make_ready(&mut self, job: Job, why: Why) {
        if self.shared.is_some() {
            return self.joins(job);
        }
        self.queue_ready(job, why);
        if std::mem::take(&mut self.in_hand) {
            return;
        }
        if let Some(p) = self.idle.pop() {
            self.carry_on(p as usize);
        } else if let Some(p) = self.whom_to_preempt(job) {
            self.preempt(p);
        }
    }

    /// Makes `job` ready for the processor that it has just had, or another that becomes free.
    #[inline]
    fn queue_ready(&mut self, job: Job, why: Why) {
        self.place(job, State::Ready);
        self.ready.rise(self.now);
        self.list.ready(job, why, self.now);
    }

    /// The processor whose process is to give way to `arrived`: the one that would give way to all others that would.
    #[inline]
    fn whom_to_preempt(&self, arrived: Job) -> Option<usize> {
        let mut chosen: Option<usize> = None;
        for (p, processor) in self.processors.iter().enumerate() {
            let running = processor.job;
            if running != NOBODY && !processor.preempted && self.list.preempts(arrived, running) {
                let better = chosen.is_none_or(|other| self.list.preempts(self.processors[other].job, running));
                chosen = if better { Some(p) } else { chosen };
            }
        }
        chosen
    }

    fn preempt(&mut self, p: usize) {
        if self.processors[p].doing != Doing::Work {
            self.processors[p].preempted = true;
            return;
        }
        self.cancel_segment(p);
        self.stop_work(p);
        self.turn_ends(p, Off::Preempted);
        self.carry_on(p);
    }

    /// Accounts for work that is broken off.
    pub(super) fn stop_work(&mut self, p: usize) {
        let span_ns = self.processors[p].close(self.now);
        self.worked_on(p, self.processors[p].job, span_ns);
    }

    /// The turn of processor `p`'s process is over, and its work is not.
    #[inline]
    fn turn_ends(&mut self, p: usize, why: Off) {
        let (job, ran_ns) = (self.processors[p].job, self.processors[p].ran_ns);
        self.preemptions += u64::from(why == Off::Preempted);
        self.free_processor(p);
        match self.list.off(job, ran_ns, why, self.now) {
            Stay::Eligible => self.queue_ready(job, Why::Again),
            Stay::Asks => {
                self.in_hand = self.processors[p].interrupts == 0;
                self.asks_again(job);
                self.in_hand = false;
            }
        }
    }

    /// `job` has come to its goal on processor `p`: it goes on there, or leaves it.
    #[inline]
    fn go_or_leave(&mut self, p: usize, job: Job, fate: Fate) {
        let why = match fate {
            Fate::Goes => return,
            Fate::Done => Off::Done,
            _ => Off::Waits,
        };
        let ran_ns = self.processors[p].ran_ns;
        self.free_processor(p);
        let stay = self.list.off(job, ran_ns, why, self.now);
        debug_assert!(stay == Stay::Eligible || why == Off::Done, "who waits stays eligible");
        if let Fate::Requeues = fate {
            return self.queue_ready(job, Why::Woken);
        }
        self.in_hand = self.processors[p].interrupts == 0;
        self.depart(job, fate);
        self.in_hand = false;
    }

    /// A device has ended a transfer: its interrupt is handled at once where a processor idles, else before the next segment of one.
    pub(super) fn owe_interrupt(&mut self) {
        if self.costs.interrupt_ns == 0 {
            return self.tallies.faults[FaultKind::Interrupt as usize].add(0, 0);
        }
        if self.shared.is_some() {
            return self.interrupt_shared();
        }
        if let Some(p) = self.idle.pop() {
            return self.begin_segment(p as usize, Doing::Interrupt, Category::Interrupt, self.costs.interrupt_ns);
        }
        self.next_interrupted = (self.next_interrupted + 1) % self.processors.len();
        let p = self.next_interrupted;
        self.processors[p].interrupts += 1;
    }

    fn charge_system(&mut self, job: Job, ns: u64) {
        if self.processes[job as usize].on_errand {
            self.processes[job as usize].errand().cpu_system_ns += ns;
        }
    }
}

/// What became of a free processor.
enum Dispatched {
    /// This process has it.
    To(Job),
    /// A process has it, whose program must be brought in first.
    Loading,
    /// Nobody wants it.
    Nobody,
}
