//! The parts of a run: warm-up until the load is whole, steady, and ramp-down from when somebody is done.

use super::{Driver, RUN};
use crate::load::WarmUp;
use crate::record::{Phase, Recorder};
use crate::system::System;
use crate::time::Instant;
use crate::user::State;

impl<S: System, R: Recorder> Driver<'_, S, R> {
    pub(super) fn check_warm_up(&mut self, now: Instant) {
        let whole = self.is_open() || self.silent == 0;
        if self.load.warm_up == WarmUp::FirstLine && self.barrier_open && whole {
            self.enter(Phase::Steady, now);
        }
    }

    pub(super) fn end_of_phase(&mut self, now: Instant) {
        match self.phase {
            Phase::WarmUp => self.enter(Phase::Steady, now),
            Phase::Steady => self.close(now),
            Phase::RampDown => {}
        }
    }

    pub(super) fn enter(&mut self, phase: Phase, at: Instant) {
        if phase as u8 <= self.phase as u8 {
            return;
        }
        self.phase = phase;
        self.recorder.phase(phase, at);
        if let (Phase::Steady, Some(duration)) = (phase, self.load.duration) {
            self.deadlines.set(RUN, at + duration);
        }
    }

    /// The time is up: who waits for the system is let finish, everybody else logs out.
    pub(super) fn close(&mut self, now: Instant) {
        self.enter(Phase::RampDown, now);
        self.leaving = true;
        for user in 0..self.users.len() {
            match self.users[user].state {
                State::Thinking | State::AtBarrier => self.log_out(user),
                State::Away => self.leave(user, now, "stopped"),
                _ => {}
            }
        }
    }
}
