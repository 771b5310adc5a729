//! The sessions' accounts: who waited how long for what, read and written in memory that the kernel's programs share.
//!
//! A process that our own process forks takes a free account; all that it starts belongs to it. The driver's thread reads what
//! an interaction waited for, and writes which command it is at, without a system call; only beginning a session takes one.
//! It shares atomics with other threads, and no lock.

mod ring;
pub(crate) mod sessions;
mod sync;

use crate::programs::layout::account;
use aya::maps::{HashMap as KernelHash, MapData};
use loadgo_core::system::UserId;
use loadgo_host::usage::waits::{self, Waited};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::mapped::MappedWords;
use sessions::Told;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// The kernel's table of which process has which account.
pub(crate) type SlotOfPid = KernelHash<MapData, u32, u32>;

/// All accounts; the parts ask it for the user of an account.
#[derive(Clone)]
pub struct Accounts(Arc<Shared>);

struct Shared {
    memory: MappedWords,
    /// Of each account, the user; 0: nobody that we know of.
    users: Vec<AtomicU32>,
    /// Of each account, whether its session has ended since [`Accounts::take_ended`] last looked.
    ended: Vec<AtomicBool>,
}

impl Accounts {
    /// Accounts `1..places`, in the memory that the kernel's programs share.
    pub(crate) fn new(memory: MappedWords, places: usize) -> Accounts {
        let users = (0..places).map(|_| AtomicU32::new(0)).collect();
        let ended = (0..places).map(|_| AtomicBool::new(false)).collect();
        Accounts(Arc::new(Shared { memory, users, ended }))
    }

    /// The accounts whose session has ended since the last call.
    pub(crate) fn take_ended(&self) -> Vec<u32> {
        let ended = |slot: &u32| self.0.ended[*slot as usize].swap(false, AcqRel);
        (1..self.0.ended.len() as u32).filter(ended).collect()
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

    /// The process that took the account; 0: none.
    pub(crate) fn pid_of(&self, slot: u32) -> u32 {
        self.words(slot)[account::PID].load(Relaxed) as u32
    }

    /// Forgets whose it was; its sums stay, they are only ever compared.
    pub(crate) fn clear(&self, slot: u32) {
        self.words(slot)[account::PID].store(0, Relaxed);
        self.0.users[slot as usize].store(0, Release);
    }
}

/// The waits of users' sessions, for the driver's thread.
pub struct Waits {
    accounts: Accounts,
    told: Told,
    /// A descriptor of its own: the kernel's table is also changed by the thread that frees accounts.
    slot_of_pid: SlotOfPid,
    /// The command of each line of the script, by number; 0: none.
    commands: Vec<u32>,
    of_user: HashMap<UserId, Known>,
}

/// A user's session.
struct Known {
    pid: u32,
    /// `None`: there were more processes than accounts.
    account: Option<InUse>,
}

/// A session's account, and what it held at the last reading.
struct InUse {
    slot: u32,
    last: Waited,
}

impl Waits {
    pub(crate) fn new(accounts: Accounts, told: Told, slot_of_pid: SlotOfPid) -> Waits {
        Waits { accounts, told, slot_of_pid, commands: Vec::new(), of_user: HashMap::new() }
    }

    /// With the script's lines: the command's number of each, by the line's number.
    pub(crate) fn with_commands(self, commands: Vec<u32>) -> Waits {
        Waits { commands, ..self }
    }

    fn account(&self, user: UserId) -> Option<&InUse> {
        self.of_user.get(&user)?.account.as_ref()
    }
}

impl Waits {
    /// What the user's processes have waited so far for anything but processors, pages and storage: quotas, memory that they are
    /// not given, their own loading. In nanoseconds.
    pub fn other_ns(&self, user: UserId) -> Option<u64> {
        Some(self.accounts.words(self.account(user)?.slot)[account::OTHER_WAIT].load(Relaxed))
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
        self.told.began(user, pid);
        let slot = self.slot_of_pid.get(&pid, 0).ok();
        let account = slot.map(|slot| InUse { slot, last: waited(self.accounts.words(slot)) });
        if let Some(slot) = slot {
            self.accounts.0.users[slot as usize].store(user, Release);
        }
        self.of_user.insert(user, Known { pid, account });
    }

    fn ended(&mut self, user: UserId) {
        let Some(known) = self.of_user.remove(&user) else { return };
        self.told.ended(known.pid, monotonic_ns());
        if let Some(account) = known.account {
            self.accounts.0.ended[account.slot as usize].store(true, Release);
        }
    }

    fn line(&mut self, user: UserId, line: u32) {
        let Some(known) = self.of_user.get(&user) else { return };
        let command = self.commands.get(line as usize).copied().unwrap_or(0);
        if let Some(account) = &known.account {
            set_command(&self.accounts.words(account.slot)[account::PID], known.pid, command);
        }
        self.told.line(known.pid, command, monotonic_ns());
    }

    fn interaction(&mut self, user: UserId) -> Option<Waited> {
        let account = self.of_user.get_mut(&user)?.account.as_mut()?;
        let now = waited(self.accounts.words(account.slot));
        let last = std::mem::replace(&mut account.last, now);
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
