//! The meters that this host can have, how exact they are, and why others are absent.

use crate::clock::CLOCK_PROGRAM;
use crate::kernel_symbols::hidden_addresses;
use crate::meter::Meter;
use crate::price;
use crate::programs::addresses::Addresses;
use crate::programs::hooks::{HookPoint, METER_HOOKS};
use crate::programs::load::{Loaded, MissingProgram};
use crate::refusal::MeterRefusal;
use crate::tables::kernel_interrupts;
use crate::wanted::{MeterRequest, PROFILE_HZ, Tier};
use crate::windows;
use aya::maps::MapType;
use loadgo_host::doctor::profiles_a_command;
use std::collections::HashSet;
use std::fs;

/// How exact a meter is on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeterQuality {
    /// Every event is counted and clocked.
    Exact,
    /// The figures are estimates, or there is only a part of them.
    Estimated {
        /// The way in which they are estimated, or the part.
        how: String,
        /// The reason why this host has no better figures; none where no host has.
        why_not: Option<MeterRefusal>,
    },
    /// This host cannot have the meter.
    Absent(MeterRefusal),
}

impl MeterQuality {
    /// Estimated figures, which no host has any better.
    fn estimated(how: impl Into<String>) -> MeterQuality {
        MeterQuality::Estimated { how: how.into(), why_not: None }
    }

    /// Estimated figures, for a reason of this host.
    pub fn estimated_since(how: impl Into<String>, why_not: MeterRefusal) -> MeterQuality {
        MeterQuality::Estimated { how: how.into(), why_not: Some(why_not) }
    }
}

/// A meter and how exact it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterAvailability {
    /// The meter.
    pub meter: Meter,
    /// The meter's quality on this host.
    pub quality: MeterQuality,
}

/// File with the kernel's types.
pub const BTF_PATH: &str = "/sys/kernel/btf/vmlinux";

/// The meters of this host in the exact tier. No program is loaded for the answer.
pub fn host_meters() -> Vec<MeterAvailability> {
    if let Err(refusal) = check_kernel_programs() {
        let can_profile_command = !is_privileged() && profiles_a_command();
        let quality = |meter| quality_without_programs(meter, refusal.clone(), can_profile_command);
        return Meter::OF_HOST.map(|meter| MeterAvailability { meter, quality: quality(meter) }).to_vec();
    }
    let addresses = Addresses::read();
    let tracepoints = tracepoints(&fs::read(BTF_PATH).unwrap_or_default());
    let wanted = MeterRequest { tier: Tier::Exact, accounts: 0, commands: Vec::new(), locks: true, profile_hz: Some(PROFILE_HZ) };
    Meter::OF_HOST
        .map(|meter| MeterAvailability {
            meter,
            quality: missing_tracepoint(&tracepoints, &wanted, meter)
                .or_else(|| unclocked(meter))
                .unwrap_or_else(|| loaded_quality(meter, &wanted, addresses, None)),
        })
        .to_vec()
}

/// The meters of this host by the programs that were loaded.
pub(crate) fn loaded_meters(loaded: &Loaded, wanted: &MeterRequest) -> Vec<MeterAvailability> {
    let missing_clock = loaded.missing.iter().find(|missing| missing.program == CLOCK_PROGRAM);
    let in_windows = |meter: Meter| wanted.tier == Tier::Sampled && meter.is_only_exact();
    let programs_of = |meter: Meter| if in_windows(meter) { Meter::Primitives } else { meter.programs_of() };
    let quality = |meter: Meter| match loaded.refusal(programs_of(meter)) {
        Some(refusal) => MeterQuality::Absent(refusal.clone()),
        None => loaded_quality(meter, wanted, loaded.addresses, missing_clock),
    };
    Meter::OF_HOST.map(|meter| MeterAvailability { meter, quality: quality(meter) }).to_vec()
}

/// Checks whether this process may load kernel programs at all.
///
/// # Errors
/// The reason, with the remedy.
pub fn check_kernel_programs() -> Result<(), MeterRefusal> {
    if !is_privileged() {
        let refusal = MeterRefusal::new("it takes root (or the capabilities CAP_BPF and CAP_PERFMON)");
        return Err(refusal.with_remedy("sudo loadgo …"));
    }
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        let refusal = MeterRefusal::new("the kernel is locked down for confidentiality, and then no program may look into it");
        return Err(refusal.with_remedy("boot with lockdown=integrity"));
    }
    if !fs::exists(BTF_PATH).unwrap_or(false) {
        let refusal = MeterRefusal::new("this kernel does not tell its types (/sys/kernel/btf/vmlinux is missing)");
        return Err(refusal.with_remedy("a kernel with CONFIG_DEBUG_INFO_BTF, as distributions have since 2021"));
    }
    // Distributions bring what newer kernels have into older ones, so the kernel is asked, and its version says nothing. An error
    // of the question is no answer: the programs are loaded, and tell their own.
    if aya::sys::is_map_supported(MapType::TaskStorage).unwrap_or(true) {
        return Ok(());
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let refusal = MeterRefusal::new(format!("kernel {} keeps no records for tasks, so it is too old", release.trim()));
    Err(refusal.with_remedy("Linux 5.15 or later, or a distribution's kernel that has this from there"))
}

/// A meter's quality without kernel programs: only a command can be profiled, outside of runs.
fn quality_without_programs(meter: Meter, refusal: MeterRefusal, can_profile_command: bool) -> MeterQuality {
    match meter {
        Meter::ClockProfile | Meter::Segments if can_profile_command => {
            let how = "a command of yours: yes (loadgo profile -- COMMAND)";
            MeterQuality::estimated_since(how, refusal.trying("the whole host"))
        }
        _ => MeterQuality::Absent(refusal),
    }
}

