//! The kernel meters of a run, and the section of `run.toml` that describes them.

use crate::refusal::RunRefusal;
use loadgo_core::time::Instant;
use loadgo_host::refusal::Refusal;
use loadgo_meters::available::{MeterAvailability, MeterQuality};
use loadgo_meters::calibration::{Calibration, EventPrice};
use loadgo_meters::{MeterRefusal, MeterRequest, Meters, PROFILE_HZ, Tier};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of accounts for processes other than sessions: programs whose versions are read, a command.
const BESIDE_SESSIONS: u32 = 64;

/// The meters that the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TierAsked {
    /// The cheap meters if the host allows them, else none.
    #[default]
    WhereAllowed,
    /// No meters.
    No,
    /// The meters of this tier; the run is refused without them.
    This(NamedTier),
}

/// A tier by its name in `--meters` and in `run.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedTier {
    /// The cheap meters alone.
    Cheap,
    /// The cheap meters with waits for locks.
    CheapWithLocks,
    /// The cheap meters with the clock profile.
    CheapWithProfile,
    /// The cheap meters, and the exact ones in random windows.
    Sampled,
    /// The exact meters, which always have the clock profile and the locks.
    Exact,
}

impl NamedTier {
    /// All tiers.
    const ALL: [NamedTier; 5] =
        [NamedTier::Cheap, NamedTier::CheapWithLocks, NamedTier::CheapWithProfile, NamedTier::Sampled, NamedTier::Exact];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            NamedTier::Cheap => "cheap",
            NamedTier::CheapWithLocks => "cheap,locks",
            NamedTier::CheapWithProfile => "cheap,profile",
            NamedTier::Sampled => "sampled",
            NamedTier::Exact => "exact",
        }
    }

    fn tier(self) -> Tier {
        match self {
            NamedTier::Cheap | NamedTier::CheapWithLocks | NamedTier::CheapWithProfile => Tier::Cheap,
            NamedTier::Sampled => Tier::Sampled,
            NamedTier::Exact => Tier::Exact,
        }
    }

    fn locks(self) -> bool {
        matches!(self, NamedTier::CheapWithLocks | NamedTier::Exact)
    }

    fn profile_hz(self) -> Option<u32> {
        matches!(self, NamedTier::CheapWithProfile | NamedTier::Exact).then_some(PROFILE_HZ)
    }
}

impl TierAsked {
    /// The tier called `name`: `none`, or a tier's name. Without a name, it is [`TierAsked::WhereAllowed`].
    ///
    /// # Errors
    /// An unknown name, with the known ones.
    pub fn named(name: Option<&str>) -> Result<TierAsked, Refusal> {
        match name {
            None => Ok(TierAsked::WhereAllowed),
            Some("none") => Ok(TierAsked::No),
            Some(name) => match NamedTier::ALL.into_iter().find(|tier| tier.name() == name) {
                Some(tier) => Ok(TierAsked::This(tier)),
                None => Err(Refusal::new(no_such_tier(name)).about("meters")),
            },
        }
    }
}

fn no_such_tier(name: &str) -> String {
    let words = "say none, cheap, cheap,locks, cheap,profile, sampled or exact";
    match name {
        "exact,profile" => format!("there are no {name} meters: the exact meters always have the profile; {words}"),
        _ => format!("there are no {name} meters: {words}"),
    }
}

/// The meters at work, if any, and their section of `run.toml`.
pub(crate) struct Metering {
    pub meters: Option<Meters>,
    pub part: MetersPart,
}

/// State of the meters at a moment: their availability and their cost.
#[derive(Clone, Debug)]
pub(crate) struct MetersState {
    have: Vec<MeterAvailability>,
    calibration: Calibration,
}

impl MetersState {
    pub(crate) fn of(meters: &Meters) -> MetersState {
        MetersState { have: meters.availability(), calibration: meters.calibration() }
    }
}

/// `[meters]` of `run.toml`.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct MetersPart {
    /// `none`, or the name of a [`NamedTier`].
    tier: &'static str,
    /// Samples per second of each busy processor; 0 without a sampling clock.
    clock_hz: u32,
    /// The meters that count and clock everything.
    exact: Vec<&'static str>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Meters that estimate, and how.
    estimated: BTreeMap<&'static str, String>,
    /// Meters that this host does not have, and why.
    not_here: BTreeMap<&'static str, String>,
    /// Cost of one event to the host, by its kind; absent without meters.
    calibration: Option<CalibrationPart>,
}

