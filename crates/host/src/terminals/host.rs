//! This host as a system under test: every user's terminal under one event loop with absolute deadlines.
//!
//! One thread, one epoll, one timer. In a round, all output that has come is read and stamped first. Only then is the usage of
//! the users who became ready read from the meter. So the metering of one user does not lengthen another's response.

mod end;
mod log_in;
mod output;

use crate::groups::Groups;
use crate::terminals::login::{self, Login};
use crate::terminals::session::{Session, Stage, Watch};
use crate::terminals::starting::{Ground, Starters};
use crate::usage::meter::UsageMeter;
use loadgo_core::deadlines::Deadlines;
use loadgo_core::ready::ReadyPatterns;
use loadgo_core::script::{ReadyRule, Script, ScriptStep};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::{Event, SentLine, System, Usage, UserId};
use loadgo_core::time::{Instant, Span};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::events::{Bell, Epoll, ReadyDescriptor, Timer};
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

const INTERRUPT_KEY: &[u8] = b"\x03";
const TIMER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const STARTED: u64 = u64::MAX - 2;
/// Threads that start sessions: one waits for a program to execute while the other prepares the next.
const STARTERS: usize = 2;
/// Number by which the meter knows the log-out, which is no line of the script.
const LOG_OUT_LINE_ID: u32 = 0;
/// Most output that one reading takes from a terminal.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Settings from which a host system is made.
#[derive(Debug)]
pub struct Setting {
    /// The script, for its log-in, files and patterns.
    pub script: Arc<Script>,
    /// The log-in command, found.
    pub login: Login,
    /// The directories that programs are looked up in.
    pub search_path: String,
    /// The run's id; each session's environment carries it.
    pub run_id: String,
    /// The directory under which each user gets a home.
    pub homes: PathBuf,
    /// When the run began, on the monotonic clock.
    pub origin_ns: u64,
}

struct Seat {
    session: Session,
    master: Option<OwnedFd>,
    pid: i32,
    alive: bool,
    /// Keys that did not fit into the terminal yet.
    unsent: Vec<u8>,
}

/// This host.
pub struct Host {
    setting: Setting,
    patterns: ReadyPatterns,
    preparations: usize,
    starters: Starters,
    /// Users whose session was given up before it was started.
    unwanted: HashSet<UserId>,
    meter: UsageMeter,
    /// Whether the meter reaches the users' programs.
    metered: bool,
    epoll: Epoll,
    timer: Timer,
    /// Rung by the request to stop.
    asked_to_stop: Arc<Bell>,
    started: Arc<Bell>,
    seats: Vec<Option<Box<Seat>>>,
    by_pid: HashMap<i32, UserId>,
    silences: Deadlines,
    next_look: Instant,
    /// Users whose terminals may hold more output.
    hungry: Vec<UserId>,
    pending: Vec<Event>,
    ready: Vec<(UserId, Instant, Option<u8>, bool)>,
    buffer: Box<[u8]>,
}

impl Host {
    /// A host that users of the setting's script can be logged in to; `stop` ends the run.
    ///
    /// # Errors
    /// When the kernel refuses a descriptor or memory.
    pub fn new(setting: Setting, meter: UsageMeter, groups: Option<Arc<Groups>>, stop: &StopRequest) -> io::Result<Host> {
        let (epoll, timer, started) = (Epoll::new()?, Timer::new()?, Arc::new(Bell::new()?));
        let asked_to_stop = Arc::new(Bell::new()?);
        let bell = Arc::clone(&asked_to_stop);
        stop.wake_by(move || bell.ring());
        epoll.add_level_triggered(timer.fd(), TIMER)?;
        epoll.add_level_triggered(asked_to_stop.fd(), STOP)?;
        epoll.add_level_triggered(started.fd(), STARTED)?;
        let elsewhere = setting.login.is_elsewhere();
        Ok(Host {
            patterns: ReadyPatterns::of(untils(&setting.script)),
            preparations: if elsewhere { login::typed_files(&setting.script, &setting.run_id, 0).len() } else { 0 },
            starters: Starters::begin(ground(&setting, groups), STARTERS, &started)?,
            unwanted: HashSet::new(),
            meter,
            metered: !setting.login.is_out_of_reach(),
            epoll,
            timer,
            asked_to_stop,
            started,
            seats: Vec::new(),
            by_pid: HashMap::new(),
            silences: Deadlines::new(),
            next_look: Instant::default(),
            hungry: Vec::new(),
            pending: Vec::new(),
            ready: Vec::new(),
            buffer: vec![0; READ_BUFFER_BYTES].into_boxed_slice(),
            setting,
        })
    }

    /// The usage of `user` since the last call; nothing is known of sessions out of the meter's reach.
    fn usage(&mut self, user: UserId) -> Usage {
        if self.metered { self.meter.interaction(user) } else { Usage::default() }
    }

