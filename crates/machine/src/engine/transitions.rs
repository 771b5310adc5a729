//! The consequences of each event of the calendar, which are done at once or become tasks at the same instant.

use super::clockwork::{Clockwork, Task};
use super::dispatch::Aftermath;
use super::execution::Departure;
use super::process::ProcessState;
use crate::disciplines::{ProcessId, ReadyCause, ReadyList};

impl<L: ReadyList> Clockwork<L> {
    /// Handles the end of what processor `p` does.
    #[inline(always)]
    pub fn on_segment_end(&mut self, p: usize) {
        let aftermath = self.end_segment(p);
        if aftermath != Aftermath::Nothing {
            self.follow(p, aftermath);
            self.finish_tasks();
        }
    }

    /// Lets processor `p` run on, with all that follows.
    pub fn run_processor(&mut self, p: usize) {
        self.run(p);
        self.finish_tasks();
    }

    /// Handles the refill of the quota of `pid`.
    pub fn on_refill(&mut self, pid: ProcessId) {
        if self.scheduler.list.refill(pid, self.events.now)
            && let Some((p, aftermath)) = self.run_for(pid)
        {
            self.follow(p, aftermath);
        }
        self.finish_tasks();
    }

    /// Lets idle processors run processes that wait for busy ones.
    pub fn on_balance(&mut self) {
        while let Some(pid) = self.scheduler.list.balance(self.events.now) {
            if let Some((p, aftermath)) = self.run_for(pid) {
                self.follow(p, aftermath);
            }
        }
        self.finish_tasks();
        self.schedule_balance();
    }

    /// Handles the end of a share of the processors, if that is the next event and comes at `until` or before.
    #[inline(never)]
    pub fn on_share_end(&mut self, until: u64) -> bool {
        let Some((pid, departure)) = self.end_due_share(until) else { return false };
        if departure == Departure::Stays {
            self.share_next_step(pid);
        } else {
            self.route_departure(pid, departure);
            self.finish_tasks();
        }
        true
    }

    /// Handles the end of a service at `server` of `store`.
    #[inline]
    pub fn on_service_end(&mut self, store: usize, server: u32) {
        let Some(request) = self.stores.end_service(store, server, &mut self.events) else { return };
        self.model_events += 1;
        let awaiting = self.execution.processes.awaiting(request.id);
        if request.interrupts {
            if self.shared.is_some() { self.interrupt_shared() } else { self.interrupt() }
        }
        if let Some(pid) = awaiting {
            self.on_request_served(pid);
            self.finish_tasks();
        }
    }

    /// Lets `pid`, whose request has been served, go on.
    #[inline(always)]
    fn on_request_served(&mut self, pid: ProcessId) {
        if self.execution.processes[pid].state == ProcessState::Loading {
            if !self.request_next_move(pid) {
                let p = self.end_loading(pid);
                self.run(p);
            }
            return;
        }
        self.execution.end_wait(pid, self.events.now);
        if self.execution.processes[pid].on_errand {
            return self.make_ready(pid, ReadyCause::Woken);
        }
        let departure = self.execution.next_stage(pid);
        if departure == Departure::Done {
            self.scheduler.list.ends(pid);
        }
        self.route_departure(pid, departure);
    }

    /// Moves `pid`, which has no processor, to its next stage.
    #[inline(always)]
    fn route_departure(&mut self, pid: ProcessId, departure: Departure) {
        match departure {
            Departure::Requeues => self.make_ready(pid, ReadyCause::Woken),
            Departure::Done => {
                self.end_interaction(pid);
                self.tasks.push(Task::Admit);
            }
            _ => self.wait_for_device(pid, departure),
        }
    }

    /// Makes `pid` ready. A processor that idles, or one that is to be taken from another process, runs it.
    #[inline(always)]
    fn make_ready(&mut self, pid: ProcessId, why: ReadyCause) {
        if self.shared.is_some() {
            return self.join_share(pid);
        }
        self.enqueue(pid, why);
        if let Some((p, aftermath)) = self.run_for(pid) {
            self.follow(p, aftermath);
        }
    }

    /// Finds a processor for `pid`, which is ready: an idle one, or one taken from another process. Returns the processor with
    /// the action that it needs before it can run on, if any.
    #[inline(always)]
    fn run_for(&mut self, pid: ProcessId) -> Option<(usize, Aftermath)> {
        if let Some(p) = self.take_idle_for(pid) {
            let aftermath = self.begin_next_segment(p);
            return (aftermath != Aftermath::Nothing).then_some((p, aftermath));
        }
        let p = self.scheduler.processor_to_preempt(pid, &self.processors)?;
        self.preempt(p).map(|aftermath| (p, aftermath))
    }

    /// Takes an idle processor that may run `pid`.
    #[inline(always)]
    fn take_idle_for(&mut self, pid: ProcessId) -> Option<usize> {
        match self.scheduler.list.processor_of(pid) {
            None => self.processors.take_idle(),
            Some(p) => self.processors.take_idle_processor(p, self.events.now).then_some(p),
        }
    }

