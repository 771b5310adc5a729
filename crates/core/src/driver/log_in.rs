//! The beginning of sessions: log-ins, each begun when another completes; arrivals of an open load; the barrier for all users.

use super::{DriverLoop, RUN_KEY};
use crate::load::{LoadModel, WarmUp};
use crate::random::{RandomStream, StreamPurpose};
use crate::record::{LostRow, Phase, Recorder};
use crate::system::{Barrier, System};
use crate::time::{Instant, Span};
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    pub(super) fn plan_arrivals(&mut self, per_second: f64, from: Instant) {
        let mut arrivals = RandomStream::new(self.load.seed, 0, StreamPurpose::Start);
        let load = self.load;
        let mut next = |since: Span| match &load.day {
            Some(day) => day.arrival(since, arrivals.exponential()),
            None => since + Span::from_secs_f64(arrivals.exponential() / per_second),
        };
        // Users of other drivers arrive before these, by the same draws.
        let mut since = (1..load.first_user).fold(Span::ZERO, |since, _| next(since));
        for user in &mut self.users {
            since = next(since);
            user.arrival = from + since;
            self.deadlines.set(user.id, user.arrival);
        }
    }

    /// Begins log-ins of a closed load up to the number that may be under way at once.
    pub(super) fn log_in_more(&mut self) {
        while self.log_ins_under_way < self.load.log_ins_at_once && self.next_user < self.users.len() && !self.is_ending {
            let now = self.system.now();
            self.users[self.next_user].arrival = now;
            self.log_in(self.next_user, now);
            self.next_user += 1;
        }
    }

    pub(super) fn log_in(&mut self, index: usize, now: Instant) {
        self.users[index].state = UserState::LoggingIn;
        self.users[index].started = now;
        self.log_ins_under_way += 1;
        self.log_ins_to_come -= 1;
        if self.is_open() && self.log_ins_to_come == 0 {
            self.enter(Phase::RampDown, now);
        }
        self.system.log_in(self.users[index].id);
    }

    pub(super) fn on_logged_in(&mut self, index: usize, at: Instant) {
        self.users[index].logged_in = Some(at);
        self.users[index].state = UserState::AtBarrier;
        self.log_ins_under_way -= 1;
        self.summary.logged_in += 1;
        self.recorder.logged_in(self.summary.logged_in);
        self.users_without_line += 1;
        if self.is_open() {
            return self.begin_user(index, at);
        }
        self.next_log_in();
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.load.model, LoadModel::Open(_))
    }

    pub(super) fn on_refused(&mut self, index: usize, at: Instant, reason: String, remedy: &'static str) {
        self.log_ins_under_way -= 1;
        self.summary.refused += 1;
        let id = self.users[index].id;
        self.recorder.lost(&LostRow { at, user: Some(id), what: "log-in", count: 1, reason: reason.clone() });
        if self.summary.refusal.is_none() {
            (self.summary.refusal, self.summary.refusal_remedy) = (Some(reason), remedy);
        }
        self.leave(index, at, "refused");
        if self.is_open() {
            return;
        }
        // Until a first user is in, a refusal begins no further log-in. If all that are under way are refused, the rest are not
        // tried.
        if self.summary.logged_in > 0 {
            self.next_log_in();
        } else if self.log_ins_under_way == 0 {
            self.refuse_remaining_users(at);
        }
    }

    pub(super) fn refuse_remaining_users(&mut self, at: Instant) {
        self.is_ending = true;
        for index in self.next_user..self.users.len() {
            self.leave(index, at, "refused");
        }
        self.next_user = self.users.len();
    }

    pub(super) fn next_log_in(&mut self) {
        self.log_in_more();
        let is_at_barrier = self.is_barrier_open || self.awaited.is_some();
        if self.log_ins_under_way == 0 && self.next_user == self.users.len() && !is_at_barrier {
            self.reach(Barrier::Lines);
        }
    }

    /// Starts the meters and the users, after all users are logged in.
    pub(super) fn open_barrier(&mut self, now: Instant) {
        self.is_barrier_open = true;
        self.announce(Phase::WarmUp, now);
        if let WarmUp::For(span) = self.load.warm_up {
            self.deadlines.set(RUN_KEY, now + span);
        }
        for index in 0..self.users.len() {
            if self.users[index].state == UserState::AtBarrier {
                self.begin_user(index, now);
            }
        }
        self.check_warm_up(now);
    }

    /// Lets a user begin with a random share of the first think time, so that users do not start in step.
    pub(super) fn begin_user(&mut self, index: usize, now: Instant) {
        self.users[index].prompt = now;
        let share = RandomStream::new(self.load.seed, self.users[index].id, StreamPurpose::Start).unit();
        self.think(index, share);
    }
}
