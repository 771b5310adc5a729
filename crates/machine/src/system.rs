//! A simulated machine as a system under test: what the driver types becomes work of the engine, time is the engine's.
//!
//! Nobody can tell it from a host by what it answers. A log-in makes a process, a line begins the command that is looked up by the
//! line's row in the report, an interrupt gives the command up, a log-out ends the process at once. While time passes, the engine's
//! meters are read off at the end of each span, and once more where a phase begins.

mod memory;
mod programs;
mod sampling;
mod span;

use super::engine::{Engine, Moved, Told};
use super::spec::Machine;
use loadgo_core::record::{Phase, Sample};
use loadgo_core::system::{Event, Response, SentLine, System, UserId};
use loadgo_core::time::Instant;
use programs::Programs;
pub use programs::unknown_commands;
use sampling::{End, Sampling};
use std::collections::VecDeque;

/// Where the machine's meters go, and who may interfere with its time.
pub trait Sink {
    /// Takes what the meters tell of a span that ended at `at`.
    fn sample(&mut self, at: Instant, sample: Sample);
    /// Whether somebody asked for the run to stop; asked often, and true once.
    fn stop(&mut self) -> bool {
        false
    }
}

/// A simulated machine with users on it.
pub struct Simulated<K> {
    engine: Engine,
    programs: Programs,
    sampling: Sampling,
    sink: K,
    /// What has happened at once, and waits to be told.
    told: VecDeque<Event>,
    /// Keys of the line in hand that were sent before its end, by user.
    keys: Vec<Vec<u8>>,
    arguments: Vec<f64>,
    stuck: bool,
    /// A phase has begun, with which the span in hand ends.
    phase_began: bool,
    /// Somebody asked for the run to stop.
    stopping: bool,
}

impl<K: Sink> Simulated<K> {
    /// `engine`, which is one of `machine`, behind the driver's door.
    pub fn new(engine: Engine, machine: &Machine, sink: K) -> Simulated<K> {
        Simulated {
            sampling: Sampling::begin(machine, &engine),
            engine,
            programs: Programs::of(machine),
            sink,
            told: VecDeque::new(),
            keys: Vec::new(),
            arguments: Vec::new(),
            stuck: false,
            phase_began: false,
            stopping: false,
        }
    }

    /// Ends the last span; what kept the machine from going on, if it noticed something that the driver has not heard of.
    pub fn finish(mut self) -> Option<String> {
        self.sample(End::Cut);
        self.engine.trouble().map(Into::into)
    }

    /// Why the machine cannot go on.
    fn why_stuck(&self) -> String {
        if let Some(trouble) = self.engine.trouble() {
            return trouble.into();
        }
        let at = loadgo_core::script::print_span(self.now().since(Instant(0)));
        format!(
            "the machine stands still after {at}: users wait, and nothing will ever happen; is a store missing, or a limit 0?"
        )
    }

    fn sample(&mut self, end: End) {
        if let Some(sample) = self.sampling.sample(&self.engine, end) {
            self.sink.sample(Instant(self.engine.now()), sample);
        }
    }

    /// Moves time to what happens next, at most to `until`; spans end on the way.
    fn advance(&mut self, until: Option<u64>) -> Option<Told> {
        loop {
            let end = self.sampling.due();
            let Some(until) = until else { return self.advance_to_the_next(end) };
            match self.engine.move_on(Some(until.min(end))) {
                Moved::Told(told) => return Some(told),
                Moved::Nothing if self.is_in_trouble() || end > until => return None,
                Moved::Nothing => self.sample(End::Period),
                Moved::NotYet => {}
            }
            if self.is_to_stop() {
                return None;
            }
        }
    }

    /// Whether the machine cannot go on.
    fn is_in_trouble(&mut self) -> bool {
        self.stuck |= self.engine.trouble().is_some();
        self.stuck
    }

