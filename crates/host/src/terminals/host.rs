//! This host as a system under test: one event loop with absolute deadlines serves the terminals of all users.
//!
//! It is one thread with one epoll and one timer. Each round first reads output that has come, with its instants. Only then it
//! reads from the meter the usage of some of the users who became ready; the others' turn comes in the next rounds. So metering
//! one user lengthens neither another's response, nor, where many are ready at once, another's lateness.

mod end;
mod ground;
mod log_in;
mod ordered;
mod output;
mod seat;
mod settled;
#[cfg(test)]
mod tests;

use self::seat::{Chair, Reach, Seat};
use crate::groups::Groups;
use crate::terminals::orders::GivenUp;
use crate::terminals::session::{Stage, Watch};
use crate::terminals::setting::Setting;
use crate::terminals::starting::Starters;
use crate::terminals::typed_files::Preparations;
use crate::usage::meter::UsageMeter;
use loadgo_core::deadlines::Deadlines;
use loadgo_core::ready::ReadyPatterns;
use loadgo_core::script::TypedForm;
use loadgo_core::stop::StopRequest;
use loadgo_core::system::{Barrier, Event, ProcessorClock, Response, SentLine, System, Usage, UserId};
use loadgo_core::time::{Instant, Span};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::events::{Bell, Epoll, ReadyDescriptor, Timer};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::thread::available_parallelism;

const INTERRUPT_KEY: &[u8] = b"\x03";
const TIMER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const STARTED: u64 = u64::MAX - 2;
const ORDERED: u64 = u64::MAX - 3;
/// Threads that start sessions: one waits for a program to execute while the other prepares the next.
const STARTERS: usize = 2;
/// Line number that stands for the log-out in the meter.
const LOG_OUT_LINE_ID: u32 = 0;
/// Most users whose usage is read in a round, at some 25 us each: as long may a line that is due have to wait.
const MOST_SETTLED_USERS: usize = 16;
/// Most output that one reading takes from a terminal.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Time from the end of a user's last line to the log-out, where an agent reads the sessions' accounts. The agent reads them every
/// 50 ms, and the instants of a reading are known here within a bound that may be as long.
pub const LOG_OUT_PAUSE: Span = Span::from_millis(200);

/// A user whose system is ready.
struct ReadyUser {
    user: UserId,
    at: Instant,
    status: Option<u8>,
    is_confirmed: bool,
    /// When it was known that the screen has settled, if it did.
    settled: Option<Instant>,
}

/// The end of a line or of keys, and the sign of its answer.
struct LineEnd<'k> {
    keys: &'k [u8],
    form: TypedForm,
    watch: Watch,
}

/// This host.
pub struct Host {
    setting: Setting,
    patterns: ReadyPatterns,
    /// The lines that prepare each session, by its destination.
    preparations: Vec<Preparations>,
    starters: Starters,
    /// Users whose session was given up before it was started.
    unwanted: HashSet<UserId>,
    /// Users whose terminal had output before they had a seat.
    early: HashSet<UserId>,
    meter: UsageMeter,
    epoll: Epoll,
    timer: Timer,
    /// The request to stop rings it.
    stop_bell: Arc<Bell>,
    started: Arc<Bell>,
    /// An order rings it.
    order_bell: Arc<Bell>,
    /// The barriers that are to be opened, with their instants.
    openings: Vec<(Barrier, Instant)>,
    /// The latest instant at which a driver that was not stopped is back from its wait, or asks for the next.
    awake_until: Instant,
    /// Whether this driver has not run for longer than its controller allows. Then it types no more.
    has_stood_still: bool,
    /// All users who were given up so far.
    given_up: Vec<GivenUp>,
    seats: Vec<Chair>,
    /// Users whose session is over and whose first process has ended. Their seats go when the driver has taken their events.
    over: Vec<UserId>,
    by_pid: HashMap<i32, UserId>,
    silences: Deadlines,
    /// Users who log out after a pause.
    leaving: Deadlines,
    next_look: Instant,
    /// Users whose terminals may hold more output, which are read first in the next round.
    unread: Vec<UserId>,
    pending: Vec<Event>,
    /// Users who became ready, and whose usage was not read yet.
    ready: VecDeque<ReadyUser>,
    buffer: Box<[u8]>,
}

