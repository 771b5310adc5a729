//! One line of a user: thinking, typing, sending, waiting for the system, and recording the row.

use super::{DriverLoop, MOST_SCREENS};
use crate::record::{InteractionRow, Outcome, Recorder, ScreenRow};
use crate::script::{Script, TypedForm, print_rule};
use crate::system::{Response, SentLine, System, Usage};
use crate::time::{Instant, Span};
use crate::user::UserState;

impl<S: System, R: Recorder> DriverLoop<'_, S, R> {
    /// Goes on to the user's next line, and lets the user think for `share` (0 to 1) of the drawn think time. After the last
    /// line, logs out.
    pub(super) fn think(&mut self, index: usize, share: f64) {
        let passes = if self.is_ending { Some(0) } else { self.load.passes };
        let script = self.script;
        if !self.is_ending && self.users[index].next_burst(script) {
            return self.pause_between_keys(index);
        }
        if self.is_ending || !self.users[index].next_line(script, passes) {
            return self.log_out(index);
        }
        let user = &mut self.users[index];
        let think = user.draw_think(script);
        let think = if share < 1.0 { Span::from_secs_f64(think.as_secs_f64() * share) } else { think };
        user.first_key_due = (user.prompt + think).max(user.noticed);
        user.planned = user.first_key_due + typing_time(script, user.strokes());
        user.state = UserState::Thinking;
        if let Some(line) = user.line {
            self.system.next_line(user.id, line.number);
        }
        if think == Span::ZERO && script.typing_chars_per_second.is_none() {
            let now = user.first_key_due;
            return self.act_on_deadline(index, now);
        }
        self.deadlines.set(user.id, user.first_key_due);
    }

    /// Lets the user type the next burst of keys as fast as the script types, but not before the screen has settled.
    fn pause_between_keys(&mut self, index: usize) {
        let gap = self.script.key_gap().unwrap_or(Span::ZERO);
        let user = &mut self.users[index];
        user.first_key_due = (user.first_key_due + gap).max(user.noticed);
        user.planned = user.first_key_due + typing_time(self.script, user.strokes());
        user.state = UserState::Thinking;
        self.deadlines.set(user.id, user.first_key_due);
    }

    /// Acts on a user's deadline, by the user's state.
    pub(super) fn act_on_deadline(&mut self, index: usize, now: Instant) {
        match self.users[index].state {
            UserState::Away => self.log_in(index, now),
            UserState::Thinking => {
                self.users[index].first_key = now;
                self.type_on(index, now);
            }
            UserState::Typing => self.type_on(index, now),
            // The answer came within the time limit, and its event is on the way.
            UserState::Waiting | UserState::Interrupted if self.system.is_ready(self.users[index].id) => {}
            UserState::Waiting => self.time_out(index, now),
            UserState::Interrupted | UserState::LoggingOut => self.give_up(index, now),
            UserState::LoggingIn | UserState::AtBarrier | UserState::Gone => unreachable!("no deadline is set in this state"),
        }
    }

    /// Types the keys that are due. The last key sends the line.
    pub(super) fn type_on(&mut self, index: usize, now: Instant) {
        let user = &mut self.users[index];
        let Some(rate) = self.script.typing_chars_per_second else { return self.send(index) };
        let due = now.since(user.first_key_due).as_secs_f64() * rate;
        // At least one key for each deadline, whatever the rounding: time need not pass between two calls.
        let end = user.end_of_strokes(due as usize + 1);
        if end >= user.end() {
            return self.send(index);
        }
        let from = user.typed.min(end);
        user.typed = end;
        user.state = UserState::Typing;
        let form = user.line.map_or(TypedForm::Line, |line| line.form);
        self.system.keys(user.id, &user.text.as_bytes()[from..end], form);
        self.deadlines.set(user.id, user.first_key_due + Span::from_secs_f64(user.strokes_to(end) as f64 / rate));
    }

    pub(super) fn send(&mut self, index: usize) {
        let script = self.script;
        let user = &mut self.users[index];
        let line = user.line.expect("a user who types has a line");
        let end = user.end();
        let keys = &user.text.as_bytes()[user.typed..end];
        let (form, has_more, until) = (line.form, user.has_more_keys(), user.until(script));
        let typed = SentLine { keys, form, has_more, line: line.number, command: &line.name, until };
        user.sent = self.system.send(user.id, typed);
        user.typed = end;
        if user.state == UserState::Thinking {
            user.first_key = user.sent;
        }
        user.state = UserState::Waiting;
        self.deadlines.set(user.id, user.sent + user.timeout(script));
        if !user.has_typed {
            user.has_typed = true;
            self.users_without_line -= 1;
            let sent = user.sent;
            self.check_warm_up(sent);
        }
        self.users[index].sent_in = self.phase;
    }

    pub(super) fn on_ready(&mut self, index: usize, at: Instant, response: Response) {
        let noticed = response.settled.unwrap_or_else(|| self.users[index].notices(self.script, at, response.confirmed));
        match self.users[index].state {
            // What was printed before the line was sent, and is read after that, is no answer to it.
            UserState::Waiting if at < self.users[index].sent => return,
            UserState::Waiting => {
                let outcome = self.judge(index, &response);
                self.record(index, (!response.is_unseen).then_some(at), &response, outcome);
                self.end_load_if_enough();
            }
            UserState::Interrupted => {}
            // The user does not wait for this prompt: a program printed it by itself.
            _ => return,
        }
        // The time limit does not count any more: thinking, sending and logging out each set another deadline.
        (self.users[index].prompt, self.users[index].noticed) = (at, noticed);
        self.think(index, 1.0);
    }

    pub(super) fn judge(&self, index: usize, response: &Response) -> Outcome {
        let accepted = self.users[index].line.and_then(|line| line.status.as_ref());
        match (accepted, response.exit_status) {
            _ if response.is_unstarted => Outcome::Failed,
            _ if !response.confirmed => Outcome::Unconfirmed,
            (Some(accepted), Some(status)) if !accepted.contains(&status) => Outcome::Failed,
            _ => Outcome::Ok,
        }
    }

    pub(super) fn record(&mut self, index: usize, ready: Option<Instant>, response: &Response, outcome: Outcome) {
        let user = &self.users[index];
        let line = user.line.expect("a line was sent");
        let response_time = ready.map(|at| at.since(user.sent));
        let is_typed_by_key = self.script.typing_chars_per_second.is_some();
        self.summary.interactions += 1;
        self.recorder.interaction(&InteractionRow {
            user: user.id,
            pass: user.pass,
            line: line.number,
            command: &line.name,
            planned: user.planned,
            sent: user.sent,
            first_output: response.first_output,
            ready,
            // More than the user has waited can only be a clock that was set meanwhile.
            response_there_ns: response.there_ns.zip(response_time).and_then(|(there, here)| (there <= here.0).then_some(there)),
            typing_ns: user.sent.since(user.first_key).0,
            think_ns: user.first_key.since(user.prompt).0,
            usage: response.usage,
            typing_usage: if is_typed_by_key { self.system.typing_usage(user.id) } else { Usage::default() },
            // Usage is read when the screen has settled, so it may be used until then.
            cpu_excess_ns: response
                .settled
                .map(|settled| settled.since(user.sent))
                .or(response_time)
                .zip(self.clock)
                .and_then(|(span, clock)| clock.excess_ns(&response.usage, span)),
            bytes_out: response.bytes_out,
            exit_status: response.exit_status,
            outcome,
            phase: user.sent_in,
        });
        if matches!(outcome, Outcome::Failed | Outcome::Timeout | Outcome::Died) {
            self.keep_screen(index);
        }
    }

    /// Records the last output of the line that has just been recorded.
    fn keep_screen(&mut self, index: usize) {
        let user = &self.users[index];
        if self.screens_kept >= MOST_SCREENS {
            return;
        }
        let Some(screen) = self.system.last_screen(user.id) else { return };
        self.screens_kept += 1;
        let until = print_rule(user.until(self.script));
        self.recorder.screen(&ScreenRow { at: self.system.now(), user: user.id, sent: user.sent, until, screen });
    }

    pub(super) fn time_out(&mut self, index: usize, now: Instant) {
        let id = self.users[index].id;
        let so_far = self.system.interrupt(id);
        self.record(index, None, &so_far, Outcome::Timeout);
        self.users[index].state = UserState::Interrupted;
        self.deadlines.set(id, now + self.load.grace);
        self.end_load_if_enough();
    }

    fn end_load_if_enough(&mut self) {
        if !self.is_ending && self.recorder.enough() {
            self.end_load(self.system.now());
        }
    }
}

fn typing_time(script: &Script, strokes: usize) -> Span {
    script.typing_chars_per_second.map_or(Span::ZERO, |rate| Span::from_secs_f64(strokes.saturating_sub(1) as f64 / rate))
}
