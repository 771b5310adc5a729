//! Threads that start sessions and clean up after them, so that the driver's thread need not wait for either.
//!
//! Each thread takes the next order. For a new session, it makes the user's home and control group, and starts the log-in command
//! on a terminal. It adds the terminal to the event loop and opens the user's account. For a session that has ended, it kills the
//! processes left in the group, and closes the terminal.

#[cfg(test)]
mod tests;

use crate::groups::Groups;
use crate::groups::accounts::{AccountOpener, OpenedAccount};
use crate::terminals::destinations::Destinations;
use crate::terminals::farewells::Farewells;
use crate::terminals::foreground::{self, ForegroundState};
use crate::terminals::login::{self, Login};
use crate::terminals::place::Place;
use crate::terminals::session::by_screen::LookedAt;
use loadgo_core::ready::{Nonce, nonce};
use loadgo_core::script::Script;
use loadgo_core::system::UserId;
use loadgo_sys::child;
use loadgo_sys::events::{Bell, EpollAdder, Semaphore};
use loadgo_sys::spawn::{LaunchSetup, PreparedProgram, Spawner};
use rustix::process::Signal;
use std::collections::VecDeque;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};

/// The settings with which all sessions are started.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The script, for its files and environment.
    pub script: Arc<Script>,
    /// The log-in commands.
    pub destinations: Destinations,
    /// The environment that all sessions share.
    pub environment: Vec<(String, String)>,
    /// The directory under which each user gets a home.
    pub homes: PathBuf,
    /// The groups that users join.
    pub groups: Option<Arc<Groups>>,
    /// Opens the users' accounts.
    pub accounts: AccountOpener,
    /// The event loop that waits for the terminals.
    pub terminals: EpollAdder,
    /// The sessions that have files to remove, if they have.
    pub farewells: Option<Farewells>,
}

/// A session that has been started, or why it could not be.
#[derive(Debug)]
pub(crate) struct Started {
    /// The session's user.
    pub user: UserId,
    /// The nonce of the session's marks.
    pub nonce: Nonce,
    /// The session, or why there is none.
    pub session: io::Result<StartedSession>,
}

/// A session that has been started; the event loop waits for its terminal already.
#[derive(Debug)]
pub(crate) struct StartedSession {
    /// The terminal's master side.
    pub master: OwnedFd,
    /// The session's first process.
    pub pid: i32,
    /// The user's account.
    pub account: OpenedAccount,
    /// The refusal if the event loop cannot wait for the terminal.
    pub added: io::Result<()>,
}

/// A shell on this host that a session elsewhere has led to, and its user's account.
#[derive(Debug)]
pub(crate) struct FollowedShell {
    pub pid: u32,
    pub account: OpenedAccount,
}

/// Finished work of the starters.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    pub started: Vec<Started>,
    /// The users whose shell was looked for, with the shell if it is on this host.
    pub followed: Vec<(UserId, Option<FollowedShell>)>,
    /// The users whose foreground was looked at, with what it does.
    pub looked: Vec<(UserId, LookedAt, ForegroundState)>,
}

/// A look at the program in the foreground of a user's terminal.
#[derive(Debug)]
pub(crate) struct ForegroundLook {
    pub user: UserId,
    /// The keys and the change that the look is about.
    pub at: LookedAt,
    /// The session's first process.
    pub leader: u32,
    /// The process group in the foreground.
    pub group: u32,
}

/// Work that the driver's thread hands to the starters.
#[derive(Debug)]
enum Order {
    /// Start a session of the user.
    Start(UserId),
    /// Look for the shell of the user on this host, at the place that it names, and move it into the user's control group. `client`
    /// is the process that logged it in.
    Follow { user: UserId, place: Place, client: i32 },
    /// Look at the program in the foreground of a terminal.
    Look(ForegroundLook),
    /// Kill the processes in the user's control group.
    Kill(UserId),
    /// Hang up a terminal by closing its last descriptor.
    HangUp(OwnedFd),
}

/// The starter threads. Dropping this waits until they have finished the orders that they have begun.
///
/// The driver's thread tries the locks and never waits for them. A starter holds a lock only to take an order or to hand over a
/// session. It rings the bell after that, and the driver's thread tries again.
#[derive(Debug)]
pub(crate) struct Starters {
    ground: Arc<Ground>,
    shared: Arc<Shared>,
    /// Orders that were not handed over yet.
    kept: Vec<Order>,
    threads: Vec<JoinHandle<()>>,
}