impl Host {
    /// A host that users of the setting's script can be logged in to; `stop` ends the run.
    ///
    /// # Errors
    /// When the kernel refuses a descriptor or memory.
    pub fn new(setting: Setting, meter: UsageMeter, groups: Option<Arc<Groups>>, stop: &StopRequest) -> io::Result<Host> {
        let (epoll, timer, started) = (Epoll::new()?, Timer::new()?, Arc::new(Bell::new()?));
        let stop_bell = Arc::new(Bell::new()?);
        let bell = Arc::clone(&stop_bell);
        stop.wake_by(move || bell.ring());
        epoll.add_level_triggered(timer.fd(), TIMER)?;
        epoll.add_level_triggered(stop_bell.fd(), STOP)?;
        epoll.add_level_triggered(started.fd(), STARTED)?;
        let order_bell = Arc::new(Bell::new()?);
        let bell = Arc::clone(&order_bell);
        setting.orders.wake_by(move || bell.ring());
        epoll.add_level_triggered(order_bell.fd(), ORDERED)?;
        Ok(Host {
            patterns: ReadyPatterns::of(setting.ready_rules()),
            preparations: setting.preparations(),
            starters: Starters::begin(setting.ground(groups, &meter, &epoll)?, STARTERS, &started)?,
            unwanted: HashSet::new(),
            early: HashSet::new(),
            meter,
            epoll,
            timer,
            stop_bell,
            started,
            order_bell,
            openings: Vec::new(),
            awake_until: Instant(u64::MAX),
            has_stood_still: false,
            given_up: Vec::new(),
            seats: Vec::new(),
            over: Vec::new(),
            by_pid: HashMap::new(),
            silences: Deadlines::new(),
            leaving: Deadlines::new(),
            next_look: Instant::default(),
            unread: Vec::new(),
            pending: Vec::new(),
            ready: VecDeque::new(),
            buffer: vec![0; READ_BUFFER_BYTES].into_boxed_slice(),
            setting,
        })
    }

    /// The usage of `user` since the last call; nothing is known of sessions out of the meter's reach.
    fn usage(&mut self, user: UserId) -> Usage {
        if self.is_metered(user) { self.meter.interaction(user) } else { Usage::default() }
    }

    /// The lines that prepare the session of `user`.
    fn preparations_of(&self, user: UserId) -> &Preparations {
        &self.preparations[self.setting.destinations.index_of(user)]
    }

    fn is_metered(&self, user: UserId) -> bool {
        self.seats.get(user as usize).and_then(Chair::seat).is_some_and(|seat| seat.reach == Reach::Here)
    }

    /// Ends the typing in the user's account, so that the line which is about to be sent is charged with its own usage only.
    ///
    /// Lines that are sent at once need no reading: nothing is typed between the prompt and the sending.
    fn read_typing_usage(&mut self, user: UserId) {
        if self.setting.script.typing_chars_per_second.is_none() || !self.is_metered(user) {
            return;
        }
        let usage = self.meter.typing(user);
        if let Some(seat) = self.seat(user) {
            **seat.typing_usage.get_or_insert_default() = usage;
        }
    }

    /// The meter, for messages about itself.
    pub fn meter(&mut self) -> &mut UsageMeter {
        &mut self.meter
    }

    fn seat(&mut self, user: UserId) -> Option<&mut Seat> {
        self.seats.get_mut(user as usize)?.seat_mut()
    }

    fn next_deadline(&self, until: Option<Instant>) -> Instant {
        let first = |deadlines: &Deadlines| deadlines.first().map(|(at, _)| at);
        let opening = self.openings.iter().map(|(_, at)| *at).min();
        [until, first(&self.silences), first(&self.leaving), opening].into_iter().flatten().fold(self.next_look, Instant::min)
    }

    /// Waits once, and reads the output that has come, first from users whose last reading left some.
    fn round(&mut self, until: Option<Instant>) {
        let unread = std::mem::take(&mut self.unread);
        let came = if unread.is_empty() && self.ready.is_empty() {
            let (deadline, now) = (self.next_deadline(until), self.now());
            self.is_awake_until(deadline.max(now));
            // At least 1 ns from now, because an absolute time in the past would not arm the timer.
            self.timer.set(self.setting.origin_ns + deadline.max(now + Span(1)).0);
            self.epoll.wait()
        } else {
            self.epoll.poll()
        };
        for user in unread {
            self.read_terminal(user);
        }
        for index in 0..came {
            let ReadyDescriptor { key, hung_up, writable } = self.epoll.ready_descriptor(index);
            match key {
                TIMER => self.timer.acknowledge(),
                STOP if self.stop_bell.take_ring() => self.pending.push(Event::Stop { at: self.now() }),
                STARTED if self.started.take_ring() => self.take_from_starters(),
                ORDERED if self.order_bell.take_ring() => self.follow_orders(),
                STOP | STARTED | ORDERED => {}
                user => self.serve(user as UserId, hung_up, writable),
            }
        }
    }