    /// Whether somebody has asked for the run to stop.
    fn is_to_stop(&mut self) -> bool {
        self.stopping |= self.sink.stop();
        self.stopping
    }

    /// The next thing that happens, however late; a machine on which nothing ever will is stopped.
    fn advance_to_the_next(&mut self, end: u64) -> Option<Told> {
        let moved = loop {
            let moved = self.engine.move_on(None);
            if moved != Moved::NotYet || self.is_to_stop() {
                break moved;
            }
        };
        if self.engine.now() >= end {
            self.sample(End::Period);
        }
        self.stuck |= moved == Moved::Nothing;
        if let Moved::Told(told) = moved { Some(told) } else { None }
    }

    fn event(&mut self, told: Told) -> Event {
        match told {
            Told::Attached { user, at } => Event::LoggedIn { user, at: Instant(at) },
            Told::Ready { user, at, answer } => {
                let response = Response {
                    first_output: answer.first_output.map(Instant),
                    bytes_out: answer.bytes_out,
                    exit_status: answer.exit_status,
                    confirmed: true,
                    usage: answer.usage,
                };
                Event::Ready { user, at: Instant(at), response }
            }
        }
    }

    /// The keys of `user` that wait for the end of their line.
    fn keys_of(&mut self, user: UserId) -> &mut Vec<u8> {
        let place = user as usize;
        if self.keys.len() <= place {
            self.keys.resize_with(place + 1, Vec::new);
        }
        &mut self.keys[place]
    }

    /// Leaves the numbers of the line in `arguments`, where its command reads any.
    fn read_arguments(&mut self, user: UserId, end: &[u8], command: usize) {
        self.arguments.clear();
        if self.programs.reads_arguments(command) {
            let mut line = std::mem::take(self.keys_of(user));
            line.extend_from_slice(end);
            programs::numbers(&line, &mut self.arguments);
        }
        self.keys_of(user).clear();
    }
}

impl<K: Sink> System for Simulated<K> {
    fn now(&self) -> Instant {
        Instant(self.engine.now())
    }

    fn log_in(&mut self, user: UserId) {
        if let Err(reason) = self.engine.attach(user) {
            self.told.push_back(Event::Refused { user, at: self.now(), reason });
        }
    }

    fn keys(&mut self, user: UserId, keys: &[u8]) {
        self.keys_of(user).extend_from_slice(keys);
    }

    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        let at = self.now();
        let command = self.programs.named(typed.command);
        self.read_arguments(user, typed.keys, command);
        self.engine.begin(user, command, &self.arguments);
        at
    }

    fn log_out(&mut self, user: UserId, _: &[u8]) -> Instant {
        let at = self.now();
        self.engine.detach(user);
        self.told.push_back(Event::Ended { user, at, reason: "logged out".into(), response: Response::default() });
        at
    }

    fn phase(&mut self, _: Phase) {
        self.phase_began = true;
    }

    fn interrupt(&mut self, user: UserId) {
        self.engine.abandon(user);
    }

    fn hang_up(&mut self, user: UserId) {
        self.engine.detach(user);
        self.told.retain(|event| !is_of(event, user));
    }

    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        if std::mem::take(&mut self.phase_began) {
            self.sample(End::Cut);
        }
        if self.stuck {
            return events.push(Event::Stuck { at: self.now(), reason: self.why_stuck() });
        }
        if self.is_to_stop() {
            return events.push(Event::Stop { at: self.now() });
        }
        if let Some(event) = self.told.pop_front() {
            return events.push(event);
        }
        if let Some(told) = self.advance(until.map(|at| at.0)) {
            let event = self.event(told);
            events.push(event);
        }
    }
}

fn is_of(event: &Event, whose: UserId) -> bool {
    match event {
        Event::LoggedIn { user, .. } | Event::Refused { user, .. } | Event::Ready { user, .. } | Event::Ended { user, .. } => {
            *user == whose
        }
        Event::Stop { .. } | Event::Stuck { .. } => false,
    }
}
