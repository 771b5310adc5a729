//! The interface of the meters' parts, and the context that they share.

use crate::accounts::sessions::{SessionReporter, Sessions};
use crate::accounts::{AccountWaits, WaitAccounts};
use crate::event_prices::Calibration;
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::shares::ActivityCounts;
use aya::programs::ProgramFd;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A part of the meters, which makes rows of one kind of counts.
pub(crate) trait MeterPart: Send {
    /// Reads quickly changing counts, close to the span's end. It is called for all parts before any part makes rows.
    fn read(&mut self, _context: &Context) {}

    /// The id of the part's thread, if it has one. Its time is loadgo's own.
    fn thread(&self) -> Option<i32> {
        None
    }

    /// Adds the rows of the span.
    ///
    /// # Errors
    /// The kernel's refusal.
    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal>;

    /// Removes and returns the losses since the last call.
    fn take_lost(&mut self, _context: &Context, _span: RecordSpan) -> Vec<LostRow> {
        Vec::new()
    }
}

/// The kernel programs, and values that one part provides for others.
pub(crate) struct Context {
    /// The programs with their maps.
    pub loaded: Loaded,
    /// The users' sessions, until the clock profile takes them.
    pub sessions: Option<Sessions>,
    /// The driver's end of the sessions' ring, until the part of the accounts takes it.
    pub reporter: Option<SessionReporter>,
    /// The accounts for the driver's thread, until it takes them.
    pub waits: Option<AccountWaits>,
    /// The accounts with their users; None if sessions cannot be distinguished.
    pub accounts: Option<WaitAccounts>,
    /// Number of mappings that the clock profile has recorded; None without a profile.
    pub recorded_mappings: Option<Arc<AtomicU64>>,
    /// The programs of the sampled tier's windows, with the names of their meters.
    pub window_programs: Vec<(ProgramFd, &'static str)>,
    /// Cost of those programs, measured at the start; None outside of the sampled tier.
    pub window_calibration: Option<Calibration>,
    /// Clock samples by activity, for each processor in the last span.
    pub shares: HashMap<u32, ActivityCounts>,
}

impl Context {
    /// A context without values of parts.
    pub fn new(loaded: Loaded) -> Context {
        let (reporter, sessions) = Sessions::with_reporter();
        Context {
            loaded,
            sessions: Some(sessions),
            reporter: Some(reporter),
            waits: None,
            accounts: None,
            recorded_mappings: None,
            window_programs: Vec::new(),
            window_calibration: None,
            shares: HashMap::new(),
        }
    }

    /// The user of an account; None if no user has logged in with it.
    pub(crate) fn user_of(&self, slot: u32) -> Option<UserId> {
        self.accounts.as_ref()?.user_of(slot)
    }
}

/// A span of the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordSpan {
    /// The end on the run's clock.
    pub at: Instant,
    /// The length.
    pub span_ns: u64,
    /// The end on the kernel programs' clock, CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
}
