//! Two users of a [`ReadyList`] for tests of the disciplines: a simple processor, and a random crowd of processes.

pub mod bare;

use loadgo_machine::disciplines::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use proptest::prelude::*;

pub const MS: u64 = 1_000_000;

/// An interaction of a test: its beginning, the facts for the discipline, and its processor time.
#[derive(Clone, Copy, Debug)]
pub struct PlannedInteraction {
    pub at: u64,
    pub facts: CandidateFacts,
    pub work: u64,
}

/// Plans an interaction that needs `work` from the instant `at` on.
pub fn interaction(at: u64, work: u64, facts: CandidateFacts) -> PlannedInteraction {
    PlannedInteraction { at, work, facts: CandidateFacts { begins: true, ..facts } }
}

/// The turns on one processor with at most `limit` eligible processes, as process, beginning and end.
///
/// Process n does the n-th interaction.
pub fn schedule(list: &mut impl ReadyList, interactions: &[PlannedInteraction], limit: usize) -> Vec<(ProcessId, u64, u64)> {
    let mut processor =
        Processor { left: interactions.iter().map(|i| i.work).collect(), running: None, eligible: 0, turns: Vec::new() };
    let mut arrivals: Vec<ProcessId> = (0..interactions.len() as ProcessId).collect();
    arrivals.sort_by_key(|pid| interactions[*pid as usize].at);
    let mut arrivals = arrivals.into_iter().peekable();
    let mut now = 0;
    loop {
        processor.admit(list, interactions, limit, now);
        processor.dispatch(list, now);
        let arrival = arrivals.peek().map(|pid| interactions[*pid as usize].at);
        let Some(next) = [arrival, processor.end()].into_iter().flatten().min() else { return processor.turns };
        now = next;
        if processor.end() == Some(now) {
            processor.end_turn(list, interactions, now);
        } else if let Some(pid) = arrivals.next() {
            list.ask(pid, &interactions[pid as usize].facts, now);
        }
    }
}

struct Processor {
    left: Vec<u64>,
    running: Option<(Turn, u64)>,
    eligible: usize,
    turns: Vec<(ProcessId, u64, u64)>,
}

impl Processor {
    fn end(&self) -> Option<u64> {
        self.running.map(|(turn, since)| since + turn.slice_ns.min(self.left[turn.pid as usize]))
    }

    fn admit(&mut self, list: &mut impl ReadyList, interactions: &[PlannedInteraction], limit: usize, now: u64) {
        while let Some(pid) = list.candidate().filter(|_| self.eligible < limit) {
            list.admit(pid, now);
            self.eligible += 1;
            list.ready(pid, ReadyCause::Admitted, now);
            if self.running.is_some_and(|(turn, _)| list.preempts(pid, turn.pid)) {
                self.leave(list, LeaveCause::Preempted, interactions, now);
            }
        }
    }

    fn dispatch(&mut self, list: &mut impl ReadyList, now: u64) {
        if self.running.is_none() {
            self.running = list.next(now).map(|turn| (turn, now));
        }
    }

    fn end_turn(&mut self, list: &mut impl ReadyList, interactions: &[PlannedInteraction], now: u64) {
        let (turn, since) = self.running.expect("somebody runs");
        let done = now - since == self.left[turn.pid as usize];
        self.leave(list, if done { LeaveCause::Done } else { LeaveCause::TurnOver }, interactions, now);
    }

    fn leave(&mut self, list: &mut impl ReadyList, why: LeaveCause, interactions: &[PlannedInteraction], now: u64) {
        let (Turn { pid, .. }, since) = self.running.take().expect("somebody runs");
        self.left[pid as usize] -= now - since;
        self.turns.push((pid, since, now));
        match (list.off(pid, now - since, why, now), why) {
            (_, LeaveCause::Done) => self.eligible -= 1,
            (EligibilityAfterTurn::Eligible, _) => list.ready(pid, ReadyCause::Again, now),
            (EligibilityAfterTurn::Asks, _) => {
                self.eligible -= 1;
                list.ask(pid, &CandidateFacts { begins: false, ..interactions[pid as usize].facts }, now);
            }
        }
    }
}

/// The state of a process of the crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CrowdState {
    Away,
    Asks,
    Waits,
    Ready,
    Runs(u64, u64),
}

/// An event in a crowd: its kind, its process, and the time since the event before.
pub type Happening = (u8, u8, u32);

/// Any events among `pids` processes.
pub fn happenings(pids: u8) -> impl Strategy<Value = Vec<Happening>> {
    prop::collection::vec((0..8u8, 0..pids, 0..200_000_000u32), 1..400)
}

/// Plays `happenings` and checks the list after each: its counts, and that it returns only processes that wait.
///
/// In the end, all processes are served until they are done, so none is lost.
pub fn live_through(list: &mut impl ReadyList, happenings: &[Happening], pids: u8) {
    let mut crowd = Crowd { states: vec![CrowdState::Away; pids as usize], now: 0 };
    for (what, pid, later) in happenings {
        crowd.now += u64::from(*later);
        crowd.happens(list, *what, ProcessId::from(*pid));
        crowd.check(list);
    }
    crowd.serve_all(list);
}

