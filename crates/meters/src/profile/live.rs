//! A clock profile without the other meters: of the whole host, or of a command with all its descendants.

use crate::accounts::sessions::Sessions;
use crate::meter::Meter;
use crate::part::RecordSpan;
use crate::profile::Profile;
use crate::programs::load::{Loaded, load_only};
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, Tier};
use loadgo_core::record::{SegmentRow, StackRow};
use loadgo_core::time::Instant;
use loadgo_host::doctor::profiles_a_command;
use loadgo_sys::clock::monotonic_ns;
use std::sync::Arc;

/// The processes of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileScope {
    /// All processes. Root is needed.
    Host,
    /// Processes that this thread forks from now on. Without root, the kernel's part is missing.
    Children,
}

/// A running profile; dropping it ends it.
pub struct Live {
    profile: Profile,
    /// The kernel programs that count faults, if they could be loaded.
    _loaded: Option<Loaded>,
    notes: Vec<String>,
    last: Instant,
}

/// The rows of a profile's span.
#[derive(Clone, Debug, Default)]
pub struct ProfileSpan {
    /// Stacks with their counts.
    pub stacks: Vec<StackRow>,
    /// Faults and samples by segment.
    pub segments: Vec<SegmentRow>,
    /// Files with their build ids in hexadecimal.
    pub build_ids: Vec<(Arc<str>, String)>,
    /// Losses: the number, and the kind of things that were lost.
    pub lost: Vec<(u64, &'static str)>,
}

impl Live {
    /// Begins to profile, with `hz` samples a second of each busy processor.
    ///
    /// # Errors
    /// The host's refusal, with the remedy.
    pub fn begin(scope: ProfileScope, hz: u32, now: Instant) -> Result<Live, MeterRefusal> {
        let wanted = MeterRequest { tier: Tier::Cheap, accounts: 0, commands: Vec::new(), locks: false, profile_hz: Some(hz) };
        match (Live::with_kernel(scope, &wanted, now), scope) {
            (Err(refusal), ProfileScope::Children) => Live::without_kernel(hz, &refusal, now),
            (Err(refusal), ProfileScope::Host) if profiles_a_command() => {
                Err(format!("the whole host: {refusal}; what works without: loadgo profile -- COMMAND").into())
            }
            (begun, _) => begun,
        }
    }

    fn with_kernel(scope: ProfileScope, wanted: &MeterRequest, now: Instant) -> Result<Live, MeterRefusal> {
        let (mut loaded, mut notes) = match load_only(wanted, Meter::Segments) {
            Ok(loaded) => (Some(loaded), Vec::new()),
            Err(refusal) => (None, vec![format!("page faults by segment are not here: {refusal}")]),
        };
        if let Some(refusal) = loaded.as_ref().and_then(|loaded| loaded.refusal(Meter::Segments)) {
            notes.push(format!("page faults by segment are not here: {refusal}"));
        }
        let profile = Profile::begin_on_host(loaded.as_mut(), Sessions::none(), wanted, scope == ProfileScope::Children)?;
        Ok(Live { profile, _loaded: loaded, notes, last: now })
    }

    fn without_kernel(hz: u32, refusal: &MeterRefusal, now: Instant) -> Result<Live, MeterRefusal> {
        let profile = Profile::begin_on_children(hz)?;
        let notes =
            vec![format!("the kernel's part is not here: {refusal}"), "page faults inside primitives are not counted".into()];
        Ok(Live { profile, _loaded: None, notes, last: now })
    }

    /// Sentences about parts of the profile that this host lacks.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The rows since the last call.
    ///
    /// # Errors
    /// The profile has ended.
    pub fn sample(&mut self, now: Instant) -> Result<ProfileSpan, MeterRefusal> {
        let span = RecordSpan { at: now, span_ns: now.since(self.last).0, monotonic_ns: monotonic_ns() };
        let answer = self.profile.answer(span)?;
        self.last = now;
        let (stacks, segments) = (answer.rows.stacks, answer.rows.segments);
        Ok(ProfileSpan { stacks, segments, build_ids: answer.build_ids, lost: self.profile.take_losses() })
    }
}
