//! The sessions' accounts: who waited how long for what, read and written in memory that the kernel's programs share.
//!
//! A process that our own process forks takes a free account; all that it starts belongs to it. The driver's thread reads what
//! an interaction waited for, and writes which command it is at, without a system call; only beginning a session takes one.

pub mod sessions;

use crate::programs::layout::account;
use aya::maps::{HashMap as KernelHash, MapData};
use loadgo_core::system::UserId;
use loadgo_host::usage::waits::{self, Waited};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::mapped::Mapped;
use sessions::Sessions;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

/// All accounts; the parts ask it for the user of an account.
#[derive(Clone)]
pub struct Accounts(Arc<Shared>);

struct Shared {
    memory: Mapped,
    /// Of each account, the user; 0: nobody that we know of.
    users: Vec<AtomicU32>,
    /// Accounts whose session is over.
    over: Mutex<Vec<u32>>,
    slot_of_pid: Mutex<KernelHash<MapData, u32, u32>>,
}

impl Accounts {
    /// So many accounts, in the memory and the map that the kernel's programs share.
    pub(crate) fn new(memory: Mapped, slot_of_pid: KernelHash<MapData, u32, u32>, places: usize) -> Accounts {
        let users = (0..places).map(|_| AtomicU32::new(0)).collect();
        Accounts(Arc::new(Shared { memory, users, over: Mutex::default(), slot_of_pid: Mutex::new(slot_of_pid) }))
    }

    /// The accounts whose session has ended since this was last asked.
    pub(crate) fn take_over(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.over.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Accounts of children of ours that are nobody's session, with the child's id.
    pub(crate) fn nobodys(&self) -> impl Iterator<Item = (u32, u32)> {
        let slots = 1..self.0.users.len() as u32;
        slots.filter(|slot| self.0.users[*slot as usize].load(Acquire) == 0).map(|slot| (slot, self.pid_of(slot)))
    }

    /// The user whose account it is; `None`: of nobody who has logged in.
    pub(crate) fn user_of(&self, slot: u32) -> Option<UserId> {
        let user = self.0.users.get(slot as usize)?.load(Acquire);
        (user != 0).then_some(user)
    }

    fn words(&self, slot: u32) -> &[AtomicU64] {
        &self.0.memory.words()[slot as usize * account::WORDS..][..account::WORDS]
    }

    fn pid_of(&self, slot: u32) -> u32 {
        self.words(slot)[account::PID].load(Relaxed) as u32
    }

    /// Forgets whose it was; its sums stay, they are only ever compared.
    pub(crate) fn clear(&self, slot: u32) {
        let pid = self.pid_of(slot);
        let _ = self.0.slot_of_pid.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid); // the pid may have gone with another session
        self.words(slot)[account::PID].store(0, Relaxed);
        self.0.users[slot as usize].store(0, Release);
    }
}

/// The waits of users' sessions, for the driver's thread.
pub struct Waits {
    accounts: Accounts,
    sessions: Sessions,
    /// The command of each line of the script, by number; 0: none.
    commands: Vec<u32>,
    of_user: HashMap<UserId, Known>,
}

struct Known {
    slot: u32,
    pid: u32,
    last: Waited,
}

impl Waits {
    pub(crate) fn new(accounts: Accounts, sessions: Sessions, commands: Vec<u32>) -> Waits {
        Waits { accounts, sessions, commands, of_user: HashMap::new() }
    }
}

impl Waits {
    /// What the user's processes have waited so far for anything but processors, pages and storage: quotas, memory that they are
    /// not given, their own loading. In nanoseconds.
    pub fn other_ns(&self, user: UserId) -> Option<u64> {
        Some(self.accounts.words(self.of_user.get(&user)?.slot)[account::OTHER_WAIT].load(Relaxed))
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Waits").field("users", &self.of_user.len()).finish_non_exhaustive()
    }
}

impl waits::Waits for Waits {
    fn source(&self) -> &'static str {
        "kernel meters"
    }

    fn began(&mut self, user: UserId, pid: u32) {
        self.sessions.began(user, pid);
        let slot = self.accounts.0.slot_of_pid.lock().unwrap_or_else(PoisonError::into_inner).get(&pid, 0);
        let Ok(slot) = slot else { return };
        self.accounts.0.users[slot as usize].store(user, Release);
        let last = waited(self.accounts.words(slot));
        self.of_user.insert(user, Known { slot, pid, last });
    }

    fn ended(&mut self, user: UserId) {
        let Some(known) = self.of_user.remove(&user) else { return };
        self.accounts.0.over.lock().unwrap_or_else(PoisonError::into_inner).push(known.slot);
    }

    fn line(&mut self, user: UserId, line: u32) {
        let Some(known) = self.of_user.get(&user) else { return };
        let command = self.commands.get(line as usize).copied().unwrap_or(0);
        set_command(&self.accounts.words(known.slot)[account::PID], known.pid, command);
        self.sessions.line(known.pid, command, monotonic_ns());
    }

    fn interaction(&mut self, user: UserId) -> Option<Waited> {
        let known = self.of_user.get_mut(&user)?;
        let now = waited(self.accounts.words(known.slot));
        let last = std::mem::replace(&mut known.last, now);
        Some(Waited {
            ready_ns: now.ready_ns.wrapping_sub(last.ready_ns),
            paging_ns: now.paging_ns.wrapping_sub(last.paging_ns),
            io_ns: now.io_ns.wrapping_sub(last.io_ns),
        })
    }
}

fn waited(words: &[AtomicU64]) -> Waited {
    let of = |place: usize| words[place].load(Relaxed);
    Waited { ready_ns: of(account::READY_WAIT), paging_ns: of(account::PAGE_WAIT), io_ns: of(account::DISK_WAIT) }
}

/// The pid stands in the lower half of the word, the command in the upper.
fn set_command(word: &AtomicU64, pid: u32, command: u32) {
    word.store(u64::from(command) << 32 | u64::from(pid), Relaxed);
}