fn is_privileged() -> bool {
    may_load(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

/// Whether a process with this `/proc/PID/status` may load programs: it has CAP_SYS_ADMIN, or CAP_BPF with CAP_PERFMON.
fn may_load(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let has = |number: u32| bits >> number & 1 == 1;
    has(21) || has(39) && has(38)
}

/// The names of the kernel's tracepoints. Each has a type of its own among the names in `types`.
pub fn tracepoints(types: &[u8]) -> HashSet<String> {
    let names = types.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"btf_trace_"));
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The meter's absence, if the kernel lacks one of its tracepoints.
fn missing_tracepoint(tracepoints: &HashSet<String>, wanted: &MeterRequest, meter: Meter) -> Option<MeterQuality> {
    METER_HOOKS.iter().filter(|hook| hook.meter == meter.programs_of() && (hook.when)(wanted)).find_map(|hook| match hook.point {
        HookPoint::Tracepoint(name) if !tracepoints.contains(name) => {
            Some(MeterQuality::Absent(format!("this kernel has no tracepoint {name}").into()))
        }
        _ => None,
    })
}

/// The absence of the price, if the kernel does not clock programs for this process.
fn unclocked(meter: Meter) -> Option<MeterQuality> {
    (meter == Meter::Price).then(|| price::check_clocking().err().map(MeterQuality::Absent)).flatten()
}

/// A meter's quality when all its programs are loaded, but perhaps not the clock's.
fn loaded_quality(
    meter: Meter,
    wanted: &MeterRequest,
    addresses: Addresses,
    missing_clock: Option<&MissingProgram>,
) -> MeterQuality {
    match (meter, wanted.tier) {
        (Meter::TotalTime, Tier::Cheap | Tier::Sampled) => match missing_clock {
            Some(missing) => {
                MeterQuality::estimated_since("busy time is not divided, all of it is user", missing.refusal.clone())
            }
            None => MeterQuality::estimated(format!(
                "busy time is divided by a clock of {} Hz; busy and idle themselves are exact",
                wanted.clock_hz().unwrap_or(0)
            )),
        },
        (Meter::ClockProfile | Meter::Segments, _) if wanted.profile_hz.is_none() => {
            MeterQuality::Absent("the cheap meters leave it out: --meters cheap,profile".into())
        }
        (Meter::Locks, _) if !wanted.locks => {
            MeterQuality::Absent(format!("{} leave it out: --meters cheap,locks or exact", tier_meters(wanted.tier)).into())
        }
        (Meter::Locks, _) if addresses.sleeping.ends == 0 => {
            MeterQuality::estimated_since("without the function that waits", hidden_addresses())
        }
        (Meter::ClockProfile, _) => MeterQuality::estimated("by samples on a clock"),
        (Meter::Price, _) => MeterQuality::estimated(price::method()),
        (Meter::IdleByCause, _) if addresses.fault.begins == 0 => {
            let how = "a primitive's wait for a page counts as a wait for the disk";
            MeterQuality::estimated_since(how, hidden_addresses())
        }
        (Meter::Interrupts, Tier::Exact) if !kernel_interrupts::are_shown() => {
            let how = "an interrupt that comes while the kernel runs no program of ours is not counted";
            MeterQuality::estimated_since(how, format!("{} cannot be read", kernel_interrupts::INTERRUPTS_PATH).into())
        }
        (meter, Tier::Sampled) if meter.is_only_exact() => MeterQuality::estimated(windows::method()),
        (meter, Tier::Cheap) if meter.is_only_exact() => {
            MeterQuality::Absent("the cheap meters leave it out: --meters sampled or exact".into())
        }
        _ => MeterQuality::Exact,
    }
}

/// The meters of a tier, as a sentence names them.
fn tier_meters(tier: Tier) -> &'static str {
    match tier {
        Tier::Cheap => "the cheap meters",
        Tier::Sampled => "the sampled meters",
        Tier::Exact => "these meters",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_loaded_by_root_or_with_two_capabilities() {
        assert!(may_load("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(may_load("CapEff:\t000000c000000000\n"));
        assert!(!may_load("CapEff:\t0000008000000000\n"));
        assert!(!may_load("CapEff:\t0000000000000000\n"));
    }

    #[test]
    fn without_programs_a_command_can_be_profiled_and_nothing_else() {
        let refusal = MeterRefusal::new("it takes root").with_remedy("sudo");
        let quality = |meter| quality_without_programs(meter, refusal.clone(), true);
        let MeterQuality::Estimated { how, why_not: Some(why_not) } = quality(Meter::Segments) else {
            panic!("{:?}", quality(Meter::Segments));
        };
        assert!(how.starts_with("a command of yours: yes"), "{how}");
        assert_eq!((why_not.why_not().as_str(), why_not.remedy()), ("the whole host: it takes root", "sudo"));
        assert_eq!(quality(Meter::Queue), MeterQuality::Absent(refusal.clone()));
        assert_eq!(quality_without_programs(Meter::Segments, refusal.clone(), false), quality(Meter::Queue));
    }

    #[test]
    fn tracepoints_are_found_among_the_types_names() {
        let names = tracepoints(b"int\0btf_trace_sched_switch\0btf_traces\0");
        assert_eq!(names, HashSet::from(["sched_switch".to_string()]));
    }
}
