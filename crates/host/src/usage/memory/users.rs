//! The memory of each user's processes, read in turns where there are many users, and the pages taken from all users together.
//!
//! Reading a process costs some ten microseconds, and a thousand users have a thousand processes and more. So each span reads
//! only as many users as [`SHARE`] of a processor's time permits, and the next span continues with the next users.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use loadgo_core::record::{MemoryRow, PROCESS_OWNERS};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use loadgo_sys::clock::thread_cpu_ns;

use crate::groups::Groups;
use crate::groups::hierarchy::Version;
use crate::small_files::read_at_start;
use crate::usage::memory::counts::{Group, Held};
use crate::usage::proc::Proc;

/// Largest share of a processor's time that reading users may take.
const SHARE: f64 = 0.0015;

/// The processes of each user.
pub trait UserProcesses: fmt::Debug + Send + Sync {
    /// The users who are logged in now, in no order.
    ///
    /// # Errors
    /// They cannot be listed.
    fn users(&self) -> io::Result<Vec<UserId>>;

    /// The ids of the processes of `user`.
    ///
    /// # Errors
    /// The user has just gone.
    fn processes(&self, user: UserId) -> io::Result<Vec<i32>>;

    /// A memory controller's counts for all users together, where there is one: the text of `memory.stat`, and the kind of its tree.
    fn memory_counts(&self) -> Option<(String, Version)>;
}

impl UserProcesses for Groups {
    fn users(&self) -> io::Result<Vec<UserId>> {
        Groups::users(self)
    }

    fn processes(&self, user: UserId) -> io::Result<Vec<i32>> {
        Groups::processes(self, user)
    }

    fn memory_counts(&self) -> Option<(String, Version)> {
        Groups::memory_counts(self)
    }
}

/// The users' memory, as it was last read.
#[derive(Debug)]
pub(crate) struct Users {
    groups: Arc<dyn UserProcesses>,
    proc: Proc,
    page_bytes: u64,
    who: Arc<str>,
    known: BTreeMap<UserId, Known>,
    /// Users still to be read in this round, the next user last.
    turns: Vec<UserId>,
    /// When the users were last listed.
    looked: Instant,
    /// Processor time that may still be used; below 0 it is overdrawn, and reading pauses.
    left_ns: f64,
    /// The memory controller's counts for all users together, at the last span's end.
    counted: Option<Group>,
    /// Known pages taken from all users, and brought back to them.
    moved: [u64; 2],
}

/// A user's memory as last read.
#[derive(Clone, Copy, Debug)]
struct Known {
    at: Instant,
    held: Held,
}

/// A span that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub at: Instant,
    pub span_ns: u64,
    /// Whether the host has any device to page to.
    pub pages: bool,
}

impl Span {
    /// Number of pages moved to or from paging devices: 0 where there are no devices, unknown elsewhere.
    pub(crate) fn none_without_devices(&self) -> Option<u64> {
        (!self.pages).then_some(0)
    }
}

impl Users {
    /// The users of `groups`, none of them read yet.
    pub fn begin(groups: Arc<dyn UserProcesses>, page_bytes: u64, now: Instant) -> io::Result<Users> {
        let [users, ..] = PROCESS_OWNERS;
        let mut begun = Users {
            groups,
            proc: Proc::open()?,
            page_bytes,
            who: users.into(),
            known: BTreeMap::new(),
            turns: Vec::new(),
            looked: now,
            left_ns: 0.0,
            counted: None,
            moved: [0; 2],
        };
        begun.counted = begun.counted_now();
        Ok(begun)
    }

    /// Adds rows of the users whose turn it is in this span, and a row of all users together.
    pub fn rows(&mut self, span: Span, rows: &mut Vec<MemoryRow>) {
        if self.turns.is_empty() {
            self.look(span, rows);
        }
        let share_ns = span.span_ns as f64 * SHARE;
        self.left_ns = (self.left_ns + share_ns).min(2.0 * share_ns);
        while self.left_ns > 0.0
            && let Some(user) = self.turns.pop()
        {
            let began_ns = thread_cpu_ns();
            if let Some(held) = self.read(user, span.pages) {
                rows.push(self.keep(user, held, span));
            }
            self.left_ns -= (thread_cpu_ns() - began_ns) as f64;
        }
        rows.extend(self.all(span));
    }

    /// Memory held by all users, each as last read.
    pub fn held(&self) -> Held {
        self.known.values().fold(Held::NOTHING, |sum, known| sum.and(known.held))
    }

    /// Known pages taken from all users, and brought back to them.
    pub fn moved(&self) -> [u64; 2] {
        self.moved
    }

    /// The row of counts that exist only for all users together: pages taken and brought back.
    fn all(&mut self, span: Span) -> Option<MemoryRow> {
        let counted = self.counted_now();
        let before = std::mem::replace(&mut self.counted, counted);
        let [taken, brought] = counted.zip(before).filter(|_| span.pages).map(|(now, before)| now.moved_since(&before))?;
        self.moved = [self.moved[0] + taken, self.moved[1] + brought];
        let row = MemoryRow::of(span.at, span.span_ns, Arc::clone(&self.who));
        Some(MemoryRow { taken_pages: Some(taken), brought_pages: Some(brought), ..row })
    }

    fn counted_now(&self) -> Option<Group> {
        let (stat, version) = self.groups.memory_counts()?;
        Group::parse(&stat, version, self.page_bytes)
    }

    /// Begins a new round: lists the users who are logged in; users who have gone hold nothing.
    fn look(&mut self, span: Span, rows: &mut Vec<MemoryRow>) {
        self.turns = self.groups.users().unwrap_or_default();
        self.turns.sort_unstable_by(|one, other| other.cmp(one));
        let there = |user: &UserId| self.turns.binary_search_by(|one| user.cmp(one)).is_ok();
        let gone: Vec<UserId> = self.known.keys().filter(|user| !there(user)).copied().collect();
        for user in gone {
            rows.push(self.keep(user, Held::NOTHING, span));
            self.known.remove(&user);
        }
        for user in &self.turns {
            self.known.entry(*user).or_insert(Known { at: self.looked, held: Held::NOTHING });
        }
        self.looked = span.at;
    }

    fn keep(&mut self, user: UserId, held: Held, span: Span) -> MemoryRow {
        let before = self.known.insert(user, Known { at: span.at, held }).expect("who is read was looked up");
        let none = span.none_without_devices();
        MemoryRow {
            user: Some(user),
            resident_bytes: Some(held.resident),
            device_bytes: held.on_devices,
            taken_pages: none,
            brought_pages: none,
            ..MemoryRow::of(span.at, span.at.since(before.at).0, Arc::clone(&self.who))
        }
    }

    /// Memory held by the processes of `user`; `None` when the user's group has just gone.
    fn read(&self, user: UserId, pages: bool) -> Option<Held> {
        let processes = self.groups.processes(user).ok()?;
        let held = processes.into_iter().filter_map(|pid| self.held_by(pid as u32, pages));
        Some(held.fold(Held::NOTHING, Held::and))
    }

    /// Memory held by a process; `None` for a process that has just ended.
    fn held_by(&self, pid: u32, pages: bool) -> Option<Held> {
        let mut text = [0u8; 4096];
        let file = self.proc.file(pid, if pages { "status" } else { "statm" }).ok()?;
        let length = read_at_start(file, &mut text).ok()?;
        if pages { Held::of_status(&text[..length]) } else { Held::of_statm(&text[..length], self.page_bytes) }
    }
}