/// State that the starters share with the driver's thread.
#[derive(Debug)]
struct Shared {
    orders: Mutex<Orders>,
    /// A semaphore that counts the waiting orders.
    to_do: Semaphore,
    finished: Mutex<Finished>,
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct Orders {
    waiting: VecDeque<Order>,
    /// Whether no more orders will come.
    closed: bool,
}

impl Starters {
    /// Starts `count` threads, which ring `bell` whenever they have finished an order. Sessions may use the processors that the
    /// calling thread may use now; the threads themselves may use all processors.
    ///
    /// # Errors
    /// The kernel refuses memory, a descriptor or a thread.
    pub fn begin(ground: Ground, count: usize, bell: &Arc<Bell>) -> io::Result<Starters> {
        let shared =
            Shared { orders: Mutex::default(), to_do: Semaphore::new()?, finished: Mutex::default(), bell: Arc::clone(bell) };
        let (ground, shared) = (Arc::new(ground), Arc::new(shared));
        let mut starters = Starters { ground, shared, kept: Vec::new(), threads: Vec::new() };
        for _ in 0..count {
            let starter = Starter {
                ground: Arc::clone(&starters.ground),
                programs: starters.ground.destinations.iter().map(|destination| program(&destination.login)).collect(),
                spawner: Spawner::new()?,
                random: File::open("/dev/urandom")?,
                shared: Arc::clone(&starters.shared),
            };
            let thread = thread::Builder::new().name("loadgo-starter".into()).spawn(move || starter.work())?;
            starters.threads.push(thread);
        }
        Ok(starters)
    }

    /// Asks for a session of `user`.
    pub fn start(&mut self, user: UserId) {
        self.order(Order::Start(user));
    }

    /// Orders a starter to look for the shell of `user`, which `client` has logged in, at the place that it names.
    pub fn follow(&mut self, user: UserId, place: Place, client: i32) {
        self.order(Order::Follow { user, place, client });
    }

    /// Orders a starter to look at the program in the foreground of a terminal.
    pub fn look(&mut self, look: ForegroundLook) {
        self.order(Order::Look(look));
    }

    /// Orders a starter to kill the processes of `user`. The kernel may make the caller wait for other changes of control groups.
    pub fn kill(&mut self, user: UserId) {
        if self.ground.groups.is_some() {
            self.order(Order::Kill(user));
        }
    }

    /// Orders a starter to close a terminal. The kernel makes the caller wait until its own threads have delivered pending data.
    pub fn hang_up(&mut self, terminal: OwnedFd) {
        self.order(Order::HangUp(terminal));
    }

    /// Hands `order` to the starters. After [`Starters::finish`], this thread carries it out itself, since it may then wait.
    fn order(&mut self, order: Order) {
        if self.threads.is_empty() {
            return self.ground.clear_up(order);
        }
        self.kept.push(order);
        self.hand_over();
    }

    /// Takes the work finished since the last call, if its lock is free.
    pub fn take(&mut self) -> Finished {
        self.hand_over();
        match self.shared.finished.try_lock() {
            Ok(mut finished) => std::mem::take(&mut finished),
            Err(TryLockError::Poisoned(finished)) => std::mem::take(&mut finished.into_inner()),
            Err(TryLockError::WouldBlock) => Finished::default(),
        }
    }

    /// Gives the orders to the starters, or keeps them until the bell rings.
    fn hand_over(&mut self) {
        let mut orders = match self.shared.orders.try_lock() {
            Ok(orders) => orders,
            Err(TryLockError::Poisoned(orders)) => orders.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let count = self.kept.len() as u64;
        orders.waiting.extend(self.kept.drain(..));
        drop(orders);
        if count > 0 {
            self.shared.to_do.add(count);
        }
    }

    /// Ends the threads, and waits for them. Log-ins that no thread has begun are dropped.
    pub fn finish(&mut self) -> Vec<Started> {
        self.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.take().started
    }

    fn close(&mut self) {
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.waiting.extend(self.kept.drain(..));
        orders.waiting.retain(|order| !matches!(order, Order::Start(_)));
        orders.closed = true;
        // One more for each thread: a thread that wakes and finds no order ends.
        self.shared.to_do.add((orders.waiting.len() + self.threads.len()) as u64);
    }
}

impl Ground {
    /// Carries out an order that clears up; sessions are no longer started.
    fn clear_up(&self, order: Order) {
        match (order, &self.groups) {
            (Order::Kill(user), Some(groups)) => {
                if let Some(farewells) = &self.farewells {
                    farewells.wait(groups, user);
                }
                // Where this fails the group is removed, with all in it, at the end of the run.
                drop(groups.kill(user));
            }
            (Order::HangUp(terminal), _) => drop(terminal),
            (Order::Start(_) | Order::Follow { .. } | Order::Look(_) | Order::Kill(_), _) => {}
        }
    }

