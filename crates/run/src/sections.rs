//! The sections of `run.toml`, as plain values.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The load that was asked for.
#[derive(Serialize)]
pub(crate) struct LoadPart {
    pub model: &'static str,
    pub users: u32,
    pub passes: Option<u32>,
    pub duration_s: Option<f64>,
    pub think: String,
    pub typing: Option<String>,
    pub seed: u64,
    pub until: Option<String>,
    pub arrivals_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals_from: Option<String>,
}

/// The system of a run.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum SystemPart {
    /// This host.
    Host(HostPart),
    /// Another host, in its agent's words.
    OtherHost(toml::Table),
    /// A simulated machine.
    Machine(MachinePart),
}

/// This host.
#[derive(Serialize)]
pub(crate) struct HostPart {
    pub kind: &'static str,
    /// `here`, or the address by which a controller on another host reaches this host.
    pub name: String,
    pub hostname: String,
    pub kernel: String,
    pub distribution: String,
    pub architecture: String,
    pub processors: usize,
    pub processor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_ns: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub packs: bool,
    pub memory_bytes: u64,
    pub login: String,
    pub versions: BTreeMap<String, String>,
    pub paging_devices: Vec<PagingPart>,
}

/// A paging device of this host.
#[derive(Serialize)]
pub(crate) struct PagingPart {
    pub name: String,
    pub size_bytes: u64,
    pub used_bytes: u64,
}

/// A simulated machine in `run.toml`.
#[derive(Serialize)]
pub(crate) struct MachinePart {
    pub kind: &'static str,
    pub name: String,
    pub title: String,
    pub source: String,
    pub set: Vec<String>,
    pub processors: u32,
    pub speed: f64,
    pub discipline: &'static str,
    pub frames: Option<u32>,
    pub tariff: Option<TariffPart>,
}

/// Prices of a machine's time.
#[derive(Serialize)]
pub(crate) struct TariffPart {
    pub cpu_hour: Option<f64>,
    pub shifts: Option<Shifts>,
    pub paging_wait_hour: f64,
}

/// Prices by shift, in the machine file's order; the first shift is the default.
pub(crate) struct Shifts(pub(crate) Vec<(String, f64)>);

impl Serialize for Shifts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(shift, price)| (shift, price)))
    }
}

/// The time of a run on a simulated machine.
#[derive(Serialize)]
pub(crate) struct MachineConditions {
    pub virtual_s: Option<f64>,
    pub computed_s: Option<f64>,
}

/// Conditions on the system while it ran.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ConditionsPart {
    /// How busy the host was with other things.
    Host(HostConditions),
    /// How busy another host was, in its agent's words.
    OtherHost(toml::Table),
    /// How long a simulated machine's time took.
    Machine(MachineConditions),
}

/// How busy this host was with other things.
#[derive(Serialize)]
pub(crate) struct HostConditions {
    pub load_average: [f64; 3],
    pub load_average_end: Option<[f64; 3]>,
    pub users_logged_in: Option<usize>,
    pub memory_available_bytes: u64,
    pub memory_available_end_bytes: Option<u64>,
    /// How many of the users' processes the kernel has killed for want of memory.
    pub users_memory_kills_end: Option<u64>,
}

/// Limits of the users' memory and processors on this host.
#[derive(Serialize)]
pub(crate) struct LimitPart {
    pub memory_bytes: Option<u64>,
    pub cpus: Option<f64>,
    pub swap: Option<String>,
}

/// Limits of each user on this host.
#[derive(Serialize)]
pub(crate) struct LimitEachPart {
    pub cpus: Option<f64>,
    pub memory_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    pub pids: Option<u64>,
    pub nice: Option<i32>,
    pub io_bytes_per_s: Option<u64>,
    /// Users with limits of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<SingleLimitPart>,
}

/// The limits of some users, in place of those of each.
#[derive(Serialize)]
pub(crate) struct SingleLimitPart {
    pub users: Vec<u32>,
    #[serde(flatten)]
    pub limit: LimitEachPart,
}

/// Where each interaction's usage came from.
#[derive(Serialize)]
pub(crate) struct UsagePart {
    pub cpu: String,
    pub faults: String,
    pub waits: String,
    pub cpu_resolution_ns: u64,
    pub every: u32,
    pub split: String,
    pub notes: Vec<String>,
    /// Whether somebody switched the kernel's delay accounting off during the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub delays_switched_off: bool,
}

/// How the driver's thread was scheduled.
#[derive(Default, Serialize)]
pub(crate) struct DriverPart {
    pub scheduling: String,
    pub processor: Option<usize>,
    pub proof: String,
    pub notes: Vec<String>,
    /// The name of the driver's host, if the users are on another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
}

/// Description of a system before the run.
pub(crate) struct Setting {
    pub system: SystemPart,
    pub conditions: ConditionsPart,
    pub limit: Option<LimitPart>,
    pub limit_each: Option<LimitEachPart>,
}
