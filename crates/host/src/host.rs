//! This host as a system under test: every user's terminal under one event loop with absolute deadlines.
//!
//! One thread, one epoll, one timer. In a round, all output that has come is read and stamped first, and only then is the
//! usage of those who became ready read from the meter, so that the metering of one user is not in another's response.

use crate::cgroup::Groups;
use crate::kernel::{Bell, Epoll, Timer, monotonic_ns, read, write};
use crate::login::{self, Login};
use crate::session::{Session, Stage, Watch};
use crate::terminal::{Place, Program, Spawner};
use crate::usage::Meter;
use loadgo_core::deadlines::Deadlines;
use loadgo_core::ready::{Patterns, nonce};
use loadgo_core::script::{Script, Step, Until};
use loadgo_core::system::{Event, Response, System, Typed, UserId};
use loadgo_core::time::{Instant, Span};
use std::collections::HashMap;
use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

const INTERRUPT_KEY: &[u8] = b"\x03";
const TIMER: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;
/// How often sessions whose leader has died with the terminal still open are looked for.
const LOOK_FOR_THE_DEAD: Span = Span::from_millis(100);
/// How long a first process whose terminal is closed may take to end before it counts as having closed it itself.
const DYING: Span = Span::from_millis(20);
const READ_LENGTH: usize = 64 * 1024;

/// What a host system is made from.
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
    pid: libc::pid_t,
    alive: bool,
    /// What did not fit into the terminal yet.
    unsent: Vec<u8>,
}

/// This host.
pub struct Host {
    setting: Setting,
    patterns: Patterns,
    preparations: usize,
    environment: Vec<(String, String)>,
    program: Program,
    spawner: Spawner,
    groups: Option<Arc<Groups>>,
    meter: Meter,
    epoll: Epoll,
    timer: Timer,
    bell: Arc<Bell>,
    random: std::fs::File,
    seats: Vec<Option<Box<Seat>>>,
    by_pid: HashMap<libc::pid_t, UserId>,
    silences: Deadlines,
    next_look: Instant,
    pending: Vec<Event>,
    ready: Vec<(UserId, Instant, Option<u8>, bool)>,
    buffer: Box<[u8]>,
}

impl Host {
    /// A host that users of the setting's script can be logged in to.
    ///
    /// # Errors
    /// When the kernel refuses a descriptor or memory.
    pub fn new(setting: Setting, meter: Meter, groups: Option<Arc<Groups>>, bell: Arc<Bell>) -> io::Result<Host> {
        let epoll = Epoll::new()?;
        let timer = Timer::new()?;
        epoll.add(timer.fd(), TIMER)?;
        epoll.add(bell.fd(), BELL)?;
        let words = setting.login.words.iter().map(|word| c_string(word.as_bytes())).collect();
        let elsewhere = setting.login.is_elsewhere();
        Ok(Host {
            patterns: Patterns::of(untils(&setting.script)),
            preparations: if elsewhere { login::typed_files(&setting.script, &setting.run_id, 0).len() } else { 0 },
            environment: login::shared_environment(&setting.search_path, &setting.run_id, &setting.login.path),
            program: Program::new(c_string(setting.login.path.as_os_str().as_bytes()), words),
            spawner: Spawner::new()?,
            groups,
            meter,
            epoll,
            timer,
            bell,
            random: std::fs::File::open("/dev/urandom")?,
            seats: Vec::new(),
            by_pid: HashMap::new(),
            silences: Deadlines::new(),
            next_look: Instant::default(),
            pending: Vec::new(),
            ready: Vec::new(),
            buffer: vec![0; READ_LENGTH].into_boxed_slice(),
            setting,
        })
    }

