//! The end of a session: a log-out, a death, a time-out that nothing answers, or the end of the run.

use super::DriverLoop;
use crate::load::LoadModel;
use crate::record::{LostRow, Outcome, Phase, Recorder, SessionRow};
use crate::system::{Response, System};
use crate::time::Instant;
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    pub(super) fn log_out(&mut self, index: usize) {
        let user = &mut self.users[index];
        user.line = None;
        user.state = UserState::LoggingOut;
        let id = user.id;
        let keys = format!("{}\n", self.script.logout);
        self.users[index].sent = self.system.now(); // the system may type the keys some time later
        let sent = self.system.log_out(id, keys.as_bytes());
        self.deadlines.set(id, sent + self.load.grace);
        if self.load.model == LoadModel::Closed && self.is_barrier_open {
            self.enter(Phase::RampDown, sent);
        }
    }

    pub(super) fn on_ended(&mut self, index: usize, at: Instant, reason: String, response: Response) {
        let state = self.users[index].state;
        // A script's last line may end the session: then the session's exit status is the line's.
        let by_last_line = state == UserState::Waiting && response.exit_status.is_some() && !self.has_more_lines(index);
        if state == UserState::Waiting {
            let outcome = if by_last_line { self.judge(index, &response) } else { Outcome::Died };
            self.record(index, by_last_line.then_some(at), &response, outcome);
        }
        if state == UserState::LoggingOut || by_last_line {
            self.summary.done += 1;
            return self.leave(index, at, "done");
        }
        self.die(index, at, reason);
    }

    /// Whether the user has keys or lines left after the current ones.
    pub(super) fn has_more_lines(&self, index: usize) -> bool {
        let mut lookahead = self.users[index].clone();
        !self.is_ending && (lookahead.next_burst(self.script) || lookahead.next_line(self.script, self.load.passes))
    }

    pub(super) fn die(&mut self, index: usize, at: Instant, reason: String) {
        let id = self.users[index].id;
        self.summary.died += 1;
        self.recorder.lost(&LostRow { at, user: Some(id), what: "session", count: 1, reason });
        self.leave(index, at, "died");
    }

    /// Hangs up a session whose command did not end after an interrupt, or whose shell did not end after the log-out.
    pub(super) fn give_up(&mut self, index: usize, now: Instant) {
        let id = self.users[index].id;
        self.system.hang_up(id);
        if self.users[index].state == UserState::LoggingOut {
            self.summary.done += 1;
            return self.leave(index, now, "done");
        }
        self.die(index, now, "the line timed out, and the session did not give its prompt back after an interrupt".into());
    }

    pub(super) fn leave(&mut self, index: usize, at: Instant, outcome: &'static str) {
        let is_open = self.is_open();
        let user = &mut self.users[index];
        assert_ne!(user.state, UserState::Gone, "a user leaves once");
        let never_arrived = is_open && user.state == UserState::Away;
        if user.state == UserState::Away {
            (user.arrival, user.started) = (at, at);
        }
        if user.logged_in.is_some() && !user.has_typed {
            user.has_typed = true; // nobody waits for this user's first line any more
            self.users_without_line -= 1;
        }
        user.state = UserState::Gone;
        user.text = String::new();
        user.key_ends = Vec::new();
        self.users_present -= 1;
        self.deadlines.clear(user.id);
        let (user, planned, started, ready, sent) = (user.id, user.arrival, user.started, user.logged_in, user.sent);
        // A line may have been sent to a session that had ended, before the driver read of that.
        let ended = at.max(sent);
        if !never_arrived {
            self.recorder.session(&SessionRow { user, planned, started, ready, ended, outcome });
        }
        if self.users_present > 0 && !self.is_ending {
            // Lines that were sent after `at`, before the driver read of it, belong to the phase before.
            self.check_warm_up(self.system.now());
        }
        if !self.is_barrier_open && self.summary.logged_in > 0 && outcome == "died" {
            self.next_log_in();
        }
    }

    pub(super) fn stop(&mut self, at: Instant) {
        let at = at.max(self.system.now()); // what the driver did before it read of the stop comes before it
        self.summary.stopped = true;
        self.is_ending = true;
        let waiting = self.users.iter().filter(|user| user.state == UserState::Waiting).count() as u64;
        if waiting > 0 {
            let reason = "the run was stopped before the system was ready again".into();
            self.recorder.lost(&LostRow { at, user: None, what: "interaction", count: waiting, reason });
        }
        for index in 0..self.users.len() {
            match self.users[index].state {
                UserState::Gone => continue,
                UserState::Away => {}
                _ => self.system.hang_up(self.users[index].id),
            }
            self.leave(index, at, "stopped");
        }
    }
}
