//! A system in virtual time, which answers each line after a planned time, and a recorder that keeps all rows.
#![allow(dead_code)] // each test binary uses a part

use loadgo_core::record::{InteractionRow, LostRow, Outcome, Phase, Recorder, ScreenRow, SessionRow};
use loadgo_core::script::{Script, TypedForm, parse};
use loadgo_core::system::{Barrier, Event, Response, SentLine, System, UserId};
use loadgo_core::time::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The system's reaction to a line.
pub enum Answer {
    /// The system is ready after this time, with this exit status.
    After(Span, u8),
    /// The last output comes after the first span, and a silence of the second span ends the line.
    Silent(Span, Span),
    /// The screen changes last after the first span, and is known to have settled after another of the second.
    Settles(Span, Span),
    /// Nothing changes on the screen, which is known after this time.
    Unseen(Span),
    /// The command never ends by itself; if `true`, an interrupt brings the prompt back.
    Never(bool),
    /// The session is killed after this time.
    Ends(Span),
    /// The session ends by itself after this time, with this status.
    Exits(Span, u8),
}

type Answers = Box<dyn FnMut(UserId, &str) -> Answer>;

type Lateness = Box<dyn FnMut() -> Span>;

/// A load of a test is over long before so many waits.
const MOST_WAITS: u64 = 1_000_000;

/// A system that answers each command of each user as its function says.
pub struct VirtualHost {
    now: Instant,
    serial: u64,
    calendar: BinaryHeap<Reverse<(Instant, u64, UserId, u8)>>,
    events: Vec<Option<Event>>,
    answers: Answers,
    pub log_in_time: Span,
    pub refused: Vec<UserId>,
    pub stop_at: Option<Instant>,
    pub most_under_way: usize,
    under_way: usize,
    pub keys: Vec<(Instant, UserId, String)>,
    pub interrupts: Vec<UserId>,
    /// Bytes that a line which never ends has printed when it is interrupted.
    pub bytes_before_interrupt: u64,
    pub hung_up: Vec<UserId>,
    /// Users whose log-in was begun, in order.
    pub begun: Vec<UserId>,
    /// Number of waits of the driver.
    waits: u64,
    /// Time from an answer until a wait returns it.
    pub answer_delay: Span,
    /// When a user's session dies, whatever the user does; at its first prompt, if that comes later.
    pub deaths: Vec<(Instant, UserId)>,
    /// A wait returns all events of this span together, as a live host does; zero: one event at a time.
    pub batch: Span,
    /// When each barrier is opened; one that is not here is always open.
    pub barriers: Vec<(Barrier, Instant)>,
    /// How late each wait returns, as on a host whose processors are busy; the events of that time come with it.
    pub lateness: Option<Lateness>,
    /// Time that the users' shell measures of each line.
    pub there_ns: Option<u64>,
    answers_interrupt: bool,
}

impl VirtualHost {
    pub fn new(answers: impl FnMut(UserId, &str) -> Answer + 'static) -> VirtualHost {
        VirtualHost {
            now: Instant(0),
            serial: 0,
            calendar: BinaryHeap::new(),
            events: Vec::new(),
            answers: Box::new(answers),
            log_in_time: Span::from_millis(10),
            refused: Vec::new(),
            stop_at: None,
            most_under_way: 0,
            under_way: 0,
            keys: Vec::new(),
            interrupts: Vec::new(),
            bytes_before_interrupt: 0,
            hung_up: Vec::new(),
            begun: Vec::new(),
            waits: 0,
            answer_delay: Span::ZERO,
            deaths: Vec::new(),
            batch: Span::ZERO,
            barriers: Vec::new(),
            lateness: None,
            there_ns: None,
            answers_interrupt: true,
        }
    }

    /// A host that answers every line after `span` with status 0.
    pub fn constant(span: Span) -> VirtualHost {
        VirtualHost::new(move |_, _| Answer::After(span, 0))
    }

    /// Lets `event` happen.
    pub fn happens(&mut self, at: Instant, event: Event) {
        self.at(at, event);
    }

    fn at(&mut self, at: Instant, event: Event) {
        self.calendar.push(Reverse((at, self.serial, 0, 0)));
        self.serial += 1;
        self.events.push(Some(event));
    }

