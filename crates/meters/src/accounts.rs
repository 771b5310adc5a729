//! The sessions' accounts: who waited how long for what, read and written in memory that the kernel's programs share.
//!
//! A process that our own process forks takes a free account; all that it starts belongs to it. The driver's thread reads what
//! an interaction waited for, and writes which command it is at, without a system call; only beginning a session takes one.

use crate::layout::{account, counter};
use crate::load::{Loaded, map_of, mapped};
use crate::parts::Part;
use crate::sessions::Sessions;
use crate::{Span, Wanted};
use aya::maps::{HashMap as KernelHash, MapData, Queue};
use loadgo_core::record::{Lost, Sample};
use loadgo_core::system::UserId;
use loadgo_host::usage::waits::{self, Waited};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::mapped::Mapped;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
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
    /// Takes the maps, and hands every account to the kernel as free.
    pub(crate) fn begin(loaded: &mut Loaded, wanted: &Wanted) -> Result<(Accounts, Freed), String> {
        let places = wanted.accounts as usize + 1;
        let memory = mapped(loaded, "accounts", places * account::WORDS * 8)?;
        let slot_of_pid = Mutex::new(map_of(loaded, "slot_of_pid")?);
        let mut free: Queue<MapData, u32> = map_of(loaded, "free_accounts")?;
        for slot in 1..=wanted.accounts {
            free.push(slot, 0).map_err(|error| format!("free_accounts: {error}"))?;
        }
        let users = (0..places).map(|_| AtomicU32::new(0)).collect();
        let accounts = Accounts(Arc::new(Shared { memory, users, over: Mutex::default(), slot_of_pid }));
        let counters = mapped(loaded, "counters", counter::WORDS * 8)?;
        Ok((accounts.clone(), Freed { accounts, free, over: Vec::new(), counters, refused: 0 }))
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
    fn clear(&self, slot: u32) {
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

/// Makes accounts free again: those of sessions that are over, a reading later, when what they had done is read; and those
/// that children of our own took who never logged in, when they are gone.
pub(crate) struct Freed {
    accounts: Accounts,
    free: Queue<MapData, u32>,
    over: Vec<u32>,
    counters: Mapped,
    refused: u64,
}

/// The part that hands out accounts: before all that look up whose one is.
pub(crate) fn begin(loaded: &mut Loaded, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
    let (accounts, freed) = Accounts::begin(loaded, wanted)?;
    loaded.accounts = Some(accounts);
    Ok(Some(Box::new(freed)))
}

impl Part for Freed {
    fn rows(&mut self, _loaded: &Loaded, _span: Span, _sample: &mut Sample) -> Result<(), String> {
        let now_over = std::mem::take(&mut *self.accounts.0.over.lock().unwrap_or_else(PoisonError::into_inner));
        for slot in std::mem::replace(&mut self.over, now_over) {
            self.accounts.clear(slot);
            self.free.push(slot, 0).map_err(|error| format!("free_accounts: {error}"))?;
        }
        let gone = self.gone();
        self.over.extend(gone);
        Ok(())
    }

    fn take_lost(&mut self, _: &Loaded, span: Span) -> Vec<Lost> {
        let refused = self.counters.words()[counter::SESSIONS_LOST].load(Relaxed);
        let count = refused - std::mem::replace(&mut self.refused, refused);
        let reason = "more processes of our own than accounts: their waits and their users' are not told apart".to_string();
        if count == 0 { Vec::new() } else { vec![Lost { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

impl Freed {
    /// Accounts of children that are nobody's session and no longer live.
    fn gone(&self) -> Vec<u32> {
        let users = &self.accounts.0.users;
        let nobodys =
            (1..users.len() as u32).filter(|slot| users[*slot as usize].load(Acquire) == 0 && !self.over.contains(slot));
        nobodys.filter(|slot| is_gone(self.accounts.pid_of(*slot))).collect()
    }
}

fn is_gone(pid: u32) -> bool {
    pid != 0 && !Path::new("/proc").join(pid.to_string()).exists()
}
