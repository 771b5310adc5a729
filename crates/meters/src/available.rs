//! What can be metered on this host, how exactly, and why not.

use crate::kernel_symbols::hidden;
use crate::meter::Meter;
use crate::programs::addresses::Addresses;
use crate::programs::hooks::{At, HOOKS};
use crate::programs::load::Loaded;
use crate::tables::kernel_interrupts;
use crate::wanted::{Tier, Wanted};
use loadgo_host::doctor::profiles_a_command;
use std::collections::HashSet;
use std::fs;

/// How well a meter is had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Every event is counted, every stretch is clocked.
    Exact,
    /// Estimated, and how.
    Estimated(String),
    /// Not here, why, and the remedy.
    NotHere(String),
}

/// One meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// Which.
    pub meter: Meter,
    /// How it is had.
    pub how: How,
}

/// The kernel's types.
pub const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// What this host can have, without loading anything: where nothing is in the way, of the exact meters.
pub fn here() -> Vec<Available> {
    if let Err(why) = possible() {
        let a_command = !privileged() && profiles_a_command();
        return Meter::OF_HOST.map(|meter| Available { meter, how: without_programs(meter, &why, a_command) }).to_vec();
    }
    let tracepoints = tracepoints(&fs::read(TYPES).unwrap_or_default());
    let wanted = Wanted { tier: Tier::Exact, accounts: 0, commands: Vec::new(), profile_hz: None, segments: true };
    Meter::OF_HOST
        .map(|meter| Available {
            meter,
            how: without_hook(&tracepoints, &wanted, meter).unwrap_or_else(|| usual(meter, Tier::Exact)),
        })
        .to_vec()
}

/// What of the meters works, of those that are loaded.
pub(crate) fn of(loaded: &Loaded, wanted: &Wanted) -> Vec<Available> {
    let how = |meter: Meter| match loaded.why_not(meter.programs_of()) {
        Some(why) => How::NotHere(why.to_string()),
        None => usual(meter, wanted.tier),
    };
    Meter::OF_HOST.map(|meter| Available { meter, how: how(meter) }).to_vec()
}

/// Whether the kernel lets us load programs at all.
///
/// # Errors
/// In words with the remedy.
pub fn possible() -> Result<(), String> {
    if !privileged() {
        return Err("it takes root (or the capabilities CAP_BPF and CAP_PERFMON): sudo loadgo …".into());
    }
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        return Err(
            "the kernel is locked down for confidentiality, and then no program may look into it: boot with lockdown=integrity"
                .into(),
        );
    }
    if !fs::exists(TYPES).unwrap_or(false) {
        let said = "this kernel does not tell its types (/sys/kernel/btf/vmlinux is missing)";
        return Err(format!("{said}: a kernel with CONFIG_DEBUG_INFO_BTF, as distributions have since 2021"));
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    match version(&release) {
        Some(version) if version < (5, 11) => Err(format!("kernel {} is too old: the meters want 5.15 or later", release.trim())),
        _ => Ok(()),
    }
}

/// Without kernel programs the profile of a command is all there is, and that outside of runs.
fn without_programs(meter: Meter, why: &str, a_command: bool) -> How {
    match meter {
        Meter::ClockProfile | Meter::Segments if a_command => {
            How::Estimated(format!("whole host: no ({why}); a command of yours: yes (loadgo profile -- COMMAND)"))
        }
        _ => How::NotHere(why.into()),
    }
}

fn privileged() -> bool {
    may_load(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

/// By the effective capabilities: CAP_SYS_ADMIN, or CAP_BPF with CAP_PERFMON.
fn may_load(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let has = |number: u32| bits >> number & 1 == 1;
    has(21) || has(39) && has(38)
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// The names of the kernel's tracepoints, each of which has a type of its own.
pub fn tracepoints(types: &[u8]) -> HashSet<String> {
    let names = types.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"btf_trace_"));
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Why the meter is not here, when the kernel lacks one of its tracepoints.
fn without_hook(tracepoints: &HashSet<String>, wanted: &Wanted, meter: Meter) -> Option<How> {
    HOOKS.iter().filter(|hook| hook.meter == meter.programs_of() && (hook.when)(wanted)).find_map(|hook| match hook.at {
        At::Tracepoint(name) if !tracepoints.contains(name) => {
            Some(How::NotHere(format!("this kernel has no tracepoint {name}")))
        }
        _ => None,
    })
}

/// How a meter is had where all its programs are.
fn usual(meter: Meter, tier: Tier) -> How {
    match (meter, tier) {
        (Meter::TotalTime, Tier::Cheap) => {
            How::Estimated("busy time is divided by a clock of 1000 Hz; busy and idle themselves are exact".into())
        }
        (Meter::ClockProfile, _) => How::Estimated("by samples on a clock".into()),
        (Meter::IdleByCause, _) if Addresses::read().fault.begins == 0 => {
            How::Estimated(format!("a primitive's wait for a page counts as a wait for the disk, since {}", hidden()))
        }
        (Meter::Interrupts, Tier::Exact) if !kernel_interrupts::are_shown() => How::Estimated(format!(
            "an interrupt that comes while the kernel runs no program of ours is not counted, since {} cannot be read",
            kernel_interrupts::HARD
        )),
        (meter, Tier::Cheap) if meter.is_only_exact() => How::NotHere("the cheap meters leave it out: --meters exact".into()),
        _ => How::Exact,
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
        let how = |meter| without_programs(meter, "it takes root", true);
        assert!(
            matches!(how(Meter::Segments), How::Estimated(how) if how.contains("no (it takes root); a command of yours: yes"))
        );
        assert_eq!(how(Meter::Queue), How::NotHere("it takes root".into()));
        assert_eq!(without_programs(Meter::Segments, "it takes root", false), how(Meter::Queue));
    }

    #[test]
    fn tracepoints_are_found_among_the_types_names() {
        let found = tracepoints(b"int\0btf_trace_sched_switch\0btf_traces\0");
        assert_eq!(found, HashSet::from(["sched_switch".to_string()]));
    }

    #[test]
    fn a_release_begins_with_its_version() {
        assert_eq!(version("6.18.44-fc-v595"), Some((6, 18)));
        assert_eq!(version("5.4.0-generic\n"), Some((5, 4)));
    }
}
