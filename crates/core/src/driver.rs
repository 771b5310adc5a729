//! The driver: logs users in, lets them think and type, and records what the system did.
//!
//! One loop for a live host and for a simulated machine: it asks the [`System`] for the time, sets one deadline a user
//! and lets the system wait for the earliest. A user thinks from the prompt; the line is *due* at prompt + think time +
//! typing time, and what it is sent later than that is the driver's lateness, never the system's response.

use crate::deadlines::Deadlines;
use crate::load::{Load, Model, WarmUp};
use crate::random::{Purpose, Stream};
use crate::record::{Interaction, Lost, Outcome, Phase, Recorder, Session};
use crate::script::Script;
use crate::system::{Event, Response, System, Typed, UserId};
use crate::time::{Instant, Span};
use crate::user::{State, User};

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
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
}

/// Runs `script` on `system` under `load` until every user is gone.
pub fn drive<S: System, R: Recorder>(script: &Script, load: &Load, system: &mut S, recorder: &mut R) -> Summary {
    let mut driver = Driver::new(script, load, system, recorder);
    driver.open();
    driver.run();
    driver.summary
}

struct Driver<'a, S, R> {
    script: &'a Script,
    load: &'a Load,
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
    summary: Summary,
}

/// The key in the deadlines that stands for the run itself: the end of a phase.
const RUN: u32 = 0;

impl<'a, S: System, R: Recorder> Driver<'a, S, R> {
    fn new(script: &'a Script, load: &'a Load, system: &'a mut S, recorder: &'a mut R) -> Self {
        let users: Vec<_> = (1..=load.users).map(|id| User::new(id, script, load.seed)).collect();
        Driver {
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
            summary: Summary::default(),
        }
    }

