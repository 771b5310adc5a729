//! A clock profile by itself, without the other meters: of the whole host, or of a command with what it starts.

use crate::accounts::sessions::Sessions;
use crate::meter::Meter;
use crate::part::Span;
use crate::profile::Profile;
use crate::programs::load::{Loaded, load_only};
use crate::wanted::{Tier, Wanted};
use loadgo_core::record::{SegmentRow, StackRow};
use loadgo_core::time::Instant;
use loadgo_host::doctor::profiles_a_command;
use loadgo_sys::clock::monotonic_ns;
use std::sync::Arc;

/// Of whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Of everybody; for root.
    Host,
    /// Of what this thread forks from now on. Without root: without the kernel's part.
    Children,
}

/// A profile under way; dropping it ends it.
pub struct Live {
    profile: Profile,
    /// The kernel programs that count faults, where they could be had.
    _loaded: Option<Loaded>,
    notes: Vec<String>,
    last: Instant,
}

/// What was found in a span.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Stacks with their counts.
    pub stacks: Vec<StackRow>,
    /// Faults and samples by segment.
    pub segments: Vec<SegmentRow>,
    /// Files and the ids of their builds, in hexadecimal.
    pub build_ids: Vec<(Arc<str>, String)>,
    /// What was lost: how many, and of what.
    pub lost: Vec<(u64, &'static str)>,
}

impl Live {
    /// Begins to profile, `hz` samples a second of each processor that is busy.
    ///
    /// # Errors
    /// In words with the remedy, where the host does not let us.
    pub fn begin(of: Of, hz: u32, now: Instant) -> Result<Live, String> {
        let wanted = Wanted { tier: Tier::Cheap, accounts: 0, commands: Vec::new(), profile_hz: Some(hz), segments: true };
        match (Live::with_kernel(of, &wanted, now), of) {
            (Err(why), Of::Children) => Live::of_children(hz, why, now),
            (Err(why), Of::Host) if profiles_a_command() => {
                Err(format!("the whole host: {why}; what works without: loadgo profile -- COMMAND"))
            }
            (begun, _) => begun,
        }
    }

    fn with_kernel(of: Of, wanted: &Wanted, now: Instant) -> Result<Live, String> {
        let (mut loaded, mut notes) = match load_only(wanted, Meter::Segments) {
            Ok(loaded) => (Some(loaded), Vec::new()),
            Err(why) => (None, vec![format!("page faults by segment are not here: {why}")]),
        };
        if let Some(why) = loaded.as_ref().and_then(|loaded| loaded.refusal(Meter::Segments)) {
            notes.push(format!("page faults by segment are not here: {why}"));
        }
        let profile = Profile::of_host(loaded.as_mut(), Sessions::none(), wanted, of == Of::Children)?;
        Ok(Live { profile, _loaded: loaded, notes, last: now })
    }

    fn of_children(hz: u32, why: String, now: Instant) -> Result<Live, String> {
        let profile = Profile::of_children(hz)?;
        let notes = vec![format!("the kernel's part is not here: {why}"), "page faults inside primitives are not counted".into()];
        Ok(Live { profile, _loaded: None, notes, last: now })
    }

    /// What could not be had, and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What was found since the last call.
    ///
    /// # Errors
    /// When the profile is over.
    pub fn sample(&mut self, now: Instant) -> Result<Found, String> {
        let span = Span { at: now, span_ns: now.since(self.last).0, monotonic_ns: monotonic_ns() };
        let answer = self.profile.answer(span)?;
        self.last = now;
        let (stacks, segments) = (answer.rows.stacks, answer.rows.segments);
        Ok(Found { stacks, segments, build_ids: answer.build_ids, lost: self.profile.lost() })
    }
}
