//! The sessions' accounts: waiting times of each session by cause, in memory that is shared with the kernel programs.
//!
//! A process that loadgo's own process forks takes a free account, to which all its descendants belong. So does a session that another
//! program has begun, once it is followed (`adoption`). The driver's thread reads an
//! interaction's waits and writes the present command without a system call; only the beginning of a session needs one. The thread
//! shares atomics with other threads, and no lock.

pub(crate) mod adoption;
mod ring;
pub(crate) mod sessions;
mod sync;

use crate::programs::layout::account;
use adoption::Adoption;
use aya::maps::{HashMap as KernelHash, MapData};
use loadgo_core::system::UserId;
use loadgo_host::usage::waits::{self, Waited};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::mapped::MappedWords;
use sessions::SessionReporter;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// The kernel's table of accounts by process id.
pub(crate) type SlotOfPid = KernelHash<MapData, u32, u32>;

/// All accounts, with their users; shared by the parts.
#[derive(Clone)]
pub struct WaitAccounts(Arc<AccountTable>);

struct AccountTable {
    memory: MappedWords,
    /// The user of each account; 0 if it has none.
    users: Vec<AtomicU32>,
    /// For each account, whether its session has ended since the last [`WaitAccounts::take_ended`].
    ended: Vec<AtomicBool>,
}

impl WaitAccounts {
    /// The accounts `1..places`, in the memory that is shared with the kernel programs.
    pub(crate) fn new(memory: MappedWords, places: usize) -> WaitAccounts {
        let users = (0..places).map(|_| AtomicU32::new(0)).collect();
        let ended = (0..places).map(|_| AtomicBool::new(false)).collect();
        WaitAccounts(Arc::new(AccountTable { memory, users, ended }))
    }

    /// The accounts whose session has ended since the last call.
    pub(crate) fn take_ended(&self) -> Vec<u32> {
        let ended = |slot: &u32| self.0.ended[*slot as usize].swap(false, AcqRel);
        (1..self.0.ended.len() as u32).filter(ended).collect()
    }

    /// Accounts of child processes that lead no user's session, with the child's id.
    pub(crate) fn without_user(&self) -> impl Iterator<Item = (u32, u32)> {
        let slots = 1..self.0.users.len() as u32;
        slots.filter(|slot| self.0.users[*slot as usize].load(Acquire) == 0).map(|slot| (slot, self.pid_of(slot)))
    }

    /// The user of an account; None if no user has logged in with it.
    pub(crate) fn user_of(&self, slot: u32) -> Option<UserId> {
        let user = self.0.users.get(slot as usize)?.load(Acquire);
        (user != 0).then_some(user)
    }

    fn words(&self, slot: u32) -> &[AtomicU64] {
        &self.0.memory.words()[slot as usize * account::WORDS..][..account::WORDS]
    }

    /// The id of the process that took the account; 0 if there is none.
    pub(crate) fn pid_of(&self, slot: u32) -> u32 {
        self.words(slot)[account::PID].load(Relaxed) as u32
    }

    /// Removes the account's user and process. The totals stay, because only differences are used.
    pub(crate) fn clear(&self, slot: u32) {
        self.words(slot)[account::PID].store(0, Relaxed);
        self.0.users[slot as usize].store(0, Release);
    }
}

/// The waits of users' sessions, for the driver's thread.
pub struct AccountWaits {
    accounts: WaitAccounts,
    reporter: SessionReporter,
    /// The driver's own handle of the kernel's table, because the thread that frees accounts changes the table too.
    slot_of_pid: SlotOfPid,
    /// For sessions without an account. None where the kernel gives no access to its records of tasks.
    adoption: Option<Adoption>,
    /// The command's number of each line of the script, by the line's number; 0 for none.
    commands: Vec<u32>,
    /// By user.
    sessions: Vec<Option<UserAccount>>,
}

/// A user's session and its account.
struct UserAccount {
    pid: NonZeroU32,
    /// The number of the account; None if there were more processes than accounts.
    slot: Option<NonZeroU32>,
    /// The account's waits at the last reading.
    last: Waited,
}