    /// The meter, for messages about itself.
    pub fn meter(&mut self) -> &mut UsageMeter {
        &mut self.meter
    }

    fn seat(&mut self, user: UserId) -> Option<&mut Seat> {
        self.seats.get_mut(user as usize)?.as_deref_mut()
    }

    fn next_deadline(&self, until: Option<Instant>) -> Instant {
        let silence = self.silences.first().map(|(at, _)| at);
        [until, silence].into_iter().flatten().fold(self.next_look, Instant::min)
    }

    /// Waits once, and reads all output that has come, first from users whose last reading was not all.
    fn round(&mut self, until: Option<Instant>) {
        let hungry = std::mem::take(&mut self.hungry);
        let came = if hungry.is_empty() {
            let (deadline, now) = (self.next_deadline(until), self.now());
            // A moment at least: an absolute time in the past would not arm the timer again.
            self.timer.set(self.setting.origin_ns + deadline.max(now + Span(1)).0);
            self.epoll.wait()
        } else {
            self.epoll.poll()
        };
        for user in hungry {
            self.read_terminal(user);
        }
        for index in 0..came {
            let ReadyDescriptor { key, hung_up, writable } = self.epoll.ready_descriptor(index);
            match key {
                TIMER => self.timer.acknowledge(),
                STOP if self.asked_to_stop.take_ring() => self.pending.push(Event::Stop { at: self.now() }),
                STARTED if self.started.take_ring() => self.seat_the_started(),
                STOP | STARTED => {}
                user => self.serve(user as UserId, hung_up, writable),
            }
        }
    }

    /// Types the end of a line, whose answer `watch` recognises; returns the time of typing.
    fn type_end(&mut self, user: UserId, keys: &[u8], watch: Watch) -> Instant {
        let sent = self.now();
        if let Some(seat) = self.seat(user) {
            seat.session.send(keys, watch, Stage::Line);
            seat.session.last_output = sent;
            if seat.session.ends_with_silence() {
                self.watch_silence(user);
            }
            self.put(user, keys);
        }
        sent
    }

    fn serve(&mut self, user: UserId, hung_up: bool, writable: bool) {
        if writable {
            self.put_rest(user);
        }
        self.read_terminal(user);
        // The end of the terminal is told once, and what was printed before it is read first.
        if hung_up && self.seat(user).is_some_and(|seat| seat.master.is_some()) {
            self.hungry.push(user);
        }
    }
}

impl System for Host {
    fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.setting.origin_ns)
    }

    fn log_in(&mut self, user: UserId) {
        self.starters.start(user);
    }

    fn keys(&mut self, user: UserId, keys: &[u8]) {
        let Some(seat) = self.seat(user) else { return };
        seat.session.type_keys(keys);
        self.put(user, keys);
    }

    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        self.meter.sent(user, typed.line);
        self.type_end(user, typed.keys, Watch::of(typed.until, &self.patterns))
    }

    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        self.meter.sent(user, LOG_OUT_LINE_ID);
        self.type_end(user, keys, Watch::of(&self.setting.script.until, &self.patterns))
    }

    fn interrupt(&mut self, user: UserId) {
        if let Some(seat) = self.seat(user) {
            seat.unsent.clear();
            seat.session.wait_on();
        }
        self.put(user, INTERRUPT_KEY);
    }

    fn hang_up(&mut self, user: UserId) {
        if self.seat(user).is_none() {
            self.unwanted.insert(user);
        }
        self.let_go(user);
    }

    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        if self.pending.is_empty() {
            self.round(until);
            let now = self.now();
            while let Some(user) = self.silences.pop_due(now) {
                self.silent(user, now);
            }
            if now >= self.next_look {
                self.look_for_the_dead(now);
            }
            self.settle();
        }
        events.append(&mut self.pending);
    }
}

fn ground(setting: &Setting, groups: Option<Arc<Groups>>) -> Ground {
    Ground {
        script: Arc::clone(&setting.script),
        login: setting.login.clone(),
        environment: login::shared_environment(&setting.search_path, &setting.run_id, &setting.login.path),
        homes: setting.homes.clone(),
        groups,
    }
}

/// Every way in which a line of the script may end.
fn untils(script: &Script) -> Vec<&ReadyRule> {
    let mut found = vec![&script.until];
    let mut rest: Vec<&ScriptStep> = script.steps.iter().collect();
    while let Some(step) = rest.pop() {
        match step {
            ScriptStep::Line(line) => found.extend(line.until.as_ref()),
            ScriptStep::Choose(alternatives) => rest.extend(alternatives.iter().flat_map(|(_, steps)| steps)),
            ScriptStep::Repeat(_, steps) => rest.extend(steps),
        }
    }
    found
}