    fn type_log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        self.meter.sent(user, LOG_OUT_LINE_ID);
        let end = LineEnd { keys, form: TypedForm::Line, watch: Watch::of(&self.setting.script.until, &self.patterns) };
        self.type_end(user, end)
    }

    /// Types the end of a line or of keys; returns the time of typing.
    fn type_end(&mut self, user: UserId, end: LineEnd<'_>) -> Instant {
        let sent = self.now();
        if let Some(seat) = self.seat(user) {
            let keys = seat.session.as_typed(end.keys, end.form);
            seat.session.send_as(end.form, &keys, end.watch, Stage::Line);
            seat.session.last_output = sent;
            seat.session.begin_screen(sent);
            if seat.session.ends_with_silence() || seat.session.awaits_screen() {
                self.watch_silence(user);
            }
            self.put(user, &keys);
        }
        sent
    }

    fn serve(&mut self, user: UserId, hung_up: bool, writable: bool) {
        if self.seat(user).is_none() {
            if !matches!(self.seats.get(user as usize), Some(Chair::Left)) {
                self.early.insert(user); // an arrival is told once
            }
            return;
        }
        if writable {
            self.put_rest(user);
        }
        self.read_terminal(user);
        // The kernel reports the end of a terminal once. Earlier output must be read first.
        if hung_up && self.seat(user).is_some_and(|seat| seat.master.is_some()) {
            self.unread.push(user);
        }
    }
}

impl System for Host {
    fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.setting.origin_ns)
    }

    fn reach(&mut self, _barrier: Barrier) -> Option<Instant> {
        self.setting.controller.is_none().then(|| self.now())
    }

    fn log_in(&mut self, user: UserId) {
        match self.reason_to_give_up(user) {
            Some(reason) => self.pending.push(Event::Refused { user, at: self.now(), reason, remedy: "" }),
            None => self.starters.start(user),
        }
    }

    fn next_line(&mut self, user: UserId, line: u32) {
        if let Some(news) = &self.setting.destinations.of(user).next_lines {
            news.tell(user, line);
        }
    }

    fn keys(&mut self, user: UserId, keys: &[u8], form: TypedForm) {
        let Some(seat) = self.seat(user) else { return };
        let keys = seat.session.as_typed(keys, form);
        seat.session.type_keys(&keys, form);
        self.put(user, &keys);
    }

    fn processor_clock(&self) -> Option<ProcessorClock> {
        let processors = available_parallelism().map_or(1, |count| count.get() as u32);
        Some(ProcessorClock { processors, step_ns: self.meter.sources().cpu_resolution_ns })
    }

    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        self.read_typing_usage(user);
        self.meter.sent(user, typed.line);
        let SentLine { keys, form, has_more, until, .. } = typed;
        let watch = Watch::of(until, &self.patterns);
        let watch = if has_more { watch.without_promise() } else { watch };
        self.type_end(user, LineEnd { keys, form, watch })
    }

    fn typing_usage(&self, user: UserId) -> Usage {
        let usage = self.seats.get(user as usize).and_then(Chair::seat).and_then(|seat| seat.typing_usage.as_deref());
        usage.copied().unwrap_or_default()
    }

    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        if self.setting.destinations.of(user).announced_in.is_none() {
            return self.type_log_out(user, keys);
        }
        self.next_line(user, LOG_OUT_LINE_ID);
        let due = self.now() + LOG_OUT_PAUSE;
        if let Some(seat) = self.seat(user) {
            seat.log_out_keys = keys.into();
        }
        self.leaving.set(user, due);
        due
    }

    fn is_ready(&self, user: UserId) -> bool {
        self.seats.get(user as usize).and_then(Chair::seat).is_some_and(|seat| seat.is_in_turn)
    }

    fn interrupt(&mut self, user: UserId) -> Response {
        let now = self.now();
        let so_far = self.seat(user).map(|seat| {
            seat.unsent.clear();
            seat.session.wait_on(now)
        });
        if self.seat(user).is_some_and(|seat| seat.session.awaits_screen()) {
            self.watch_silence(user);
        }
        self.put(user, INTERRUPT_KEY);
        so_far.unwrap_or_default()
    }

    fn last_screen(&self, user: UserId) -> Option<String> {
        Some(self.seats.get(user as usize)?.seat()?.session.last_screen())
    }

    fn hang_up(&mut self, user: UserId) {
        if self.seat(user).is_none() {
            self.unwanted.insert(user);
        }
        self.let_go(user);
    }

    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        self.check_standstill();
        if self.pending.is_empty() {
            self.clear_seats();
            self.round(until);
            self.check_standstill();
            let now = self.now();
            self.open_barriers(now);
            if self.silences.first().is_some_and(|(at, _)| at <= now) {
                self.settle_all(); // a user who is ready is not silent
            }
            while let Some(user) = self.silences.pop_due(now) {
                self.silent(user, now);
            }
            while let Some(user) = self.leaving.pop_due(now) {
                let keys = self.seat(user).map_or_else(Box::default, |seat| std::mem::take(&mut seat.log_out_keys));
                self.type_log_out(user, &keys);
            }
            if now >= self.next_look {
                self.look_for_the_dead(now);
            }
            self.settle(MOST_SETTLED_USERS);
        }
        events.append(&mut self.pending);
    }
}
