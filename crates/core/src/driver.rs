//! The driver: logs users in, lets them think and type, and records what the system did.
//!
//! One loop for a live host and for a simulated machine: it asks the [`System`] for the time, sets one deadline a user
//! and lets the system wait for the earliest. A user thinks from the prompt; the line is *due* at prompt + think time +
//! typing time, and what it is sent later than that is the driver's lateness, never the system's response.

mod leave;
mod line;
mod log_in;

use crate::deadlines::Deadlines;
use crate::load::{LoadModel, OfferedLoad, WarmUp};
use crate::record::{Phase, Recorder};
use crate::script::Script;
use crate::system::{Event, System, UserId};
use crate::time::Instant;
use crate::user::{User, UserState};

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Interactions that were recorded.
    pub interactions: u64,
    /// Users that were logged in at some time.
    pub logged_in: u32,
    /// Users that finished what was asked of them.
    pub done: u32,
    /// Users whose session ended before.
    pub died: u32,
    /// Users who could not log in, and the first reason.
    pub refused: u32,
    /// Why the first of them could not.
    pub refusal: Option<String>,
    /// Somebody stopped the run before its end.
    pub stopped: bool,
    /// Why the system stood still with users waiting, if it did; the run is then stopped.
    pub stuck: Option<String>,
}

/// Runs `script` on `system` under `load` until every user is gone.
pub fn drive<S: System, R: Recorder>(script: &Script, load: &OfferedLoad, system: &mut S, recorder: &mut R) -> SessionCounts {
    assert!(script.typing_chars_per_second.is_none_or(|rate| rate > 0.0), "nobody types at no speed");
    let mut driver = DriverLoop::new(script, load, system, recorder);
    driver.open();
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
    barrier_open: bool,
    /// The next user to be logged in (an index), how many log-ins are under way, and how many are to come.
    next: usize,
    under_way: u32,
    to_come: usize,
    /// Users still to come or still there.
    present: usize,
    /// Users who are there and have not typed a line yet.
    silent: usize,
    leaving: bool,
    summary: SessionCounts,
}

/// The key in the deadlines that stands for the run itself: the end of a phase.
const RUN: u32 = 0;

impl<'a, S: System, R: Recorder> DriverLoop<'a, S, R> {
    fn new(script: &'a Script, load: &'a OfferedLoad, system: &'a mut S, recorder: &'a mut R) -> Self {
        let users: Vec<_> = (1..=load.users).map(|id| User::new(id, script, load.seed)).collect();
        DriverLoop {
            script,
            load,
            system,
            recorder,
            present: users.len(),
            users,
            deadlines: Deadlines::new(),
            phase: Phase::WarmUp,
            barrier_open: false,
            next: 0,
            under_way: 0,
            to_come: load.users as usize,
            silent: 0,
            leaving: false,
            summary: SessionCounts::default(),
        }
    }

    fn open(&mut self) {
        let now = self.system.now();
        match self.load.model {
            LoadModel::Closed => self.log_in_more(),
            LoadModel::Open(per_second) => {
                self.plan_arrivals(per_second, now);
                self.open_barrier(now);
            }
        }
    }

    fn run(&mut self) {
        let mut events = Vec::with_capacity(256);
        while self.present > 0 {
            let until = self.deadlines.first().map(|(at, _)| at);
            self.system.wait(until, &mut events);
            for event in events.drain(..) {
                self.take(event);
            }
            self.do_what_is_due();
        }
    }

    fn do_what_is_due(&mut self) {
        let mut now = self.system.now();
        while let Some(key) = self.deadlines.pop_due(now) {
            if key == RUN {
                self.end_of_phase(now);
            } else {
                self.act(key as usize - 1, now);
            }
            now = self.system.now();
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::LoggedIn { user, at } => self.logged_in(index(user), at),
            Event::Refused { user, at, reason } => self.refused(index(user), at, reason),
            Event::Ready { user, at, response } => self.ready(index(user), at, response),
            Event::Ended { user, at, reason, response } => self.ended(index(user), at, reason, response),
            Event::Stop { at } => self.stop(at),
            Event::Stuck { at, reason } => {
                self.summary.stuck = Some(reason);
                self.stop(at);
            }
        }
    }
}

fn index(user: UserId) -> usize {
    user as usize - 1
}

/// The parts of a run: warm-up until the load is whole, steady, and ramp-down from when somebody is done.
impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    fn check_warm_up(&mut self, now: Instant) {
        let whole = self.is_open() || self.silent == 0;
        if self.load.warm_up == WarmUp::FirstLine && self.barrier_open && whole {
            self.enter(Phase::Steady, now);
        }
    }

    fn end_of_phase(&mut self, now: Instant) {
        match self.phase {
            Phase::WarmUp => self.enter(Phase::Steady, now),
            Phase::Steady => self.close(now),
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
            self.deadlines.set(RUN, at + duration);
        }
    }

    /// Tells both doors that the run has entered `phase`.
    fn announce(&mut self, phase: Phase, at: Instant) {
        self.recorder.phase(phase, at);
        self.system.phase(phase);
    }

    /// The time is up: who waits for the system is let finish, everybody else logs out.
    fn close(&mut self, now: Instant) {
        self.enter(Phase::RampDown, now);
        self.leaving = true;
        for user in 0..self.users.len() {
            match self.users[user].state {
                UserState::Thinking | UserState::AtBarrier => self.log_out(user),
                UserState::Away => self.leave(user, now, "stopped"),
                _ => {}
            }
        }
    }
}