struct Crowd {
    states: Vec<CrowdState>,
    now: u64,
}

impl Crowd {
    fn happens(&mut self, list: &mut impl ReadyList, what: u8, pid: ProcessId) {
        match (what, self.states[pid as usize]) {
            (0..=2, CrowdState::Away) => self.ask(list, pid, true),
            (0..=1, CrowdState::Waits) => self.ready(list, pid, ReadyCause::Woken),
            (_, CrowdState::Runs(since, slice)) if what < 7 => self.off(list, pid, since, slice, what),
            (2, _) => self.admit(list),
            (3..=4, _) => self.next(list),
            (7, state) if state != CrowdState::Away => {
                list.forget(pid);
                self.states[pid as usize] = CrowdState::Away;
            }
            _ => {}
        }
    }

    fn ask(&mut self, list: &mut impl ReadyList, pid: ProcessId, begins: bool) {
        let pages = pid % 7;
        let facts =
            CandidateFacts { image_words: u64::from(pid) * 700, pages, priority: pid % 3, nice: pid as i32 % 40 - 20, begins };
        list.ask(pid, &facts, self.now);
        self.states[pid as usize] = CrowdState::Asks;
    }

    fn admit(&mut self, list: &mut impl ReadyList) {
        let Some(pid) = list.candidate() else { return };
        assert_eq!(self.states[pid as usize], CrowdState::Asks, "the candidate asks");
        list.admit(pid, self.now);
        self.ready(list, pid, ReadyCause::Admitted);
    }

    fn ready(&mut self, list: &mut impl ReadyList, pid: ProcessId, why: ReadyCause) {
        list.ready(pid, why, self.now);
        self.states[pid as usize] = CrowdState::Ready;
        let runs = self.states.iter().position(|state| matches!(state, CrowdState::Runs(..)));
        if let Some(running) = runs.filter(|running| list.preempts(pid, *running as ProcessId)) {
            let CrowdState::Runs(since, slice) = self.states[running] else { unreachable!("it runs") };
            self.off(list, running as ProcessId, since, slice, 6);
        }
    }

    fn next(&mut self, list: &mut impl ReadyList) {
        let turn = list.next(self.now);
        assert_eq!(turn.is_some(), self.states.contains(&CrowdState::Ready), "the processor is idle only when nobody is ready");
        if let Some(Turn { pid, slice_ns }) = turn {
            assert_eq!(self.states[pid as usize], CrowdState::Ready, "who is given the processor is ready");
            assert!(slice_ns > 0, "a turn is for some time");
            self.states[pid as usize] = CrowdState::Runs(self.now, slice_ns);
        }
    }

    /// Takes `pid` off its processor. If its turn is not over, the reason depends on `what`.
    fn off(&mut self, list: &mut impl ReadyList, pid: ProcessId, since: u64, slice: u64, what: u8) {
        let ran = slice.min(self.now - since);
        let why = match what {
            _ if ran == slice => LeaveCause::TurnOver,
            0..=1 => LeaveCause::Done,
            6 => LeaveCause::Preempted,
            _ => LeaveCause::Waits,
        };
        let stay = list.off(pid, ran, why, self.now);
        match why {
            LeaveCause::Done => self.states[pid as usize] = CrowdState::Away,
            LeaveCause::Waits => self.states[pid as usize] = CrowdState::Waits,
            _ if stay == EligibilityAfterTurn::Asks => self.ask(list, pid, false),
            _ => {
                list.ready(pid, ReadyCause::Again, self.now);
                self.states[pid as usize] = CrowdState::Ready;
            }
        }
    }

    fn check(&self, list: &impl ReadyList) {
        let count = |state: CrowdState| self.states.iter().filter(|p| **p == state).count();
        assert_eq!(
            (list.asking(), list.waiting()),
            (count(CrowdState::Asks), count(CrowdState::Ready)),
            "who asks, and who is ready"
        );
        assert_eq!(list.candidate().is_some(), list.asking() > 0, "somebody asks");
    }

    fn serve_all(&mut self, list: &mut impl ReadyList) {
        for pid in 0..self.states.len() {
            match self.states[pid] {
                CrowdState::Waits => self.ready(list, pid as ProcessId, ReadyCause::Woken),
                CrowdState::Runs(..) => self.done(list, pid as ProcessId),
                _ => {}
            }
        }
        for _ in 0..2 * self.states.len() {
            self.admit(list);
            self.next(list);
            if let Some(pid) = self.states.iter().position(|state| matches!(state, CrowdState::Runs(..))) {
                self.done(list, pid as ProcessId);
            }
            self.check(list);
        }
        assert!(self.states.iter().all(|state| *state == CrowdState::Away), "all were served: {:?}", self.states);
    }

    fn done(&mut self, list: &mut impl ReadyList, pid: ProcessId) {
        list.off(pid, 0, LeaveCause::Done, self.now);
        self.states[pid as usize] = CrowdState::Away;
    }
}
