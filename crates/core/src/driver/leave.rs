//! The end of a session: a log-out, a death, a time-out that nothing answers, or the end of the run.

use super::DriverLoop;
use crate::load::LoadModel;
use crate::record::{Lost, Outcome, Phase, Recorder, Session};
use crate::system::{Response, System};
use crate::time::Instant;
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    pub(super) fn log_out(&mut self, user: usize) {
        let this = &mut self.users[user];
        this.line = None;
        this.state = UserState::LeavingOff;
        let id = this.id;
        let keys = format!("{}\n", self.script.logout);
        let sent = self.system.log_out(id, keys.as_bytes());
        self.deadlines.set(id, sent + self.load.grace);
        if self.load.model == LoadModel::Closed && self.barrier_open {
            self.enter(Phase::RampDown, sent);
        }
    }

    pub(super) fn ended(&mut self, user: usize, at: Instant, reason: String, response: Response) {
        let state = self.users[user].state;
        // A script may end with the line that ends the session: then the session's status is the line's.
        let by_itself = state == UserState::Waiting && response.exit_status.is_some() && !self.has_more(user);
        if state == UserState::Waiting {
            let outcome = if by_itself { self.outcome(user, &response) } else { Outcome::Died };
            self.record(user, by_itself.then_some(at), &response, outcome);
        }
        if state == UserState::LeavingOff || by_itself {
            self.summary.done += 1;
            return self.leave(user, at, "done");
        }
        self.die(user, at, reason);
    }

    /// Whether lines are left after the one in hand; a script may end with the line that ends the session.
    pub(super) fn has_more(&self, user: usize) -> bool {
        let mut rest = self.users[user].clone();
        !self.leaving && rest.next_line(self.script, self.load.passes)
    }

    pub(super) fn die(&mut self, user: usize, at: Instant, reason: String) {
        let id = self.users[user].id;
        self.summary.died += 1;
        self.recorder.lost(&Lost { at, user: Some(id), what: "session", count: 1, reason });
        self.leave(user, at, "died");
    }

    /// The grace is over: an interrupted command, or a shell that was told to end, did not.
    pub(super) fn give_up(&mut self, user: usize, now: Instant) {
        let id = self.users[user].id;
        self.system.hang_up(id);
        if self.users[user].state == UserState::LeavingOff {
            self.summary.done += 1;
            return self.leave(user, now, "done");
        }
        self.die(user, now, "the line timed out, and the session did not give its prompt back after an interrupt".into());
    }

    pub(super) fn leave(&mut self, user: usize, at: Instant, outcome: &'static str) {
        let this = &mut self.users[user];
        if this.state == UserState::Away {
            (this.arrival, this.started) = (at, at);
        }
        if this.logged_in.is_some() && !this.has_typed {
            this.has_typed = true;
            self.silent -= 1;
        }
        this.state = UserState::Gone;
        this.text = String::new();
        self.present -= 1;
        self.deadlines.clear(this.id);
        let (user, planned, started, ready) = (this.id, this.arrival, this.started, this.logged_in);
        self.recorder.session(&Session { user, planned, started, ready, ended: at, outcome });
        if !self.barrier_open && self.summary.logged_in > 0 && outcome == "died" {
            self.next_log_in();
        }
    }

    pub(super) fn stop(&mut self, at: Instant) {
        self.summary.stopped = true;
        self.leaving = true;
        let waiting = self.users.iter().filter(|user| user.state == UserState::Waiting).count() as u64;
        if waiting > 0 {
            let reason = "the run was stopped before the system was ready again".into();
            self.recorder.lost(&Lost { at, user: None, what: "interaction", count: waiting, reason });
        }
        for user in 0..self.users.len() {
            match self.users[user].state {
                UserState::Gone => continue,
                UserState::Away => {}
                _ => self.system.hang_up(self.users[user].id),
            }
            self.leave(user, at, "stopped");
        }
    }
}