    /// Moves time to the next event or to `until`, and adds the event.
    fn step(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        let next = self.calendar.peek().map(|Reverse((at, ..))| *at);
        let stop = self.stop_at.filter(|&stop| [until, next].into_iter().flatten().all(|at| stop <= at));
        if let Some(at) = stop {
            self.now = at;
            self.stop_at = None;
            return events.push(Event::Stop { at });
        }
        match (until, next) {
            (Some(until), Some(next)) if next > until => self.now = self.now.max(until),
            (Some(until), None) => self.now = self.now.max(until),
            (_, Some(next)) => {
                let Reverse((_, serial, ..)) = self.calendar.pop().expect("it was there");
                self.now = next;
                let event = self.events[serial as usize].take().expect("each event happens once");
                if matches!(event, Event::LoggedIn { .. } | Event::Refused { .. }) {
                    self.under_way -= 1;
                }
                events.push(event);
            }
            (None, None) => panic!("the driver waits for something that never happens"),
        }
    }
}

impl System for VirtualHost {
    fn now(&self) -> Instant {
        self.now
    }

    fn reach(&mut self, barrier: Barrier) -> Option<Instant> {
        let Some(&(_, at)) = self.barriers.iter().find(|(held, _)| *held == barrier) else { return Some(self.now) };
        let at = at.max(self.now);
        self.at(at, Event::Opened { barrier, at });
        None
    }

    fn log_in(&mut self, user: UserId) {
        self.begun.push(user);
        self.under_way += 1;
        self.most_under_way = self.most_under_way.max(self.under_way);
        let at = self.now + self.log_in_time;
        let event = match self.refused.contains(&user) {
            true => Event::Refused { user, at, reason: "no such user".into(), remedy: "" },
            false => Event::LoggedIn { user, at },
        };
        self.at(at, event);
        let deaths = self.deaths.iter().filter(|&&(_, dying)| dying == user).map(|&(death, _)| death.max(at));
        for at in deaths.collect::<Vec<_>>() {
            self.at(at, Event::Ended { user, at, reason: "ended by signal 9".into(), response: Response::default() });
        }
    }

    fn keys(&mut self, user: UserId, keys: &[u8], _: TypedForm) {
        self.keys.push((self.now, user, String::from_utf8_lossy(keys).into()));
    }

    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        self.keys.push((self.now, user, String::from_utf8_lossy(typed.keys).into()));
        let sent = self.now;
        match (self.answers)(user, typed.command) {
            Answer::After(span, status) => {
                let at = sent + span;
                let there_ns = self.there_ns;
                let response = Response { exit_status: Some(status), confirmed: true, there_ns, ..Response::default() };
                self.at(at + self.answer_delay, Event::Ready { user, at, response });
            }
            Answer::Silent(span, silence) => {
                let at = sent + span;
                self.at(at + silence, Event::Ready { user, at, response: Response::default() });
            }
            Answer::Settles(span, settle) => {
                let (at, settled) = (sent + span, Some(sent + span + settle));
                let response = Response { confirmed: true, settled, ..Response::default() };
                self.at(at + settle, Event::Ready { user, at, response });
            }
            Answer::Unseen(patience) => {
                let settled = Some(sent + patience);
                let response = Response { is_unseen: true, settled, ..Response::default() };
                self.at(sent + patience, Event::Ready { user, at: sent, response });
            }
            Answer::Never(answers) => self.answers_interrupt = answers,
            Answer::Exits(span, status) => {
                let at = sent + span;
                let response = Response { exit_status: Some(status), confirmed: true, ..Response::default() };
                self.at(at, Event::Ended { user, at, reason: format!("ended with status {status}"), response });
            }
            Answer::Ends(span) => {
                let at = sent + span;
                self.at(at, Event::Ended { user, at, reason: "ended by signal 9".into(), response: Response::default() });
            }
        }
        sent
    }

    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        self.keys(user, keys, TypedForm::Line);
        let (at, reason, response) = (self.now, "logged out".into(), Response::default());
        self.at(at, Event::Ended { user, at, reason, response });
        at
    }

    fn is_ready(&self, user: UserId) -> bool {
        let is_of_user = |event: &Event| matches!(event, Event::Ready { user: of, at, .. } if *of == user && *at <= self.now);
        self.events.iter().flatten().any(is_of_user)
    }

    fn interrupt(&mut self, user: UserId) -> Response {
        self.interrupts.push(user);
        if self.answers_interrupt {
            let at = self.now + Span::from_millis(1);
            let response = Response { exit_status: Some(130), confirmed: true, ..Response::default() };
            self.at(at, Event::Ready { user, at, response });
        }
        Response { first_output: Some(self.now), bytes_out: self.bytes_before_interrupt, ..Response::default() }
    }

    fn last_screen(&self, user: UserId) -> Option<String> {
        Some(format!("screen of {user}"))
    }

    fn hang_up(&mut self, user: UserId) {
        self.hung_up.push(user);
    }

    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        self.waits += 1;
        assert!(self.waits < MOST_WAITS, "the driver goes in a circle");
        self.step(until, events);
        let late = self.lateness.as_mut().map_or(Span::ZERO, |lateness| lateness());
        let batch = if events.is_empty() { Span::ZERO } else { self.batch };
        let end = self.now + batch.max(late);
        while self.now < end {
            self.step(Some(end), events);
        }
    }
}