    /// Lets processor `p` begin its next segment.
    #[inline]
    fn run(&mut self, p: usize) {
        let aftermath = self.begin_next_segment(p);
        if aftermath != Aftermath::Nothing {
            self.follow(p, aftermath);
        }
    }

    /// Does the action that must come before processor `p` runs on; running on becomes a task.
    #[inline(always)]
    fn follow(&mut self, p: usize, aftermath: Aftermath) {
        if let Some(reserved) = self.give_eligibility_up(p, aftermath) {
            self.admit_candidates(reserved);
        }
    }

    /// Ends the eligibility of the process in `aftermath`, and makes running on of processor `p` a task. Returns None if no
    /// process can be admitted by that, else whether the first one admitted may have the processor.
    #[inline(always)]
    fn give_eligibility_up(&mut self, p: usize, aftermath: Aftermath) -> Option<bool> {
        self.tasks.push(Task::Run(p));
        match aftermath {
            Aftermath::Nothing => return None,
            Aftermath::AsksAgain(pid) => {
                self.eligibility.remove(pid, self.events.now);
                self.ask(pid, false);
            }
            Aftermath::InteractionOver(pid) => self.end_interaction(pid),
        }
        Some(self.processors[p].interrupts == 0)
    }

    /// Ends the interaction of `pid`, which is eligible and on no list.
    #[inline(always)]
    fn end_interaction(&mut self, pid: ProcessId) {
        self.eligibility.remove(pid, self.events.now);
        self.answer(pid, None);
    }

    /// Lets `pid` begin its interaction: it asks to be eligible.
    #[inline(always)]
    pub fn begin_interaction(&mut self, pid: ProcessId) {
        self.execution.processes.active.rise(self.events.now);
        self.ask(pid, true);
        self.admit();
    }

    #[inline(always)]
    fn ask(&mut self, pid: ProcessId, begins: bool) {
        let facts = self.execution.candidate_facts(pid, begins);
        self.set_state(pid, ProcessState::Asking);
        self.eligibility.asking.rise(self.events.now);
        self.scheduler.list.ask(pid, &facts, self.events.now);
    }

    /// Admits processes while the limit and the memory allow, with all that follows.
    #[inline]
    pub fn admit(&mut self) {
        self.admit_candidates(false);
        self.finish_tasks();
    }

    /// Admits processes while there is room. If an admitted process makes an action necessary, the rest is a task. If a processor
    /// is `reserved`, the first process admitted gets it without a search.
    fn admit_candidates(&mut self, mut reserved: bool) {
        while let Some(pid) = self.admit_candidate() {
            match self.execution.begin_route(pid) {
                None | Some(Departure::Requeues) => {}
                Some(departure) => {
                    self.wait_for_device(pid, departure);
                    continue;
                }
            }
            if self.shared.is_some() {
                self.join_share(pid);
                continue;
            }
            self.enqueue(pid, ReadyCause::Admitted);
            if std::mem::take(&mut reserved) && self.scheduler.list.processor_of(pid).is_none() {
                continue;
            }
            if let Some((p, aftermath)) = self.run_for(pid) {
                self.tasks.push(Task::Admit);
                match self.give_eligibility_up(p, aftermath) {
                    Some(for_p) => reserved = for_p,
                    None => return,
                }
            }
        }
        self.schedule_limit_check();
    }

    /// Admits the next candidate. None if there is none, or no room for it.
    #[inline(always)]
    fn admit_candidate(&mut self) -> Option<ProcessId> {
        let pid = self.scheduler.list.candidate()?;
        if !self.eligibility.can_admit(pid, self.execution.memory.paging.as_ref()) {
            return None;
        }
        let now = self.events.now;
        self.scheduler.list.admit(pid, now);
        self.eligibility.add(pid, now);
        let process = &mut self.execution.processes[pid];
        process.ready_wait_ns += now - process.since;
        Some(pid)
    }

    /// Does all that is still to be done at this instant.
    #[inline]
    fn finish_tasks(&mut self) {
        if !self.tasks.is_empty() {
            self.do_tasks();
        }
    }

    #[inline(never)]
    fn do_tasks(&mut self) {
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Run(p) => self.run(p),
                Task::Admit => self.admit_candidates(false),
            }
        }
    }

    /// Schedules the next check of the limit's device, if any process is active.
    #[inline]
    fn schedule_limit_check(&mut self) {
        if self.execution.processes.active.now() > 0
            && let Some(period_ns) = self.eligibility.period_to_next_check()
        {
            self.events.schedule_limit_check(period_ns);
        }
    }

    /// Checks the limit's device, and admits processes if the limit has risen.
    pub fn on_limit_check(&mut self) {
        let now = self.events.now;
        if let Some(store) = self.eligibility.store_to_check() {
            let service_and_servers = self.stores.service_and_servers(store, now);
            self.eligibility.adjust_limit(now, service_and_servers, self.scheduler.list.asking());
        }
        self.admit();
    }
}
