//! One line: thinking, typing, sending, waiting for the system, and the row that is recorded.

use super::DriverLoop;
use crate::record::{Interaction, Outcome, Recorder};
use crate::script::Script;
use crate::system::{Response, SentLine, System};
use crate::time::{Instant, Span};
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    pub(super) fn think(&mut self, user: usize, part: f64) {
        let passes = if self.leaving { Some(0) } else { self.load.passes };
        let script = self.script;
        if self.leaving || !self.users[user].next_line(script, passes) {
            return self.log_out(user);
        }
        let this = &mut self.users[user];
        let think = this.draw_think(script);
        let think = if part < 1.0 { Span::from_secs_f64(think.as_secs_f64() * part) } else { think };
        this.first_key_due = this.prompt + think;
        this.planned = this.first_key_due + typing_time(script, this.text.len());
        this.state = UserState::Thinking;
        if think == Span::ZERO && script.typing_chars_per_second.is_none() {
            let now = this.prompt;
            return self.act(user, now);
        }
        self.deadlines.set(this.id, this.first_key_due);
    }

    /// Does what a user's deadline stands for.
    pub(super) fn act(&mut self, user: usize, now: Instant) {
        match self.users[user].state {
            UserState::Away => self.log_in(user, now),
            UserState::Thinking => {
                self.users[user].first_key = now;
                self.type_on(user, now);
            }
            UserState::Typing => self.type_on(user, now),
            UserState::Waiting => self.time_out(user, now),
            UserState::Interrupted | UserState::LeavingOff => self.give_up(user, now),
            UserState::LoggingIn | UserState::AtBarrier | UserState::Gone => unreachable!("no deadline is set in this state"),
        }
    }

    /// Types the keys that are due; the last one sends the line.
    pub(super) fn type_on(&mut self, user: usize, now: Instant) {
        let this = &mut self.users[user];
        let Some(rate) = self.script.typing_chars_per_second else { return self.send(user) };
        let due = now.since(this.first_key_due).as_secs_f64() * rate;
        // At least one key for each deadline, whatever the rounding: time need not pass between two calls.
        let upto = (due as usize + 1).max(this.typed + 1).min(this.text.len());
        if upto >= this.text.len() {
            return self.send(user);
        }
        let upto = (upto..this.text.len()).find(|&end| this.text.is_char_boundary(end)).unwrap_or(this.text.len());
        let from = this.typed.min(upto);
        this.typed = upto;
        this.state = UserState::Typing;
        self.system.keys(this.id, &this.text.as_bytes()[from..upto]);
        self.deadlines.set(this.id, this.first_key_due + Span::from_secs_f64(upto as f64 / rate));
    }

    pub(super) fn send(&mut self, user: usize) {
        let script = self.script;
        let this = &mut self.users[user];
        let line = this.line.expect("a line is in hand");
        let keys = &this.text.as_bytes()[this.typed..];
        let typed = SentLine { keys, line: line.number, command: &line.name, until: this.until(script) };
        this.sent = self.system.send(this.id, typed);
        if this.state == UserState::Thinking {
            this.first_key = this.sent;
        }
        this.state = UserState::Waiting;
        self.deadlines.set(this.id, this.sent + this.timeout(script));
        if !this.has_typed {
            this.has_typed = true;
            self.silent -= 1;
            let sent = this.sent;
            self.check_warm_up(sent);
        }
        self.users[user].sent_in = self.phase;
    }

    pub(super) fn ready(&mut self, user: usize, at: Instant, response: Response) {
        match self.users[user].state {
            UserState::Waiting => {
                let outcome = self.outcome(user, &response);
                self.record(user, Some(at), &response, outcome);
                self.close_if_enough(at);
            }
            UserState::Interrupted => {}
            // A prompt that nobody waits for: what a program printed behind our back.
            _ => return,
        }
        // The deadline of the wait is over; thinking, sending and logging out each set another in its place.
        self.users[user].prompt = at;
        self.think(user, 1.0);
    }

    pub(super) fn outcome(&self, user: usize, response: &Response) -> Outcome {
        let accepted = self.users[user].line.and_then(|line| line.status.as_ref());
        match (accepted, response.exit_status) {
            _ if !response.confirmed => Outcome::Unconfirmed,
            (Some(accepted), Some(status)) if !accepted.contains(&status) => Outcome::Failed,
            _ => Outcome::Ok,
        }
    }

    pub(super) fn record(&mut self, user: usize, ready: Option<Instant>, response: &Response, outcome: Outcome) {
        let this = &self.users[user];
        let line = this.line.expect("a line was sent");
        self.summary.interactions += 1;
        self.recorder.interaction(&Interaction {
            user: this.id,
            pass: this.pass,
            line: line.number,
            command: &line.name,
            planned: this.planned,
            sent: this.sent,
            first_output: response.first_output,
            ready,
            typing_ns: this.sent.since(this.first_key).0,
            think_ns: this.first_key.since(this.prompt).0,
            usage: response.usage,
            bytes_out: response.bytes_out,
            exit_status: response.exit_status,
            outcome,
            phase: this.sent_in,
        });
    }

    pub(super) fn time_out(&mut self, user: usize, now: Instant) {
        self.record(user, None, &Response::default(), Outcome::Timeout);
        self.users[user].state = UserState::Interrupted;
        let id = self.users[user].id;
        self.system.interrupt(id);
        self.deadlines.set(id, now + self.load.grace);
        self.close_if_enough(now);
    }

    fn close_if_enough(&mut self, now: Instant) {
        if !self.leaving && self.recorder.enough() {
            self.close(now);
        }
    }
}

fn typing_time(script: &Script, length: usize) -> Span {
    script.typing_chars_per_second.map_or(Span::ZERO, |rate| Span::from_secs_f64((length - 1) as f64 / rate))
}
