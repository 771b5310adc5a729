//! The driver: logs users in, lets them think and type, and records the system's answers.
//!
//! One loop serves a live host and a simulated machine. It asks the [`System`] for the time, sets one deadline for each user,
//! and lets the system wait for the earliest. A user thinks from the prompt on. The line is *due* at prompt + think time +
//! typing time. If it is sent later, the difference is the driver's lateness, and no part of the response time.

mod leave;
mod line;
mod log_in;

use crate::deadlines::Deadlines;
use crate::load::{LoadModel, OfferedLoad, WarmUp};
use crate::record::{Phase, Recorder};
use crate::script::Script;
use crate::system::{Barrier, Event, ProcessorClock, System, UserId};
use crate::time::Instant;
use crate::user::{User, UserState};

/// Counts of a run's interactions and sessions, and the reason of its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Number of recorded interactions.
    pub interactions: u64,
    /// Number of users who were logged in at some time.
    pub logged_in: u32,
    /// Number of users who finished their passes, or typed until the time was up.
    pub done: u32,
    /// Number of users whose session ended before they were done.
    pub died: u32,
    /// Number of users who could not log in.
    pub refused: u32,
    /// The reason why the first refused user could not log in.
    pub refusal: Option<String>,
    /// A change that would help that user; empty if none is known.
    pub refusal_remedy: &'static str,
    /// Whether the run was stopped before its end.
    pub stopped: bool,
    /// The reason why nothing more could happen on the system although users waited. The run is then stopped.
    pub stuck: Option<String>,
}

/// Runs `script` on `system` under `load` until no user has a session any more.
pub fn drive<S: System, R: Recorder>(script: &Script, load: &OfferedLoad, system: &mut S, recorder: &mut R) -> SessionCounts {
    assert!(script.typing_chars_per_second.is_none_or(|rate| rate > 0.0), "a typing rate is over 0");
    let mut driver = DriverLoop::new(script, load, system, recorder);
    driver.begin_load();
    driver.run();
    driver.summary
}

struct DriverLoop<'a, S, R> {
    script: &'a Script,
    load: &'a OfferedLoad,
    system: &'a mut S,
    recorder: &'a mut R,
    users: Vec<User<'a>>,
    deadlines: Deadlines,
    phase: Phase,
    clock: Option<ProcessorClock>,
    /// The barrier at which the driver waits for the system.
    awaited: Option<Barrier>,
    is_barrier_open: bool,
    /// The index of the next user to be logged in, in a closed load.
    next_user: usize,
    log_ins_under_way: u32,
    log_ins_to_come: usize,
    /// Number of users whose session has not ended yet, whether it has begun or not.
    users_present: usize,
    /// Number of users who are logged in and have not sent a line yet.
    users_without_line: usize,
    is_ending: bool,
    screens_kept: u32,
    summary: SessionCounts,
}

/// Most screens of failed lines that a run keeps: 2 MB. Whoever looks for a mistake in a script needs the first few.
const MOST_SCREENS: u32 = 1000;

/// The key of the run itself in the deadlines, for the end of a phase. Users have the keys from 1.
const RUN_KEY: u32 = 0;

impl<'a, S: System, R: Recorder> DriverLoop<'a, S, R> {
    fn new(script: &'a Script, load: &'a OfferedLoad, system: &'a mut S, recorder: &'a mut R) -> Self {
        let users: Vec<_> = (load.first_user..=load.last_user()).map(|id| User::new(id, script, load.seed)).collect();
        DriverLoop {
            script,
            load,
            clock: system.processor_clock(),
            system,
            recorder,
            users_present: users.len(),
            users,
            deadlines: Deadlines::new(),
            phase: Phase::WarmUp,
            awaited: None,
            is_barrier_open: false,
            next_user: 0,
            log_ins_under_way: 0,
            log_ins_to_come: load.users as usize,
            users_without_line: 0,
            is_ending: false,
            screens_kept: 0,
            summary: SessionCounts::default(),
        }
    }

    fn begin_load(&mut self) {
        match self.load.model {
            LoadModel::Closed => self.reach(Barrier::LogIns),
            LoadModel::Open(_) => self.reach(Barrier::Lines),
        }
    }

