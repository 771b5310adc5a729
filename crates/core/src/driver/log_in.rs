//! Getting in: log-ins paced by completion, arrivals of an open load, and the barrier that lets everybody begin.

use super::{DriverLoop, RUN};
use crate::load::{LoadModel, WarmUp};
use crate::random::{RandomStream, StreamPurpose};
use crate::record::{Lost, Phase, Recorder};
use crate::system::System;
use crate::time::{Instant, Span};
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    pub(super) fn plan_arrivals(&mut self, per_second: f64, from: Instant) {
        let mut arrivals = RandomStream::new(self.load.seed, 0, StreamPurpose::Start);
        let mut at = from;
        for user in &mut self.users {
            at = at + Span::from_secs_f64(arrivals.exponential() / per_second);
            user.arrival = at;
            self.deadlines.set(user.id, at);
        }
    }

    /// Begins log-ins of a closed load while fewer than allowed are under way: paced by completion, not by a clock.
    pub(super) fn log_in_more(&mut self) {
        while self.under_way < self.load.log_ins_at_once && self.next < self.users.len() && !self.leaving {
            let now = self.system.now();
            self.users[self.next].arrival = now;
            self.log_in(self.next, now);
            self.next += 1;
        }
    }

    pub(super) fn log_in(&mut self, user: usize, now: Instant) {
        self.users[user].state = UserState::LoggingIn;
        self.users[user].started = now;
        self.under_way += 1;
        self.to_come -= 1;
        if self.is_open() && self.to_come == 0 {
            self.enter(Phase::RampDown, now);
        }
        self.system.log_in(self.users[user].id);
    }

    pub(super) fn logged_in(&mut self, user: usize, at: Instant) {
        self.users[user].logged_in = Some(at);
        self.users[user].state = UserState::AtBarrier;
        self.under_way -= 1;
        self.summary.logged_in += 1;
        self.recorder.logged_in(self.summary.logged_in);
        self.silent += 1;
        if self.is_open() {
            return self.begin(user, at);
        }
        self.next_log_in();
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.load.model, LoadModel::Open(_))
    }

    pub(super) fn refused(&mut self, user: usize, at: Instant, reason: String) {
        self.under_way -= 1;
        self.summary.refused += 1;
        let id = self.users[user].id;
        self.recorder.lost(&Lost { at, user: Some(id), what: "log-in", count: 1, reason: reason.clone() });
        self.summary.refusal.get_or_insert(reason);
        self.leave(user, at, "refused");
        if self.is_open() {
            return;
        }
        // Where nobody could log in so far, the rest wait for those under way: if all are refused, there is no use in asking.
        if self.summary.logged_in > 0 {
            self.next_log_in();
        } else if self.under_way == 0 {
            self.give_up_the_rest(at);
        }
    }

    pub(super) fn give_up_the_rest(&mut self, at: Instant) {
        self.leaving = true;
        for user in self.next..self.users.len() {
            self.leave(user, at, "refused");
        }
        self.next = self.users.len();
    }

    pub(super) fn next_log_in(&mut self) {
        self.log_in_more();
        if self.under_way == 0 && self.next == self.users.len() && !self.barrier_open {
            self.open_barrier(self.system.now());
        }
    }

    /// Everybody is there: the meters start, and the users with them.
    pub(super) fn open_barrier(&mut self, now: Instant) {
        self.barrier_open = true;
        self.announce(Phase::WarmUp, now);
        if let WarmUp::For(span) = self.load.warm_up {
            self.deadlines.set(RUN, now + span);
        }
        for user in 0..self.users.len() {
            if self.users[user].state == UserState::AtBarrier {
                self.begin(user, now);
            }
        }
        self.check_warm_up(now);
    }

    /// Lets a user begin. The first think time is cut at a random part of it: users do not start in step.
    pub(super) fn begin(&mut self, user: usize, now: Instant) {
        self.users[user].prompt = now;
        let part = RandomStream::new(self.load.seed, self.users[user].id, StreamPurpose::Start).unit();
        self.think(user, part);
    }
}
