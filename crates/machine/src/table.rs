//! The supervisor's table of active segments, whose entries all users share.
//!
//! Where it fills up, either nobody more can log in, or the entry used the longest ago is taken, and its user has a segment fault
//! at the next use (which takes the entry used the longest ago in turn). A user uses all of his entries at each interaction.

use std::collections::BTreeSet;

use super::spec::{SystemTable, WhenTableFull};

/// The table is full, and nothing may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The table.
#[derive(Clone, Debug)]
pub struct Table {
    spec: SystemTable,
    free: u32,
    users: Vec<Option<Entries>>,
    /// Those who have entries, by last use.
    by_use: BTreeSet<(u64, u64, u32)>,
    uses: u64,
}

/// A user's entries.
#[derive(Clone, Copy, Debug)]
struct Entries {
    held: u32,
    /// The time of the last use, and its number, which puts uses at the same time in order.
    used: (u64, u64),
}

impl Table {
    /// An empty table; one that is too small for a single user is an impossible configuration.
    pub fn new(spec: &SystemTable) -> Table {
        assert!(spec.per_user <= spec.entries, "the table has room for one user");
        Table { spec: *spec, free: spec.entries, users: Vec::new(), by_use: BTreeSet::new(), uses: 0 }
    }

    /// `user` logs in, and is given entries, as used when any were last used.
    ///
    /// # Errors
    /// When the table is full and nothing may be taken: the log-in is refused.
    pub fn attach(&mut self, user: u32) -> Result<(), Full> {
        if self.spec.full == WhenTableFull::Refuse && self.free < self.spec.per_user {
            return Err(Full);
        }
        if self.users.len() <= user as usize {
            self.users.resize(user as usize + 1, None);
        }
        assert!(self.users[user as usize].is_none(), "a user logs in once");
        let now = self.by_use.last().map_or(0, |(latest, ..)| *latest);
        self.users[user as usize] = Some(Entries { held: 0, used: (now, 0) });
        self.touch(user, now);
        Ok(())
    }

    /// `user` uses all the entries now; how many of them had been taken since the last use: so many segment faults.
    pub fn touch(&mut self, user: u32, now: u64) -> u32 {
        let per_user = self.spec.per_user;
        let Some(entries) = self.users.get_mut(user as usize).and_then(Option::as_mut) else { return 0 };
        self.by_use.remove(&(entries.used.0, entries.used.1, user));
        self.uses += 1;
        entries.used = (now, self.uses);
        let missing = per_user - entries.held;
        entries.held = per_user;
        self.by_use.insert((now, self.uses, user));
        self.take(missing);
        missing
    }

    /// Finds so many entries: the free ones, then those used the longest ago. The user that they are for is the last by use and
    /// needs no more than the table holds, so the others have enough.
    fn take(&mut self, mut missing: u32) {
        let of_free = missing.min(self.free);
        self.free -= of_free;
        missing -= of_free;
        while missing > 0 {
            let oldest @ (_, _, user) = *self.by_use.first().expect("all entries belong to somebody");
            let entries = self.users[user as usize].as_mut().expect("who has entries is logged in");
            let taken = missing.min(entries.held);
            entries.held -= taken;
            missing -= taken;
            if entries.held == 0 {
                self.by_use.remove(&oldest);
            }
        }
    }

    /// `user` logs out: the entries are free.
    pub fn detach(&mut self, user: u32) {
        if let Some(entries) = self.users.get_mut(user as usize).and_then(Option::take) {
            self.free += entries.held;
            self.by_use.remove(&(entries.used.0, entries.used.1, user));
        }
    }

    /// Entries that nobody has.
    pub fn free(&self) -> u32 {
        self.free
    }
}