    /// Passes `barrier`, or waits until the system lets the driver pass.
    fn reach(&mut self, barrier: Barrier) {
        self.recorder.reached(barrier);
        match self.system.reach(barrier) {
            Some(at) => self.pass(barrier, at),
            None => self.awaited = Some(barrier),
        }
    }

    fn pass(&mut self, barrier: Barrier, at: Instant) {
        self.awaited = None;
        match (barrier, self.load.model) {
            (Barrier::LogIns, _) => self.log_in_more(),
            (Barrier::Lines, LoadModel::Closed) => self.open_barrier(at),
            (Barrier::Lines, LoadModel::Open(per_second)) => {
                self.plan_arrivals(per_second, at);
                self.open_barrier(at);
            }
        }
    }

    fn run(&mut self) {
        let mut events = Vec::with_capacity(256);
        while self.users_present > 0 {
            let until = self.deadlines.first().map(|(at, _)| at);
            self.system.wait(until, &mut events);
            for event in events.drain(..) {
                self.apply(event);
            }
            self.do_due_actions();
        }
    }

    fn do_due_actions(&mut self) {
        let mut now = self.system.now();
        while let Some(key) = self.deadlines.pop_due(now) {
            if key == RUN_KEY {
                self.end_phase(now);
            } else {
                self.act_on_deadline(self.index_of(key), now);
            }
            now = self.system.now();
        }
    }

    /// Applies an event. An event of a user who has left, such as one after a stop in the same batch, has no effect.
    fn apply(&mut self, event: Event) {
        if event.user().is_some_and(|user| self.users[self.index_of(user)].state == UserState::Gone) {
            return;
        }
        match event {
            Event::LoggedIn { user, at } => self.on_logged_in(self.index_of(user), at),
            Event::Refused { user, at, reason, remedy } => self.on_refused(self.index_of(user), at, reason, remedy),
            Event::Ready { user, at, response } => self.on_ready(self.index_of(user), at, response),
            Event::Ended { user, at, reason, response } => self.on_ended(self.index_of(user), at, reason, response),
            Event::Opened { barrier, at } if self.awaited == Some(barrier) && !self.is_ending => self.pass(barrier, at),
            Event::Opened { .. } => {}
            Event::Stop { at } => self.stop(at),
            Event::Stuck { at, reason } => {
                self.summary.stuck = Some(reason);
                self.stop(at);
            }
        }
    }

    fn index_of(&self, user: UserId) -> usize {
        (user - self.load.first_user) as usize
    }
}

/// The phases of a run: warm-up, steady, and ramp-down after the first user is done.
impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    fn check_warm_up(&mut self, now: Instant) {
        let all_have_typed = self.is_open() || self.users_without_line == 0;
        if self.load.warm_up == WarmUp::FirstLine && self.is_barrier_open && all_have_typed {
            self.enter(Phase::Steady, now);
        }
    }

    fn end_phase(&mut self, now: Instant) {
        match self.phase {
            Phase::WarmUp => self.enter(Phase::Steady, now),
            Phase::Steady => self.end_load(now),
            Phase::RampDown => {}
        }
    }

    fn enter(&mut self, phase: Phase, at: Instant) {
        if phase as u8 <= self.phase as u8 {
            return;
        }
        self.phase = phase;
        self.announce(phase, at);
        if let (Phase::Steady, Some(duration)) = (phase, self.load.duration) {
            self.deadlines.set(RUN_KEY, at + duration);
        }
    }

    /// Tells the recorder and the system that the run has entered `phase`.
    fn announce(&mut self, phase: Phase, at: Instant) {
        self.recorder.phase(phase, at);
        self.system.phase(phase);
    }

    /// Ends the load. Users who type or wait for the system finish their line first; all others log out at once.
    fn end_load(&mut self, now: Instant) {
        self.enter(Phase::RampDown, now);
        self.is_ending = true;
        for index in 0..self.users.len() {
            match self.users[index].state {
                UserState::Thinking | UserState::AtBarrier => self.log_out(index),
                UserState::Away => self.leave(index, now, "stopped"),
                _ => {}
            }
        }
    }
}