    /// The meter, for what it has to say about itself.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn seat(&mut self, user: UserId) -> Option<&mut Seat> {
        self.seats.get_mut(user as usize)?.as_deref_mut()
    }

    fn home(&self, user: UserId) -> PathBuf {
        self.setting.homes.join(format!("user-{user}"))
    }

    fn start(&mut self, user: UserId) -> io::Result<()> {
        let home = self.home(user);
        login::lay_home(&self.setting.script, &home)?;
        let mut bits = [0; 8];
        self.random.read_exact(&mut bits)?;
        let nonce = nonce(u64::from_ne_bytes(bits));
        let environment = login::environment(&self.environment, &self.setting.script, user, &home, &nonce);
        let join = match &self.groups {
            Some(groups) => groups.add_user(user).map(|()| groups.join_paths(user))?,
            None => Vec::new(),
        };
        let directory = c_string(home.as_os_str().as_bytes());
        let place = Place { environment: &environment, directory: &directory, join: &join };
        let (master, pid) = self.spawner.spawn(&self.program, &place)?;
        self.epoll.add(master.as_fd(), u64::from(user))?;
        self.meter.began(user, pid as u32);
        let watch = Watch::of(&self.setting.script.until, &self.patterns);
        let session = Session::new(nonce, watch, self.now());
        if self.seats.len() <= user as usize {
            self.seats.resize_with(user as usize + 1, || None);
        }
        self.by_pid.insert(pid, user);
        self.seats[user as usize] = Some(Box::new(Seat { session, master: Some(master), pid, alive: true, unsent: Vec::new() }));
        self.watch_silence(user);
        Ok(())
    }

    /// Writes to a terminal what fits, and keeps the rest until there is room.
    fn put(&mut self, user: UserId, keys: &[u8]) {
        let Host { seats, epoll, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Option::as_deref_mut) else { return };
        let Some(master) = &seat.master else { return };
        let written = if seat.unsent.is_empty() { write(master.as_raw_fd(), keys).unwrap_or(0) } else { 0 };
        if written < keys.len() {
            seat.unsent.extend_from_slice(&keys[written..]);
            let _ = epoll.also_for_writing(master.as_fd(), u64::from(user), true);
        }
    }

    fn put_rest(&mut self, user: UserId) {
        let Host { seats, epoll, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Option::as_deref_mut) else { return };
        let Some(master) = &seat.master else { return };
        let written = write(master.as_raw_fd(), &seat.unsent).unwrap_or(0);
        seat.unsent.drain(..written);
        if seat.unsent.is_empty() {
            seat.unsent = Vec::new();
            let _ = epoll.also_for_writing(master.as_fd(), u64::from(user), false);
        }
    }

    fn watch_silence(&mut self, user: UserId) {
        match self.seat(user).and_then(|seat| seat.session.quiet_deadline()) {
            Some(at) => self.silences.set(user, at),
            None => self.silences.clear(user),
        }
    }

    // ---- what has come ----

    fn read_terminal(&mut self, user: UserId) {
        let origin_ns = self.setting.origin_ns;
        let Host { seats, buffer, patterns, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Option::as_deref_mut) else { return };
        let Some(master) = &seat.master else { return };
        match read(master.as_raw_fd(), buffer) {
            Ok(count) if count > 0 => {
                let now = Instant(monotonic_ns() - origin_ns);
                if let Some(status) = seat.session.feed(&buffer[..count], now, patterns) {
                    self.ready.push((user, now, status, true));
                }
                let needs_watch =
                    matches!(seat.session.stage, Stage::LogIn | Stage::Preparing(_)) || seat.session.ends_with_silence();
                if needs_watch {
                    self.watch_silence(user);
                }
            }
            Err(reason) if matches!(reason.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            _ => self.closed(user),
        }
    }

    /// Nobody holds the other side of the terminal any more: the session's first process is about to end, or goes on without.
    fn closed(&mut self, user: UserId) {
        if let Some(how) = self.reap(user) {
            return self.end(user, &how);
        }
        let until = self.now() + DYING;
        if let Some(seat) = self.seat(user) {
            seat.master = None;
            self.silences.set(user, until);
        }
    }

    /// Those who became ready in this round: the next preparation, the end of the log-in, or the answer to a line.
    fn settle(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        for (user, at, status, confirmed) in ready.drain(..) {
            match self.seat(user).map(|seat| seat.session.stage) {
                Some(Stage::Line) => self.answer(user, at, status, confirmed),
                Some(Stage::LogIn) => self.prepare(user, at, self.preparations as u16),
                Some(Stage::Preparing(left)) => self.prepare(user, at, left),
                _ => {}
            }
        }
        self.ready = ready;
    }

    fn answer(&mut self, user: UserId, at: Instant, status: Option<u8>, confirmed: bool) {
        let usage = self.meter.interaction(user);
        let seat = self.seat(user).expect("it has just answered");
        let response = Response { usage, ..seat.session.answer(status, confirmed) };
        self.silences.clear(user);
        self.pending.push(Event::Ready { user, at, response });
    }

    /// A prompt is there: types the next of the lines that prepare the session, or says that the user is in.
    fn prepare(&mut self, user: UserId, at: Instant, left: u16) {
        if left > 0 {
            let lines = login::typed_files(&self.setting.script, &self.setting.run_id, user);
            let line = lines[lines.len() - left as usize].clone();
            return self.type_preparation(user, &line, left - 1);
        }
        // What the log-in used is nobody's interaction.
        self.meter.interaction(user);
        self.seat(user).expect("it has just answered").session.answer(None, true);
        self.silences.clear(user);
        self.pending.push(Event::LoggedIn { user, at });
    }

    fn type_preparation(&mut self, user: UserId, line: &str, left: u16) {
        let watch = Watch::of(&self.setting.script.until, &self.patterns);
        let Some(seat) = self.seat(user) else { return };
        seat.session.send(line.as_bytes(), watch, Stage::Preparing(left));
        self.put(user, line.as_bytes());
        self.watch_silence(user);
    }

    /// A session has been silent for as long as its stage allows.
    fn silent(&mut self, user: UserId, now: Instant) {
        let preparations = self.preparations as u16;
        let Some(seat) = self.seat(user) else { return };
        if seat.master.is_none() && seat.session.stage != Stage::Over {
            return self.end(user, "the session closed its terminal");
        }
        if seat.session.ends_with_silence() {
            self.ready.push((user, now, None, false));
            return;
        }
        match seat.session.stage {
            Stage::LogIn if seat.session.quiet_deadline().is_some_and(|at| at <= now) => {
                let line = login::prompt_line(seat.session.nonce());
                self.type_preparation(user, &line, preparations);
            }
            Stage::Preparing(_) => {
                let last_words = seat.session.last_words();
                self.end(user, &format!("it gave no prompt within a minute; it last printed {last_words:?}"));
            }
            _ => self.watch_silence(user),
        }
    }

    /// The session is over: says so, kills what is left of it, and lets its terminal go.
    fn end(&mut self, user: UserId, reason: &str) {
        let at = self.now();
        let status = self.reap(user).unwrap_or_else(|| reason.to_string());
        let usage = self.meter.interaction(user);
        let Some(seat) = self.seat(user) else { return };
        let stage = seat.session.stage;
        if stage == Stage::Over {
            return;
        }
        let words = seat.session.last_words();
        let response = Response { usage, ..seat.session.answer(None, true) };
        self.let_go(user);
        self.pending.push(match stage {
            Stage::LogIn | Stage::Preparing(_) if words.is_empty() => Event::Refused { user, at, reason: status },
            Stage::LogIn | Stage::Preparing(_) => Event::Refused { user, at, reason: format!("{status}; it printed {words:?}") },
            _ => Event::Ended { user, at, reason: status, response },
        });
    }

    /// The leader's end in words, if it has ended.
    fn reap(&mut self, user: UserId) -> Option<String> {
        let seat = self.seat(user).filter(|seat| seat.alive)?;
        let mut status = 0;
        // SAFETY: the process is a child of ours that was not waited for; `status` is valid.
        if unsafe { libc::waitpid(seat.pid, &mut status, libc::WNOHANG) } != seat.pid {
            return None;
        }
        seat.alive = false;
        let pid = seat.pid;
        self.by_pid.remove(&pid);
        Some(if libc::WIFSIGNALED(status) {
            format!("the session's first process was ended by signal {}", libc::WTERMSIG(status))
        } else {
            format!("the session's first process ended with status {}", libc::WEXITSTATUS(status))
        })
    }

    /// Hangs up the terminal and kills what the user has left running.
    fn let_go(&mut self, user: UserId) {
        self.silences.clear(user);
        self.meter.ended(user);
        if let Some(groups) = &self.groups {
            // Where this fails the group is removed, with all in it, at the end of the run.
            let _ = groups.kill(user);
        }
        let Some(seat) = self.seat(user) else { return };
        seat.session.stage = Stage::Over;
        seat.unsent = Vec::new();
        // Closing the last descriptor takes it out of the epoll and hangs the terminal up.
        seat.master = None;
        if seat.alive {
            // SAFETY: the leader was not waited for, so its id, and that of its process group, is still its own.
            unsafe {
                libc::kill(-seat.pid, libc::SIGHUP);
                libc::kill(-seat.pid, libc::SIGCONT);
                libc::kill(-seat.pid, libc::SIGKILL);
            }
        }
    }

    /// Leaders that died while something else keeps their terminal open: no read on the terminal tells of them.
    fn look_for_the_dead(&mut self, now: Instant) {
        self.next_look = now + LOOK_FOR_THE_DEAD;
        if !a_child_has_ended() {
            return;
        }
        let users: Vec<UserId> = self.by_pid.values().copied().collect();
        for user in users {
            let Some(how) = self.reap(user) else { continue };
            if self.seat(user).is_some_and(|seat| seat.session.stage != Stage::Over) {
                self.drain(user);
                self.settle();
                self.end(user, &how);
            }
        }
    }

    /// Reads what a dead session has still printed.
    fn drain(&mut self, user: UserId) {
        for _ in 0..64 {
            let Some(master) = self.seat(user).and_then(|seat| seat.master.as_ref()) else { return };
            let fd = master.as_raw_fd();
            let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one valid entry.
            if unsafe { libc::poll(&mut poll, 1, 0) } <= 0 || poll.revents & libc::POLLIN == 0 {
                return;
            }
            self.read_terminal(user);
        }
    }

    /// Ends whatever sessions are left, and waits for their first processes.
    pub fn finish(&mut self) {
        let users: Vec<UserId> = (0..self.seats.len() as UserId).filter(|&user| self.seat(user).is_some()).collect();
        for &user in &users {
            if self.seat(user).is_some_and(|seat| seat.session.stage != Stage::Over) {
                self.let_go(user);
            }
        }
        for user in users {
            let Some(seat) = self.seat(user).filter(|seat| seat.alive) else { continue };
            // SAFETY: a child of ours that was not waited for and was sent SIGKILL.
            unsafe { libc::waitpid(seat.pid, std::ptr::null_mut(), 0) };
            seat.alive = false;
        }
        self.by_pid.clear();
    }

    fn next_deadline(&self, until: Option<Instant>) -> Instant {
        let silence = self.silences.first().map(|(at, _)| at);
        [until, silence].into_iter().flatten().fold(self.next_look, Instant::min)
    }

    /// Waits once, and reads all that has come.
    fn round(&mut self, until: Option<Instant>) {
        let deadline = self.next_deadline(until);
        let now = self.now();
        // A moment at least: an absolute time in the past would not arm the timer again.
        self.timer.set(self.setting.origin_ns + deadline.max(now + Span(1)).0);
        let mut came: [(u64, bool, bool); 256] = [(0, false, false); 256];
        let mut count = 0;
        for event in self.epoll.wait() {
            came[count] = event;
            count += 1;
        }
        for &(key, readable, writable) in &came[..count] {
            match key {
                TIMER => self.timer.acknowledge(),
                BELL if self.bell.heard() => self.pending.push(Event::Stop { at: self.now() }),
                BELL => {}
                user => {
                    if writable {
                        self.put_rest(user as UserId);
                    }
                    if readable {
                        self.read_terminal(user as UserId);
                    }
                }
            }
        }
    }
}

