//! A simulated machine as a system under test: typed lines become work of the engine, whose time is the system's time.
//!
//! A driver uses it like a host. A log-in creates a process, and a line begins the command with the line's name in the report. An
//! interrupt gives the command up, and a log-out ends the process at once. The engine's meters are read at the end of each span,
//! and at the beginning of each phase.

mod limit_costs;
mod memory;
mod programs;
mod sampling;
mod span;
#[cfg(test)]
mod tests;

use super::engine::{Advance, Engine, EngineError, EngineEvent};
use super::spec::Machine;
use loadgo_core::record::{MeterRows, Phase};
use loadgo_core::script::TypedForm;
use loadgo_core::stop::StopRequest;
use loadgo_core::system::{Event, ProcessorClock, Response, SentLine, System, UserId};
use loadgo_core::time::Instant;
use programs::CommandIndex;
pub use programs::unknown_commands;
use sampling::{SpanEnd, SpanSampler};
use std::collections::VecDeque;

/// The receiver of a machine's samples.
pub trait SampleSink {
    /// Takes the rows of a span that ended at `at`.
    fn sample(&mut self, at: Instant, sample: MeterRows);
}

/// A simulated machine with users on it.
pub struct MachineSystem<K> {
    engine: Engine,
    processors: u32,
    programs: CommandIndex,
    sampling: SpanSampler,
    sink: K,
    /// Events that have happened, and that the driver has not taken yet.
    events: VecDeque<Event>,
    /// Keys of each user's current line that were sent before its end.
    keys: Vec<Vec<u8>>,
    arguments: Vec<f64>,
    stuck: bool,
    /// Whether a phase has begun, which ends the current span.
    phase_began: bool,
    /// Read while the engine works, and at each wait.
    stop: StopRequest,
}

impl<K: SampleSink> MachineSystem<K> {
    /// The system with `engine`, which is an engine of `machine`; `stop` ends the run.
    pub fn new(engine: Engine, machine: &Machine, sink: K, stop: StopRequest) -> MachineSystem<K> {
        MachineSystem {
            sampling: SpanSampler::begin(machine, &engine),
            engine,
            processors: machine.processors.count,
            programs: CommandIndex::of(machine),
            sink,
            events: VecDeque::new(),
            keys: Vec::new(),
            arguments: Vec::new(),
            stuck: false,
            phase_began: false,
            stop,
        }
    }

    /// Ends the last span, and returns the reason why the machine could not go on, if there is one.
    pub fn finish(mut self) -> Option<EngineError> {
        self.sample(SpanEnd::Cut);
        self.engine.trouble().cloned()
    }

    /// The reason why the machine cannot go on.
    fn why_stuck(&self) -> String {
        if let Some(trouble) = self.engine.trouble() {
            return trouble.to_string();
        }
        let at = loadgo_core::script::print_span(self.now().since(Instant(0)));
        format!("the machine stands still after {at}: users wait, and no event will ever come; is a store missing, or a limit 0?")
    }

    fn sample(&mut self, end: SpanEnd) {
        if let Some(sample) = self.sampling.sample(&self.engine, end) {
            self.sink.sample(Instant(self.engine.now()), sample);
        }
    }

    /// Moves time to the next event, at most to `until`, and ends spans on the way.
    fn advance(&mut self, until: Option<u64>) -> Option<EngineEvent> {
        loop {
            let end = self.sampling.due();
            let Some(until) = until else { return self.advance_without_limit(end) };
            match self.engine.move_on(Some(until.min(end))) {
                Advance::Event(event) => return Some(event),
                Advance::Nothing if self.is_in_trouble() || end > until => return None,
                Advance::Nothing => self.sample(SpanEnd::Period),
                Advance::NotYet => {}
            }
            if self.stop.is_set() {
                return None;
            }
        }
    }

    /// Whether the machine cannot go on.
    fn is_in_trouble(&mut self) -> bool {
        self.stuck |= self.engine.trouble().is_some();
        self.stuck
    }

    /// Moves time to the next event without a limit. A machine without any future event is stuck.
    fn advance_without_limit(&mut self, end: u64) -> Option<EngineEvent> {
        let advance = loop {
            let advance = self.engine.move_on(None);
            if advance != Advance::NotYet || self.stop.is_set() {
                break advance;
            }
        };
        if self.engine.now() >= end {
            self.sample(SpanEnd::Period);
        }
        self.stuck |= advance == Advance::Nothing;
        if let Advance::Event(event) = advance { Some(event) } else { None }
    }

    fn event(&mut self, engine_event: EngineEvent) -> Event {
        match engine_event {
            EngineEvent::Attached { user, at } => Event::LoggedIn { user, at: Instant(at) },
            EngineEvent::Ready { user, at, answer } => {
                let response = Response {
                    first_output: answer.first_output.map(Instant),
                    bytes_out: answer.bytes_out,
                    exit_status: answer.exit_status,
                    confirmed: true,
                    usage: answer.usage,
                    ..Response::default()
                };
                Event::Ready { user, at: Instant(at), response }
            }
        }
    }

    /// The keys of `user` that wait for the end of their line.
    fn keys_of(&mut self, user: UserId) -> &mut Vec<u8> {
        let index = user as usize;
        if self.keys.len() <= index {
            self.keys.resize_with(index + 1, Vec::new);
        }
        &mut self.keys[index]
    }

    /// Puts the numbers of the line into `arguments`, if its command reads any.
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

impl<K: SampleSink> System for MachineSystem<K> {
    fn now(&self) -> Instant {
        Instant(self.engine.now())
    }

    fn log_in(&mut self, user: UserId) {
        if let Err(reason) = self.engine.attach(user) {
            self.events.push_back(Event::Refused { user, at: self.now(), reason: reason.to_string(), remedy: "" });
        }
    }

    fn keys(&mut self, user: UserId, keys: &[u8], _: TypedForm) {
        self.keys_of(user).extend_from_slice(keys);
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        Some(ProcessorClock { processors: self.processors, step_ns: 0 })
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
        self.events.push_back(Event::Ended { user, at, reason: "logged out".into(), response: Response::default() });
        at
    }

    fn phase(&mut self, _: Phase) {
        self.phase_began = true;
    }

    fn interrupt(&mut self, user: UserId) -> Response {
        let so_far = self.engine.abandon(user);
        Response { first_output: so_far.first_output.map(Instant), bytes_out: so_far.bytes_out, ..Response::default() }
    }

    fn hang_up(&mut self, user: UserId) {
        self.engine.detach(user);
        self.events.retain(|event| event.user() != Some(user));
    }

    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        if std::mem::take(&mut self.phase_began) {
            self.sample(SpanEnd::Cut);
        }
        if self.stuck {
            return events.push(Event::Stuck { at: self.now(), reason: self.why_stuck() });
        }
        if self.stop.is_set() {
            return events.push(Event::Stop { at: self.now() });
        }
        if let Some(event) = self.events.pop_front() {
            return events.push(event);
        }
        if let Some(engine_event) = self.advance(until.map(|at| at.0)) {
            let event = self.event(engine_event);
            events.push(event);
        }
    }
}
