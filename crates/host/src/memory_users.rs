//! What each user's processes hold, read user by user, in turns where there are many.
//!
//! A process costs some ten microseconds to read and a thousand users have a thousand processes and more, so in a span so many
//! users are read as [`SHARE`] of its time is processor time enough for, and the next ones in the next span.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use loadgo_core::record::{MemoryRow, PARTS};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use rustix::time::{ClockId, clock_gettime};

use crate::account::read_at_start;
use crate::cgroup::Groups;
use crate::memory_counts::{Group, Held};
use crate::proc::Proc;

/// The part of the time that reading users may take of a processor.
const SHARE: f64 = 0.0015;

/// The users' memory, as it was last read.
#[derive(Debug)]
pub(crate) struct Users {
    groups: Arc<Groups>,
    counted: bool,
    proc: Proc,
    page_bytes: u64,
    who: Arc<str>,
    known: BTreeMap<UserId, Known>,
    /// Who is still to be read in this round, the next one last.
    turns: Vec<UserId>,
    /// When the users were last looked for.
    looked: Instant,
    /// Processor time that may still be used; below 0 it has been overdrawn, and is waited for.
    left_ns: f64,
    /// What users who are gone had lost and got back.
    gone: [u64; 2],
}

/// A user as he was last read; counts are since his group began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    at: Instant,
    pub resident: u64,
    pub on_devices: Option<u64>,
    pub taken: Option<u64>,
    pub brought: Option<u64>,
}

impl Users {
    /// The users of `groups`, none of them read yet.
    pub fn begin(groups: Arc<Groups>, page_bytes: u64, now: Instant) -> std::io::Result<Users> {
        let [users, ..] = PARTS;
        Ok(Users {
            counted: groups.accounts_for_memory(),
            groups,
            proc: Proc::open()?,
            page_bytes,
            who: users.into(),
            known: BTreeMap::new(),
            turns: Vec::new(),
            looked: now,
            left_ns: 0.0,
            gone: [0; 2],
        })
    }

    /// Adds rows of those whose turn it is in the span that ends `now`; `pages` says whether there is any device to page to.
    pub fn rows(&mut self, now: Instant, span_ns: u64, pages: bool, rows: &mut Vec<MemoryRow>) {
        if self.turns.is_empty() {
            self.look(now, rows);
        }
        self.left_ns = (self.left_ns + span_ns as f64 * SHARE).min(2.0 * span_ns as f64 * SHARE);
        while self.left_ns > 0.0
            && let Some(user) = self.turns.pop()
        {
            let began_ns = processor_ns();
            if let Some(read) = self.read(user, now, pages) {
                self.keep(user, read, rows);
            }
            self.left_ns -= (processor_ns() - began_ns) as f64;
        }
    }

    /// All users as they were last read.
    pub fn known(&self) -> impl Iterator<Item = &Known> {
        self.known.values()
    }

    /// Pages taken from all users, and brought back, as far as their groups count them.
    pub fn moved(&self) -> [u64; 2] {
        self.known()
            .fold(self.gone, |[taken, brought], known| [taken + known.taken.unwrap_or(0), brought + known.brought.unwrap_or(0)])
    }

    /// Whether the kernel counts for each user what is taken from him.
    pub fn are_counted(&self) -> bool {
        self.counted
    }

    /// Looks who is there: a new round; those who have gone hold nothing.
    fn look(&mut self, now: Instant, rows: &mut Vec<MemoryRow>) {
        self.turns = self.groups.users().unwrap_or_default();
        self.turns.sort_unstable_by(|one, other| other.cmp(one));
        let there = |user: &UserId| self.turns.binary_search_by(|one| user.cmp(one)).is_ok();
        let gone: Vec<UserId> = self.known.keys().filter(|user| !there(user)).copied().collect();
        for user in gone {
            let known = self.known.remove(&user).expect("who is gone was known");
            self.gone = [self.gone[0] + known.taken.unwrap_or(0), self.gone[1] + known.brought.unwrap_or(0)];
            let row = MemoryRow::of(now, now.since(known.at).0, Arc::clone(&self.who));
            rows.push(MemoryRow { user: Some(user), resident_bytes: Some(0), device_bytes: Some(0), ..row });
        }
        let (since, nothing) =
            (self.looked, Known { at: self.looked, resident: 0, on_devices: None, taken: None, brought: None });
        for user in &self.turns {
            self.known.entry(*user).or_insert(Known { at: since, ..nothing });
        }
        self.looked = now;
    }

    fn keep(&mut self, user: UserId, read: Known, rows: &mut Vec<MemoryRow>) {
        let before = self.known.insert(user, read).expect("who is read was looked up");
        let grown = |now: Option<u64>, before: Option<u64>| now.map(|now| now.saturating_sub(before.unwrap_or(0)));
        rows.push(MemoryRow {
            user: Some(user),
            resident_bytes: Some(read.resident),
            device_bytes: read.on_devices,
            taken_pages: grown(read.taken, before.taken),
            brought_pages: grown(read.brought, before.brought),
            ..MemoryRow::of(read.at, read.at.since(before.at).0, Arc::clone(&self.who))
        });
    }

    /// What `user` holds; `None` when his group has just gone.
    fn read(&self, user: UserId, at: Instant, pages: bool) -> Option<Known> {
        let without_devices = (!pages).then_some(0);
        if self.counted {
            let (stat, on_devices) = self.groups.user_memory(user).ok()?;
            let Group { resident, taken, brought } = Group::parse(&stat)?;
            return Some(Known { at, resident, on_devices: on_devices.or(without_devices), taken, brought });
        }
        let processes = self.groups.processes(user).ok()?;
        let mut known = Known { at, resident: 0, on_devices: Some(0), taken: without_devices, brought: without_devices };
        for held in processes.into_iter().filter_map(|pid| self.held(pid as u32, pages)) {
            known.resident += held.resident;
            known.on_devices = known.on_devices.zip(held.on_devices.or(without_devices)).map(|(sum, more)| sum + more);
        }
        Some(known)
    }

    /// What a process holds; `None` for one that has just ended.
    fn held(&self, pid: u32, pages: bool) -> Option<Held> {
        let mut text = [0u8; 4096];
        let file = self.proc.file(pid, if pages { "status" } else { "statm" }).ok()?;
        let length = read_at_start(file.as_raw_fd(), &mut text).ok()?;
        if pages { Held::of_status(&text[..length]) } else { Held::of_statm(&text[..length], self.page_bytes) }
    }
}

/// The processor time of the calling thread.
fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
