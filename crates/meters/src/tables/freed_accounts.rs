//! Accounts of sessions that are over, given back to the kernel's programs.

use crate::accounts::{Accounts, SlotOfPid, Waits};
use crate::part::{Context, Part, Span};
use crate::programs::layout::{account, counter};
use crate::programs::load::{Loaded, map_of, mapped};
use crate::wanted::Wanted;
use aya::maps::{Map, MapData, Queue};
use loadgo_core::record::{Lost, Sample};
use loadgo_sys::mapped::MappedWords;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Makes accounts free again: those of sessions that are over, a reading later, when what they had done is read; and those
/// that children of our own took who never logged in, when they are gone.
struct Freed {
    accounts: Accounts,
    free: Queue<MapData, u32>,
    slot_of_pid: SlotOfPid,
    over: Vec<u32>,
    counters: MappedWords,
    refused: u64,
}

/// The part that hands out accounts: before all that look up whose one is. Every account is handed to the kernel as free.
pub(crate) fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
    let places = wanted.accounts as usize + 1;
    let loaded = &mut context.loaded;
    let memory = mapped(loaded, "accounts", places * account::WORDS * 8)?;
    let accounts = Accounts::new(memory, places);
    let (slot_of_pid, for_driver) = two_handles(loaded).map_err(|why| format!("slot_of_pid: {why}"))?;
    let mut free: Queue<MapData, u32> = map_of(loaded, "free_accounts")?;
    for slot in 1..=wanted.accounts {
        free.push(slot, 0).map_err(|error| format!("free_accounts: {error}"))?;
    }
    let counters = mapped(loaded, "counters", counter::WORDS * 8)?;
    context.waits = context.told.take().map(|told| Waits::new(accounts.clone(), told, for_driver));
    context.accounts = Some(accounts.clone());
    Ok(Some(Box::new(Freed { accounts, free, slot_of_pid, over: Vec::new(), counters, refused: 0 })))
}

/// The kernel's table of accounts twice: so that the driver's thread, which looks accounts up, shares no lock with this part.
fn two_handles(loaded: &mut Loaded) -> Result<(SlotOfPid, SlotOfPid), String> {
    let Some(Map::HashMap(table)) = loaded.object.take_map("slot_of_pid") else { return Err("it is not there".into()) };
    let descriptor = table.fd().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let again = MapData::from_fd(descriptor).map_err(|error| error.to_string())?;
    let handle = |table| SlotOfPid::try_from(Map::HashMap(table)).map_err(|error| error.to_string());
    Ok((handle(table)?, handle(again)?))
}

impl Part for Freed {
    fn rows(&mut self, _: &mut Context, _span: Span, _sample: &mut Sample) -> Result<(), String> {
        for slot in std::mem::replace(&mut self.over, self.accounts.take_ended()) {
            // It may have gone already, with another session of the same process id.
            let _ = self.slot_of_pid.remove(&self.accounts.pid_of(slot));
            self.accounts.clear(slot);
            self.free.push(slot, 0).map_err(|error| format!("free_accounts: {error}"))?;
        }
        let gone = self.gone();
        self.over.extend(gone);
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: Span) -> Vec<Lost> {
        let refused = self.counters.words()[counter::SESSIONS_LOST].load(Relaxed);
        let count = refused - std::mem::replace(&mut self.refused, refused);
        let reason = "more processes of our own than accounts: their waits and their users' are not told apart".to_string();
        if count == 0 { Vec::new() } else { vec![Lost { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

impl Freed {
    /// Accounts of children that are nobody's session and no longer live.
    fn gone(&self) -> Vec<u32> {
        let nobodys = self.accounts.nobodys().filter(|(slot, pid)| !self.over.contains(slot) && is_gone(*pid));
        nobodys.map(|(slot, _)| slot).collect()
    }
}

fn is_gone(pid: u32) -> bool {
    pid != 0 && !Path::new("/proc").join(pid.to_string()).exists()
}