impl AccountWaits {
    pub(crate) fn new(
        accounts: WaitAccounts,
        reporter: SessionReporter,
        slot_of_pid: SlotOfPid,
        adoption: Option<Adoption>,
    ) -> AccountWaits {
        AccountWaits { accounts, reporter, slot_of_pid, adoption, commands: Vec::new(), sessions: Vec::new() }
    }

    /// These waits with the command's number of each line of the script.
    pub(crate) fn with_commands(self, commands: Vec<u32>) -> AccountWaits {
        AccountWaits { commands, ..self }
    }

    /// The account of the process `pid`, which leads a session.
    fn slot_of(&mut self, pid: u32) -> Option<NonZeroU32> {
        if let Ok(slot) = self.slot_of_pid.get(&pid, 0) {
            return NonZeroU32::new(slot);
        }
        let slot = self.adoption.as_mut()?.adopt(pid, &mut self.slot_of_pid).ok()?;
        set_command(&self.accounts.words(slot)[account::PID], pid, 0);
        NonZeroU32::new(slot)
    }

    fn session(&self, user: UserId) -> Option<&UserAccount> {
        self.sessions.get(user as usize)?.as_ref()
    }

    /// Time in nanoseconds that the user's processes have waited so far for quotas, for memory that they are refused, and for loading.
    pub fn other_ns(&self, user: UserId) -> Option<u64> {
        Some(self.accounts.words(self.session(user)?.slot?.get())[account::OTHER_WAIT].load(Relaxed))
    }
}

impl fmt::Debug for AccountWaits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AccountWaits").field("users", &self.sessions.iter().flatten().count()).finish_non_exhaustive()
    }
}

impl waits::Waits for AccountWaits {
    fn source(&self) -> &'static str {
        "kernel meters"
    }

    fn began(&mut self, user: UserId, pid: u32) {
        self.reporter.session_began(user, pid);
        let slot = self.slot_of(pid);
        let last = slot.map_or(Waited::default(), |slot| read_waits(self.accounts.words(slot.get())));
        if let Some(slot) = slot {
            self.accounts.0.users[slot.get() as usize].store(user, Release);
        }
        if self.sessions.len() <= user as usize {
            self.sessions.resize_with(user as usize + 1, || None);
        }
        self.sessions[user as usize] = NonZeroU32::new(pid).map(|pid| UserAccount { pid, slot, last });
    }

    fn ended(&mut self, user: UserId) {
        let Some(session) = self.sessions.get_mut(user as usize).and_then(Option::take) else { return };
        self.reporter.session_ended(session.pid.get(), monotonic_ns());
        if let Some(slot) = session.slot {
            self.accounts.0.ended[slot.get() as usize].store(true, Release);
        }
    }

    fn line(&mut self, user: UserId, line: u32) {
        let Some(UserAccount { pid, slot, .. }) = self.session(user) else { return };
        let (pid, slot) = (pid.get(), *slot);
        let command = self.commands.get(line as usize).copied().unwrap_or(0);
        if let Some(slot) = slot {
            set_command(&self.accounts.words(slot.get())[account::PID], pid, command);
        }
        if self.reporter.is_heard() {
            self.reporter.line_sent(pid, command, monotonic_ns());
        }
    }

    fn interaction(&mut self, user: UserId) -> Option<Waited> {
        let session = self.sessions.get_mut(user as usize)?.as_mut()?;
        let now = read_waits(self.accounts.words(session.slot?.get()));
        let last = std::mem::replace(&mut session.last, now);
        Some(Waited {
            ready_ns: now.ready_ns.wrapping_sub(last.ready_ns),
            paging_ns: now.paging_ns.wrapping_sub(last.paging_ns),
            io_ns: now.io_ns.wrapping_sub(last.io_ns),
        })
    }
}

fn read_waits(words: &[AtomicU64]) -> Waited {
    let word = |index: usize| words[index].load(Relaxed);
    Waited { ready_ns: word(account::READY_WAIT), paging_ns: word(account::PAGE_WAIT), io_ns: word(account::DISK_WAIT) }
}

/// Writes the process id into the lower half of the word, and the command into the upper half.
fn set_command(word: &AtomicU64, pid: u32, command: u32) {
    word.store(u64::from(command) << 32 | u64::from(pid), Relaxed);
}
