//! A part of the meters: what makes rows of one kind of counts, and what all parts work on.

use crate::accounts::sessions::{Sessions, Told};
use crate::accounts::{Accounts, Waits};
use crate::programs::load::Loaded;
use crate::shares::Shares;
use loadgo_core::record::{Lost, Sample};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use std::collections::HashMap;

/// What makes rows of one kind of counts.
pub(crate) trait Part: Send {
    /// Reads what changes quickly, as near to the span's end as may be: of all parts before the first makes rows.
    fn read(&mut self, _context: &Context) {}

    /// The id of the thread that works for it, if one does: its time is the laboratory's.
    fn thread(&self) -> Option<i32> {
        None
    }

    /// Adds the rows of the span.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String>;

    /// What was lost since this was last asked.
    fn take_lost(&mut self, _context: &Context, _span: Span) -> Vec<Lost> {
        Vec::new()
    }
}

/// The kernel programs, and what one part learns for the others.
pub(crate) struct Context {
    /// The programs with their maps.
    pub loaded: Loaded,
    /// Whose sessions there are, until the clock profile takes them.
    pub sessions: Option<Sessions>,
    /// What the driver's thread tells the profile by, until the part of the accounts takes it.
    pub told: Option<Told>,
    /// The accounts as the driver's thread sees them, until it takes them.
    pub waits: Option<Waits>,
    /// Whose account is whose; `None`: sessions cannot be told apart.
    pub accounts: Option<Accounts>,
    /// What samples of the clock found each processor doing in the last span.
    pub shares: HashMap<u32, Shares>,
}

impl Context {
    /// Nothing is learnt yet.
    pub fn new(loaded: Loaded) -> Context {
        let (told, sessions) = Sessions::told();
        Context { loaded, sessions: Some(sessions), told: Some(told), waits: None, accounts: None, shares: HashMap::new() }
    }

    /// The user whose account it is; `None`: of nobody who has logged in.
    pub(crate) fn user_of(&self, slot: u32) -> Option<UserId> {
        self.accounts.as_ref()?.user_of(slot)
    }
}

/// A span of the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its end.
    pub at: Instant,
    /// Its length.
    pub span_ns: u64,
    /// Its end on the kernel programs' clock, CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
}