impl System for Host {
    fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.setting.origin_ns)
    }

    fn log_in(&mut self, user: UserId) {
        if let Err(reason) = self.start(user) {
            let at = self.now();
            self.pending.push(Event::Refused { user, at, reason: reason.to_string() });
        }
    }

    fn keys(&mut self, user: UserId, keys: &[u8]) {
        let Some(seat) = self.seat(user) else { return };
        seat.session.type_keys(keys);
        self.put(user, keys);
    }

    fn send(&mut self, user: UserId, typed: Typed<'_>) -> Instant {
        let watch = Watch::of(typed.until, &self.patterns);
        self.meter.sent(user);
        let sent = self.now();
        if let Some(seat) = self.seat(user) {
            seat.session.send(typed.keys, watch, Stage::Line);
            seat.session.last_output = sent;
            if seat.session.ends_with_silence() {
                self.watch_silence(user);
            }
            self.put(user, typed.keys);
        }
        sent
    }

    fn interrupt(&mut self, user: UserId) {
        if let Some(seat) = self.seat(user) {
            seat.unsent.clear();
            seat.session.wait_on();
        }
        self.put(user, INTERRUPT_KEY);
    }

    fn hang_up(&mut self, user: UserId) {
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

/// Whether any child of this process has ended and was not waited for; none is taken away from its owner.
fn a_child_has_ended() -> bool {
    // SAFETY: a siginfo_t is plain data, and the kernel fills it; WNOWAIT leaves the child to be waited for.
    unsafe {
        let mut information = std::mem::zeroed::<libc::siginfo_t>();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_ALL, 0, &mut information, flags) == 0 && information.si_pid() != 0
    }
}

fn c_string(bytes: &[u8]) -> CString {
    let until_null = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    CString::new(until_null).expect("the null bytes are cut off")
}

/// Every way in which a line of the script may end.
fn untils(script: &Script) -> Vec<&Until> {
    let mut found = vec![&script.until];
    let mut rest: Vec<&Step> = script.steps.iter().collect();
    while let Some(step) = rest.pop() {
        match step {
            Step::Line(line) => found.extend(line.until.as_ref()),
            Step::Choose(alternatives) => rest.extend(alternatives.iter().flat_map(|(_, steps)| steps)),
            Step::Repeat(_, steps) => rest.extend(steps),
        }
    }
    found
}