#[derive(Clone, Debug, Serialize)]
struct CalibrationPart {
    /// Time that the meters add to a switch from task to task.
    switch_ns: Option<f64>,
    primitive: Option<PricePart>,
    fault: Option<PricePart>,
}

/// Time of an event without the meters, with them, and as they clock it.
#[derive(Clone, Debug, Serialize)]
struct PricePart {
    bare_ns: f64,
    metered_ns: f64,
    clocked_ns: f64,
}

impl CalibrationPart {
    fn of(calibration: Calibration) -> CalibrationPart {
        let price = |EventPrice { bare_ns, metered_ns, clocked_ns }: EventPrice| PricePart {
            bare_ns: tenths(bare_ns),
            metered_ns: tenths(metered_ns),
            clocked_ns: tenths(clocked_ns),
        };
        CalibrationPart {
            switch_ns: calibration.switch_ns.map(tenths),
            primitive: calibration.primitive.map(price),
            fault: calibration.fault.map(price),
        }
    }
}

/// Rounds nanoseconds to tenths: no clock here is finer.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

impl MetersPart {
    fn none(notes: Vec<String>) -> MetersPart {
        MetersPart { tier: "none", notes, ..MetersPart::default() }
    }

    fn of(meters: &Meters, tier: NamedTier) -> MetersPart {
        let mut part = MetersPart { tier: tier.name(), clock_hz: meters.clock_hz(), ..MetersPart::default() };
        part.update(&MetersState::of(meters));
        part
    }

    /// Updates the section from the state of `meters`.
    pub(crate) fn update(&mut self, meters: &MetersState) {
        (self.exact, self.estimated, self.not_here) = Default::default();
        self.calibration = Some(CalibrationPart::of(meters.calibration));
        for MeterAvailability { meter, quality } in &meters.have {
            match quality {
                MeterQuality::Exact => self.exact.push(meter.name()),
                MeterQuality::Estimated { how, why_not } => {
                    let since = why_not.as_ref().map_or_else(String::new, |refusal| format!(", since {refusal}"));
                    self.estimated.insert(meter.name(), format!("{how}{since}"));
                }
                MeterQuality::Absent(refusal) => drop(self.not_here.insert(meter.name(), refusal.to_string())),
            }
        }
    }
}

/// The request for the meters of `sessions` sessions that type `commands`.
pub(crate) fn wanted(tier: NamedTier, sessions: u32, commands: Vec<Arc<str>>) -> MeterRequest {
    let accounts = sessions.saturating_add(BESIDE_SESSIONS);
    MeterRequest { tier: tier.tier(), accounts, commands, locks: tier.locks(), profile_hz: tier.profile_hz() }
}

/// Begins the meters that are asked for.
///
/// # Errors
/// When a tier was asked for by name, and the host does not allow it.
pub(crate) fn begin(asked: TierAsked, now: Instant, wanted: impl Fn(NamedTier) -> MeterRequest) -> Result<Metering, RunRefusal> {
    let (tier, must) = match asked {
        TierAsked::No => return Ok(Metering { meters: None, part: MetersPart::none(Vec::new()) }),
        TierAsked::WhereAllowed => (NamedTier::Cheap, false),
        TierAsked::This(tier) => (tier, true),
    };
    match Meters::begin(&wanted(tier), now) {
        Ok(meters) => Ok(Metering { part: MetersPart::of(&meters, tier), meters: Some(meters) }),
        Err(why) if must => Err(no_meters(&format!("the {} meters cannot be had", tier.name()), &why).about("meters").into()),
        Err(why) => {
            let note = no_meters("no kernel meters", &why).to_string();
            Ok(Metering { meters: None, part: MetersPart::none(vec![note]) })
        }
    }
}

/// A refusal of the meters. It proposes a privilege only if one is lacking.
fn no_meters(attempt: &str, refused: &MeterRefusal) -> Refusal {
    let remedy = match (refused.remedy(), refused.lacks_privilege()) {
        ("", true) => "run as root, or grant CAP_BPF and CAP_PERFMON",
        (remedy, _) => remedy,
    };
    Refusal::new(attempt).because_of(refused.why_not()).with_remedy(remedy)
}
