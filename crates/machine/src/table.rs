//! The supervisor's table of active segments, whose entries all users share.
//!
//! When the table is full, a log-in is refused, or the least recently used entry is taken. In the second case, the entry's user
//! has a segment fault at the next use, which takes another entry in turn. A user uses all own entries at each interaction.

use std::collections::BTreeSet;

use super::spec::{SystemTable, WhenTableFull};

/// The error of a full table from which no entry may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

/// The entries of all users.
#[derive(Clone, Debug)]
pub struct EntryTable {
    spec: SystemTable,
    free: u32,
    users: Vec<Option<UserEntries>>,
    /// Users with entries, by the time and number of the last use.
    by_use: BTreeSet<(u64, u64, u32)>,
    uses: u64,
}

/// A user's entries.
#[derive(Clone, Copy, Debug)]
struct UserEntries {
    held: u32,
    /// Time and number of the last use. The number orders uses at the same time.
    last_use: (u64, u64),
}

impl EntryTable {
    /// An empty table, which must have room for one user.
    pub fn new(spec: &SystemTable) -> EntryTable {
        assert!(spec.per_user <= spec.entries, "the table has room for one user");
        EntryTable { spec: *spec, free: spec.entries, users: Vec::new(), by_use: BTreeSet::new(), uses: 0 }
    }

    /// Gives entries to `user`, who logs in. They count as used at the latest use of any entry.
    ///
    /// # Errors
    /// The table is full and no entry may be taken, so the log-in is refused.
    pub fn attach(&mut self, user: u32) -> Result<(), TableFull> {
        if self.spec.full == WhenTableFull::Refuse && self.free < self.spec.per_user {
            return Err(TableFull);
        }
        if self.users.len() <= user as usize {
            self.users.resize(user as usize + 1, None);
        }
        assert!(self.users[user as usize].is_none(), "a user logs in once");
        let now = self.by_use.last().map_or(0, |(latest, ..)| *latest);
        self.users[user as usize] = Some(UserEntries { held: 0, last_use: (now, 0) });
        self.touch(user, now);
        Ok(())
    }

    /// Lets `user` use all own entries now, and returns how many were taken since the last use. Each is a segment fault.
    pub fn touch(&mut self, user: u32, now: u64) -> u32 {
        let per_user = self.spec.per_user;
        let Some(entries) = self.users.get_mut(user as usize).and_then(Option::as_mut) else { return 0 };
        self.by_use.remove(&(entries.last_use.0, entries.last_use.1, user));
        self.uses += 1;
        entries.last_use = (now, self.uses);
        let missing = per_user - entries.held;
        entries.held = per_user;
        self.by_use.insert((now, self.uses, user));
        self.take(missing);
        missing
    }

    /// Takes entries that are free, then the least recently used ones.
    ///
    /// The user who gets them is the last by use and needs at most the whole table, so the others have enough.
    fn take(&mut self, mut missing: u32) {
        let from_free = missing.min(self.free);
        self.free -= from_free;
        missing -= from_free;
        while missing > 0 {
            let oldest @ (_, _, user) = *self.by_use.first().expect("an entry that is not free has a user");
            let entries = self.users[user as usize].as_mut().expect("a user with entries is logged in");
            let taken = missing.min(entries.held);
            entries.held -= taken;
            missing -= taken;
            if entries.held == 0 {
                self.by_use.remove(&oldest);
            }
        }
    }

    /// Frees the entries of `user`, who logs out.
    pub fn detach(&mut self, user: u32) {
        if let Some(entries) = self.users.get_mut(user as usize).and_then(Option::take) {
            self.free += entries.held;
            self.by_use.remove(&(entries.last_use.0, entries.last_use.1, user));
        }
    }

    /// Number of free entries.
    pub fn free(&self) -> u32 {
        self.free
    }
}
