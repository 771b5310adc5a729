//! Returns the accounts of ended sessions to the kernel's programs.

use crate::accounts::adoption::Adoption;
use crate::accounts::{AccountWaits, SlotOfPid, WaitAccounts};
use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::{account, counter};
use crate::programs::load::{Loaded, map_array, take_map};
use crate::refusal::MeterRefusal;
use crate::wanted::MeterRequest;
use aya::maps::{Map, MapData, Queue};
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_sys::mapped::MappedWords;
use loadgo_sys::task_storage::TaskStorage;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Frees accounts of ended sessions one reading later, when their last counts have been read. Also frees accounts of child processes
/// that ended without logging in.
struct AccountReaper {
    accounts: WaitAccounts,
    free: Queue<MapData, u32>,
    slot_of_pid: SlotOfPid,
    /// Accounts to free at the next reading.
    ended: Vec<u32>,
    counters: MappedWords,
    /// Number of sessions without an account at the last reading.
    lost: u64,
}

/// Begins the part, and gives all accounts to the kernel. It comes before the parts that look up an account's user.
pub(crate) fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
    let places = wanted.accounts as usize + 1;
    let loaded = &mut context.loaded;
    let memory = map_array(loaded, "accounts", places * account::WORDS * 8)?;
    let accounts = WaitAccounts::new(memory, places);
    let (slot_of_pid, driver_handle) = two_handles(loaded).map_err(|refusal| refusal.trying("slot_of_pid"))?;
    let adoption = adoption(loaded).ok();
    let mut free: Queue<MapData, u32> = take_map(loaded, "free_accounts")?;
    for slot in 1..=wanted.accounts {
        push_free(&mut free, slot)?;
    }
    let counters = map_array(loaded, "counters", counter::WORDS * 8)?;
    context.waits =
        context.reporter.take().map(|reporter| AccountWaits::new(accounts.clone(), reporter, driver_handle, adoption));
    context.accounts = Some(accounts.clone());
    Ok(Some(Box::new(AccountReaper { accounts, free, slot_of_pid, ended: Vec::new(), counters, lost: 0 })))
}

/// Two handles of the kernel's table of accounts, so that the driver's thread shares no lock with this part.
fn two_handles(loaded: &mut Loaded) -> Result<(SlotOfPid, SlotOfPid), MeterRefusal> {
    let Some(Map::HashMap(table)) = loaded.object.take_map("slot_of_pid") else { return Err("it is not there".into()) };
    let second = MapData::from_fd(table.fd().as_fd().try_clone_to_owned()?)?;
    let handle = |table| SlotOfPid::try_from(Map::HashMap(table));
    Ok((handle(table)?, handle(second)?))
}

/// Handles of the kernel's records of tasks and of the free accounts, for sessions that loadgo has not forked.
fn adoption(loaded: &Loaded) -> Result<Adoption, MeterRefusal> {
    let (Some(Map::Unsupported(tasks)), Some(Map::Queue(free))) =
        (loaded.object.map("tasks"), loaded.object.map("free_accounts"))
    else {
        return Err("the records of tasks are not there".into());
    };
    let tasks = TaskStorage::open(tasks.fd().as_fd().try_clone_to_owned()?)?;
    let free = MapData::from_fd(free.fd().as_fd().try_clone_to_owned()?)?;
    Ok(Adoption::new(tasks, Queue::try_from(Map::Queue(free))?))
}

fn push_free(free: &mut Queue<MapData, u32>, slot: u32) -> Result<(), MeterRefusal> {
    free.push(slot, 0).map_err(|error| MeterRefusal::from(error).trying("free_accounts"))
}

impl MeterPart for AccountReaper {
    fn rows(&mut self, _: &mut Context, _span: RecordSpan, _sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        for slot in std::mem::replace(&mut self.ended, self.accounts.take_ended()) {
            // It fails if a later session with the same process id has removed the entry.
            let _ = self.slot_of_pid.remove(&self.accounts.pid_of(slot));
            self.accounts.clear(slot);
            push_free(&mut self.free, slot)?;
        }
        let ended_children = self.accounts_of_ended_children();
        self.ended.extend(ended_children);
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let lost = self.counters.words()[counter::SESSIONS_LOST].load(Relaxed);
        let count = lost - std::mem::replace(&mut self.lost, lost);
        let reason = "loadgo's process has more child processes than accounts: the rest have no waits by user".to_string();
        if count == 0 { Vec::new() } else { vec![LostRow { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

impl AccountReaper {
    /// Accounts of ended child processes that led no session.
    fn accounts_of_ended_children(&self) -> Vec<u32> {
        let ended = self.accounts.without_user().filter(|(slot, pid)| !self.ended.contains(slot) && has_ended(*pid));
        ended.map(|(slot, _)| slot).collect()
    }
}

fn has_ended(pid: u32) -> bool {
    pid != 0 && !Path::new("/proc").join(pid.to_string()).exists()
}