/// A row of `interactions`, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub user: UserId,
    pub pass: u32,
    pub line: u32,
    pub command: String,
    pub planned: u64,
    pub sent: u64,
    pub ready: Option<u64>,
    pub there: Option<u64>,
    pub typing: u64,
    pub think: u64,
    pub bytes_out: u64,
    pub outcome: Outcome,
    pub phase: Phase,
}

/// All recorded rows.
#[derive(Default)]
pub struct Kept {
    pub rows: Vec<Row>,
    pub sessions: Vec<SessionRow>,
    pub lost: Vec<LostRow>,
    pub phases: Vec<(Phase, Instant)>,
    pub screens: Vec<ScreenRow>,
    pub reached: Vec<Barrier>,
}

impl Kept {
    pub fn of(&self, user: UserId) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.user == user).collect()
    }

    pub fn began(&self, phase: Phase) -> Option<Instant> {
        self.phases.iter().find(|(known, _)| *known == phase).map(|(_, at)| *at)
    }
}

impl Recorder for Kept {
    fn interaction(&mut self, row: &InteractionRow<'_>) {
        self.rows.push(Row {
            user: row.user,
            pass: row.pass,
            line: row.line,
            command: row.command.into(),
            planned: row.planned.0,
            sent: row.sent.0,
            ready: row.ready.map(|at| at.0),
            there: row.response_there_ns,
            typing: row.typing_ns,
            think: row.think_ns,
            bytes_out: row.bytes_out,
            outcome: row.outcome,
            phase: row.phase,
        });
    }
    fn screen(&mut self, row: &ScreenRow) {
        self.screens.push(row.clone());
    }
    fn session(&mut self, row: &SessionRow) {
        self.sessions.push(row.clone());
    }
    fn lost(&mut self, row: &LostRow) {
        self.lost.push(row.clone());
    }
    fn phase(&mut self, phase: Phase, at: Instant) {
        self.phases.push((phase, at));
    }
    fn reached(&mut self, barrier: Barrier) {
        self.reached.push(barrier);
    }
}

/// Keeps all rows, and has enough after a number of interactions.
pub struct Enough {
    pub kept: Kept,
    pub after: usize,
}

impl Recorder for Enough {
    fn interaction(&mut self, row: &InteractionRow<'_>) {
        self.kept.interaction(row);
    }
    fn screen(&mut self, row: &ScreenRow) {
        self.kept.screen(row);
    }
    fn session(&mut self, row: &SessionRow) {
        self.kept.session(row);
    }
    fn lost(&mut self, row: &LostRow) {
        self.kept.lost(row);
    }
    fn phase(&mut self, phase: Phase, at: Instant) {
        self.kept.phase(phase, at);
    }
    fn reached(&mut self, barrier: Barrier) {
        self.kept.reached(barrier);
    }
    fn enough(&self) -> bool {
        self.kept.rows.len() >= self.after
    }
}

/// A script with this head and these lines.
pub fn script(head: &str, lines: &str) -> Script {
    parse(&format!("name = \"test\"\nlogin = \"sh\"\n{head}\nlines = {lines}\n")).expect("the test's script is right")
}