    /// The shell of `user` if it is on this host and can be metered apart from the command that logged it in.
    fn follow(&self, user: UserId, place: &Place, client: i32) -> Option<FollowedShell> {
        let pid = place.pid_here(client)?;
        if let Some(groups) = &self.groups {
            groups.follow(user, pid).ok()?;
        }
        Some(FollowedShell { pid, account: self.accounts.open(user) })
    }
}

impl Drop for Starters {
    fn drop(&mut self) {
        for Started { session, .. } in self.finish() {
            // No event loop will serve this session: its terminal is closed, and its process is killed and reaped.
            if let Ok(session) = session {
                child::signal_group(session.pid, Signal::KILL);
                child::wait(session.pid);
            }
        }
    }
}

struct Starter {
    ground: Arc<Ground>,
    programs: Vec<PreparedProgram>,
    spawner: Spawner,
    random: File,
    shared: Arc<Shared>,
}

impl Starter {
    fn work(mut self) {
        loadgo_sys::scheduling::use_all_processors();
        while let Some(order) = self.next() {
            match order {
                None => {}
                Some(Order::Start(user)) => {
                    let nonce = self.draw_nonce();
                    let session = nonce.as_ref().map_err(copy_of).and_then(|nonce| self.start(user, nonce));
                    let done = Started { user, nonce: nonce.unwrap_or_default(), session };
                    self.finished().started.push(done);
                }
                Some(Order::Follow { user, place, client }) => {
                    let shell = self.ground.follow(user, &place, client);
                    self.finished().followed.push((user, shell));
                }
                Some(Order::Look(ForegroundLook { user, at, leader, group })) => {
                    let state = foreground::look(leader, group);
                    self.finished().looked.push((user, at, state));
                }
                Some(order) => self.ground.clear_up(order),
            }
            self.shared.bell.ring();
        }
    }

    fn finished(&self) -> MutexGuard<'_, Finished> {
        self.shared.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next order; `None`: no more will come.
    fn next(&self) -> Option<Option<Order>> {
        self.shared.to_do.take();
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        match orders.waiting.pop_front() {
            None if orders.closed => None,
            order => Some(order),
        }
    }

    fn draw_nonce(&mut self) -> io::Result<Nonce> {
        let mut bits = [0; 8];
        self.random.read_exact(&mut bits)?;
        Ok(nonce(u64::from_ne_bytes(bits)))
    }

    fn start(&mut self, user: UserId, nonce: &Nonce) -> io::Result<StartedSession> {
        let ground = &self.ground;
        let home = ground.homes.join(format!("user-{user}"));
        login::lay_home(&ground.script, &home)?;
        let environment = login::environment(&ground.environment, &ground.script, user, &home, nonce);
        let groups = ground.groups.as_ref();
        let join = groups.map_or(Ok(Vec::new()), |groups| groups.add_user(user).map(|()| groups.join_paths(user)))?;
        let nice = groups.and_then(|groups| groups.nice_of(user));
        let directory = c_string(home.as_os_str().as_bytes());
        let place = LaunchSetup { environment: &environment, directory: &directory, join: &join, nice };
        let (master, pid) = self.spawner.spawn(&self.programs[ground.destinations.index_of(user)], &place)?;
        let added = ground.terminals.add(master.as_fd(), u64::from(user));
        Ok(StartedSession { master, pid, account: ground.accounts.open(user), added })
    }
}

fn program(login: &Login) -> PreparedProgram {
    let words = login.words.iter().map(|word| c_string(word.as_bytes())).collect();
    PreparedProgram::new(c_string(login.path.as_os_str().as_bytes()), words)
}

fn copy_of(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// The bytes up to the first null byte: no path and no word of a command can hold one.
fn c_string(bytes: &[u8]) -> CString {
    let until_null = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    CString::new(until_null).expect("the null bytes are cut off")
}