    fn open(&mut self) {
        let now = self.system.now();
        match self.load.model {
            Model::Closed => self.log_in_more(),
            Model::Open(per_second) => {
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
        }
    }

    // ---- log-ins ----

    fn plan_arrivals(&mut self, per_second: f64, from: Instant) {
        let mut arrivals = Stream::new(self.load.seed, 0, Purpose::Start);
        let mut at = from;
        for user in &mut self.users {
            at = at + Span::from_secs_f64(arrivals.exponential() / per_second);
            user.arrival = at;
            self.deadlines.set(user.id, at);
        }
    }

    /// Begins log-ins of a closed load while fewer than allowed are under way: paced by completion, not by a clock.
    fn log_in_more(&mut self) {
        while self.under_way < self.load.log_ins_at_once && self.next < self.users.len() && !self.leaving {
            let now = self.system.now();
            self.users[self.next].arrival = now;
            self.log_in(self.next, now);
            self.next += 1;
        }
    }

    fn log_in(&mut self, user: usize, now: Instant) {
        self.users[user].state = State::LoggingIn;
        self.users[user].started = now;
        self.under_way += 1;
        self.to_come -= 1;
        if self.is_open() && self.to_come == 0 {
            self.enter(Phase::RampDown, now);
        }
        self.system.log_in(self.users[user].id);
    }

    fn logged_in(&mut self, user: usize, at: Instant) {
        self.users[user].logged_in = Some(at);
        self.users[user].state = State::AtBarrier;
        self.under_way -= 1;
        self.summary.logged_in += 1;
        self.recorder.logged_in(self.summary.logged_in);
        self.silent += 1;
        if self.is_open() {
            return self.begin(user, at);
        }
        self.next_log_in();
    }

    fn is_open(&self) -> bool {
        matches!(self.load.model, Model::Open(_))
    }

    fn refused(&mut self, user: usize, at: Instant, reason: String) {
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

    fn give_up_the_rest(&mut self, at: Instant) {
        self.leaving = true;
        for user in self.next..self.users.len() {
            self.leave(user, at, "refused");
        }
        self.next = self.users.len();
    }

    fn next_log_in(&mut self) {
        self.log_in_more();
        if self.under_way == 0 && self.next == self.users.len() && !self.barrier_open {
            self.open_barrier(self.system.now());
        }
    }

    /// Everybody is there: the meters start, and the users with them.
    fn open_barrier(&mut self, now: Instant) {
        self.barrier_open = true;
        self.recorder.phase(Phase::WarmUp, now);
        if let WarmUp::For(span) = self.load.warm_up {
            self.deadlines.set(RUN, now + span);
        }
        for user in 0..self.users.len() {
            if self.users[user].state == State::AtBarrier {
                self.begin(user, now);
            }
        }
        self.check_warm_up(now);
    }

    /// Lets a user begin. The first think time is cut at a random part of it: users do not start in step.
    fn begin(&mut self, user: usize, now: Instant) {
        self.users[user].prompt = now;
        let part = Stream::new(self.load.seed, self.users[user].id, Purpose::Start).unit();
        self.think(user, part);
    }

    // ---- a line ----

    fn think(&mut self, user: usize, part: f64) {
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
        this.state = State::Thinking;
        if think == Span::ZERO && script.typing_chars_per_second.is_none() {
            let now = self.system.now();
            return self.act(user, now);
        }
        self.deadlines.set(this.id, this.first_key_due);
    }

    /// Does what a user's deadline stands for.
    fn act(&mut self, user: usize, now: Instant) {
        match self.users[user].state {
            State::Away => self.log_in(user, now),
            State::Thinking => {
                self.users[user].first_key = now;
                self.type_on(user, now);
            }
            State::Typing => self.type_on(user, now),
            State::Waiting => self.time_out(user, now),
            State::Interrupted | State::LeavingOff => self.give_up(user, now),
            State::LoggingIn | State::AtBarrier | State::Gone => unreachable!("no deadline is set in this state"),
        }
    }

    /// Types the keys that are due; the last one sends the line.
    fn type_on(&mut self, user: usize, now: Instant) {
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
        this.state = State::Typing;
        self.system.keys(this.id, &this.text.as_bytes()[from..upto]);
        self.deadlines.set(this.id, this.first_key_due + Span::from_secs_f64(upto as f64 / rate));
    }

    fn send(&mut self, user: usize) {
        let script = self.script;
        let this = &mut self.users[user];
        let line = this.line.expect("a line is in hand");
        let keys = &this.text.as_bytes()[this.typed..];
        let typed = Typed { keys, line: line.number, command: &line.name, until: this.until(script) };
        this.sent = self.system.send(this.id, typed);
        if this.state == State::Thinking {
            this.first_key = this.sent;
        }
        this.state = State::Waiting;
        self.deadlines.set(this.id, this.sent + this.timeout(script));
        if !this.has_typed {
            this.has_typed = true;
            self.silent -= 1;
            let sent = this.sent;
            self.check_warm_up(sent);
        }
        self.users[user].sent_in = self.phase;
    }

    fn ready(&mut self, user: usize, at: Instant, response: Response) {
        match self.users[user].state {
            State::Waiting => {
                let outcome = self.outcome(user, &response);
                self.record(user, Some(at), &response, outcome);
            }
            State::Interrupted => {}
            // A prompt that nobody waits for: what a program printed behind our back.
            _ => return,
        }
        self.deadlines.clear(self.users[user].id);
        self.users[user].prompt = at;
        self.think(user, 1.0);
    }

    fn outcome(&self, user: usize, response: &Response) -> Outcome {
        let accepted = self.users[user].line.and_then(|line| line.status.as_ref());
        match (accepted, response.exit_status) {
            _ if !response.confirmed => Outcome::Unconfirmed,
            (Some(accepted), Some(status)) if !accepted.contains(&status) => Outcome::Failed,
            _ => Outcome::Ok,
        }
    }

    fn record(&mut self, user: usize, ready: Option<Instant>, response: &Response, outcome: Outcome) {
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

    fn time_out(&mut self, user: usize, now: Instant) {
        self.record(user, None, &Response::default(), Outcome::Timeout);
        self.users[user].state = State::Interrupted;
        let id = self.users[user].id;
        self.system.interrupt(id);
        self.deadlines.set(id, now + self.load.grace);
    }

    // ---- the end of a session ----

    fn log_out(&mut self, user: usize) {
        let this = &mut self.users[user];
        this.line = None;
        this.state = State::LeavingOff;
        let id = this.id;
        let keys = format!("{}\n", self.script.logout);
        let typed = Typed { keys: keys.as_bytes(), line: 0, command: "", until: &self.script.until };
        let sent = self.system.send(id, typed);
        self.deadlines.set(id, sent + self.load.grace);
        if self.load.model == Model::Closed && self.barrier_open {
            self.enter(Phase::RampDown, sent);
        }
    }

    fn ended(&mut self, user: usize, at: Instant, reason: String, response: Response) {
        let state = self.users[user].state;
        let last = state == State::Waiting && !self.has_more(user);
        if state == State::Waiting {
            self.record(user, last.then_some(at), &response, if last { Outcome::Ok } else { Outcome::Died });
        }
        if state == State::LeavingOff || last {
            self.summary.done += 1;
            return self.leave(user, at, "done");
        }
        self.die(user, at, reason);
    }

    /// Whether lines are left after the one in hand; a script may end with the line that ends the session.
    fn has_more(&self, user: usize) -> bool {
        let mut rest = self.users[user].clone();
        !self.leaving && rest.next_line(self.script, self.load.passes)
    }

    fn die(&mut self, user: usize, at: Instant, reason: String) {
        let id = self.users[user].id;
        self.summary.died += 1;
        self.recorder.lost(&Lost { at, user: Some(id), what: "session", count: 1, reason });
        self.leave(user, at, "died");
    }

    /// The grace is over: an interrupted command, or a shell that was told to end, did not.
    fn give_up(&mut self, user: usize, now: Instant) {
        let id = self.users[user].id;
        self.system.hang_up(id);
        if self.users[user].state == State::LeavingOff {
            self.summary.done += 1;
            return self.leave(user, now, "done");
        }
        self.die(user, now, "the line timed out, and the session did not give its prompt back after an interrupt".into());
    }

    fn leave(&mut self, user: usize, at: Instant, outcome: &'static str) {
        let this = &mut self.users[user];
        if this.state == State::Away {
            (this.arrival, this.started) = (at, at);
        }
        if this.logged_in.is_some() && !this.has_typed {
            this.has_typed = true;
            self.silent -= 1;
        }
        this.state = State::Gone;
        this.text = String::new();
        self.present -= 1;
        self.deadlines.clear(this.id);
        let (user, planned, started, ready) = (this.id, this.arrival, this.started, this.logged_in);
        self.recorder.session(&Session { user, planned, started, ready, ended: at, outcome });
        if !self.barrier_open && self.summary.logged_in > 0 && outcome == "died" {
            self.next_log_in();
        }
    }

    fn stop(&mut self, at: Instant) {
        self.summary.stopped = true;
        self.leaving = true;
        let waiting = self.users.iter().filter(|user| user.state == State::Waiting).count() as u64;
        if waiting > 0 {
            let reason = "the run was stopped before the system was ready again".into();
            self.recorder.lost(&Lost { at, user: None, what: "interaction", count: waiting, reason });
        }
        for user in 0..self.users.len() {
            match self.users[user].state {
                State::Gone => continue,
                State::Away => {}
                _ => self.system.hang_up(self.users[user].id),
            }
            self.leave(user, at, "stopped");
        }
    }

    // ---- phases ----

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
        self.recorder.phase(phase, at);
        if let (Phase::Steady, Some(duration)) = (phase, self.load.duration) {
            self.deadlines.set(RUN, at + duration);
        }
    }

    /// The time is up: who waits for the system is let finish, everybody else logs out.
    fn close(&mut self, now: Instant) {
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

fn index(user: UserId) -> usize {
    user as usize - 1
}

fn typing_time(script: &Script, length: usize) -> Span {
    script.typing_chars_per_second.map_or(Span::ZERO, |rate| Span::from_secs_f64((length - 1) as f64 / rate))
}
