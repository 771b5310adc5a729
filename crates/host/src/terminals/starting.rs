//! Threads that start sessions, so that the driver's thread never waits until a log-in program has been executed.
//!
//! Each takes the next user in turn, makes the home and the control group, and starts the log-in command on a terminal.

use crate::groups::Groups;
use crate::terminals::login::{self, Login};
use loadgo_core::ready::{Nonce, nonce};
use loadgo_core::script::Script;
use loadgo_core::system::UserId;
use loadgo_sys::events::Bell;
use loadgo_sys::spawn::{Place, Program, Spawner};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

/// What every session is started from.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The script, for its files and environment.
    pub script: Arc<Script>,
    /// The log-in command, found.
    pub login: Login,
    /// The environment that all sessions share.
    pub environment: Vec<(String, String)>,
    /// The directory under which each user gets a home.
    pub homes: PathBuf,
    /// The groups that users join.
    pub groups: Option<Arc<Groups>>,
}

/// A session that has been started, or why it could not be.
#[derive(Debug)]
pub(crate) struct Started {
    /// Whose.
    pub user: UserId,
    /// The nonce of its marks.
    pub nonce: Nonce,
    /// The terminal's master side, and the session's first process.
    pub session: io::Result<(OwnedFd, i32)>,
}

/// The threads; dropping them lets them finish what they have in hand.
#[derive(Debug)]
pub(crate) struct Starters {
    orders: Option<mpsc::Sender<UserId>>,
    started: Arc<Mutex<Vec<Started>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Starters {
    /// `count` threads that ring `bell` whenever a session has been started. Sessions use the processors that the calling
    /// thread may use now; the threads themselves may use all of the machine's.
    ///
    /// # Errors
    /// When there is no memory or thread to be had.
    pub fn begin(ground: Ground, count: usize, bell: &Arc<Bell>) -> io::Result<Starters> {
        let (orders, taken) = mpsc::channel();
        let (ground, taken, started) = (Arc::new(ground), Arc::new(Mutex::new(taken)), Arc::new(Mutex::new(Vec::new())));
        let mut threads = Vec::new();
        for _ in 0..count {
            let starter = Starter {
                ground: Arc::clone(&ground),
                program: program(&ground.login),
                spawner: Spawner::new()?,
                random: File::open("/dev/urandom")?,
            };
            let (taken, started, bell) = (Arc::clone(&taken), Arc::clone(&started), Arc::clone(bell));
            let work = move || starter.work(&taken, &started, &bell);
            threads.push(thread::Builder::new().name("loadgo-starter".into()).spawn(work)?);
        }
        Ok(Starters { orders: Some(orders), started, threads })
    }

    /// Asks for a session of `user`.
    pub fn start(&self, user: UserId) {
        let orders = self.orders.as_ref().expect("orders are taken until the end");
        orders.send(user).expect("the threads live as long as orders are taken");
    }

    /// Those that have been started since this was last asked.
    pub fn take(&self) -> Vec<Started> {
        std::mem::take(&mut self.started.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the threads; orders that nobody has taken are forgotten.
    pub fn finish(&mut self) -> Vec<Started> {
        self.orders = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.take()
    }
}

struct Starter {
    ground: Arc<Ground>,
    program: Program,
    spawner: Spawner,
    random: File,
}

impl Starter {
    fn work(mut self, orders: &Mutex<mpsc::Receiver<UserId>>, started: &Mutex<Vec<Started>>, bell: &Bell) {
        loadgo_sys::scheduling::use_all_processors();
        loop {
            let order = orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(user) = order else { return };
            let nonce = self.draw_nonce();
            let session = nonce.as_ref().map_err(copy_of).and_then(|nonce| self.start(user, nonce));
            let done = Started { user, nonce: nonce.unwrap_or_default(), session };
            started.lock().unwrap_or_else(PoisonError::into_inner).push(done);
            bell.ring();
        }
    }

    fn draw_nonce(&mut self) -> io::Result<Nonce> {
        let mut bits = [0; 8];
        self.random.read_exact(&mut bits)?;
        Ok(nonce(u64::from_ne_bytes(bits)))
    }

    fn start(&mut self, user: UserId, nonce: &Nonce) -> io::Result<(OwnedFd, i32)> {
        let ground = &self.ground;
        let home = ground.homes.join(format!("user-{user}"));
        login::lay_home(&ground.script, &home)?;
        let environment = login::environment(&ground.environment, &ground.script, user, &home, nonce);
        let join = match &ground.groups {
            Some(groups) => groups.add_user(user).map(|()| groups.join_paths(user))?,
            None => Vec::new(),
        };
        let directory = c_string(home.as_os_str().as_bytes());
        let place = Place { environment: &environment, directory: &directory, join: &join };
        self.spawner.spawn(&self.program, &place)
    }
}

fn program(login: &Login) -> Program {
    let words = login.words.iter().map(|word| c_string(word.as_bytes())).collect();
    Program::new(c_string(login.path.as_os_str().as_bytes()), words)
}

fn copy_of(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// The bytes up to the first null byte: no path and no word of a command can hold one.
fn c_string(bytes: &[u8]) -> CString {
    let until_null = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    CString::new(until_null).expect("the null bytes are cut off")
}
