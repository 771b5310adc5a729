//! The sections of `run.toml` about this host: its description, its other load, and the sources of usage.

use crate::request::{OtherHost, Request};
use crate::sections::{
    ConditionsPart, DriverPart, HostConditions, HostPart, LimitEachPart, LimitPart, PagingPart, Setting, SingleLimitPart,
    SystemPart, UsagePart,
};
use loadgo_host::conditions::{Conditions, Description, conditions, describe, version_of};
use loadgo_host::limits::Swap;
use loadgo_host::limits::each::{EachLimit, UserLimits};
use loadgo_host::scheduling::Granted;
use loadgo_host::usage::sources::Sources;

/// Describes the host of a run before it begins: this one, or the other that users log in to.
pub(crate) fn here(request: &Request) -> Setting {
    if let Some(OtherHost { system, conditions, .. }) = request.other_host.clone() {
        let (system, conditions) = (SystemPart::OtherHost(system), ConditionsPart::OtherHost(conditions));
        return Setting { system, conditions, limit: None, limit_each: None };
    }
    let limit_each = request.limit_each.as_ref().map(each_part);
    Setting { limit: limit_part(request), limit_each, ..this_host(&request.spec.script.login, &request.spec.script.needs) }
}

/// Describes this host, on which `login` and the programs that are `needed` will run.
pub(crate) fn this_host(login: &str, needed: &[String]) -> Setting {
    Setting {
        system: SystemPart::Host(host_part(login, needed, describe())),
        conditions: ConditionsPart::Host(host_conditions(conditions())),
        limit: None,
        limit_each: None,
    }
}

/// Describes this host as it is metered without a load. A controller elsewhere names it by its `address`.
pub(crate) fn metered_host(address: Option<&str>) -> Setting {
    let mut setting = this_host("", &[]);
    if let (SystemPart::Host(part), Some(address)) = (&mut setting.system, address) {
        part.name = address.to_owned();
    }
    setting
}

/// The hosts that users log in to from here for a controller elsewhere. Their `run.toml` describes this host, from which the users are
/// driven, and which the controller reaches at `address`.
pub fn driven_from_here(address: &str) -> OtherHost {
    let setting = metered_host(Some(address));
    let described = toml::Table::try_from(setting.system).expect("plain values make TOML");
    let system = described.into_iter().filter(|(key, _)| !["login", "versions"].contains(&key.as_str())).collect();
    OtherHost { system, conditions: toml::Table::new(), users: Vec::new() }
}

/// Adds the load average and the available memory at the run's end.
pub(crate) fn at_the_end(section: &mut ConditionsPart) -> Option<f64> {
    if let ConditionsPart::Host(host_section) = section {
        let end = conditions();
        host_section.load_average_end = Some(end.load_average);
        host_section.memory_available_end_bytes = Some(end.memory_available_bytes);
    }
    None
}

fn host_part(login: &str, needed: &[String], here: Description) -> HostPart {
    let mut programs = needed.to_vec();
    programs.extend(login.split_whitespace().next().map(String::from));
    let versions = programs.into_iter().filter_map(|program| version_of(&program).map(|version| (program, version))).collect();
    let paging = |device: loadgo_host::conditions::PagingDevice| PagingPart {
        name: device.name,
        size_bytes: device.size_bytes,
        used_bytes: device.used_bytes,
    };
    HostPart {
        kind: "host",
        name: "here".into(),
        hostname: here.hostname,
        kernel: here.kernel,
        distribution: here.distribution,
        architecture: here.architecture,
        processors: here.processors,
        processor: here.processor,
        tick_ns: here.tick_ns,
        packs: here.packs,
        memory_bytes: here.memory_bytes,
        login: login.into(),
        versions,
        paging_devices: here.paging_devices.into_iter().map(paging).collect(),
    }
}

fn host_conditions(before: Conditions) -> HostConditions {
    HostConditions {
        load_average: before.load_average,
        load_average_end: None,
        users_logged_in: before.users_logged_in,
        memory_available_bytes: before.memory_available_bytes,
        memory_available_end_bytes: None,
        users_memory_kills_end: None,
    }
}

fn limit_part(request: &Request) -> Option<LimitPart> {
    let limit = request.limit.as_ref()?;
    Some(LimitPart { memory_bytes: limit.memory_bytes, cpus: limit.cpus, swap: limit.swap.map(in_words) })
}

/// The section about limits of each user.
pub(crate) fn each_part(limits: &UserLimits) -> LimitEachPart {
    let mut single: Vec<SingleLimitPart> = Vec::new();
    for (user, limit) in &limits.single {
        match single.iter_mut().find(|part| limits.of(part.users[0]) == limit) {
            Some(part) => part.users.push(*user),
            None => single.push(SingleLimitPart { users: vec![*user], limit: one_part(limit) }),
        }
    }
    LimitEachPart { single, ..one_part(&limits.everybody) }
}

fn one_part(limit: &EachLimit) -> LimitEachPart {
    let EachLimit { cpus, memory_bytes, swap_bytes, pids, nice, io_bytes_per_s } = limit.clone();
    LimitEachPart { cpus, memory_bytes, swap_bytes, pids, nice, io_bytes_per_s, single: Vec::new() }
}

fn in_words(swap: Swap) -> String {
    match swap {
        Swap::None => "none".into(),
        Swap::Zram(bytes) => format!("zram:{bytes}"),
        Swap::File(bytes) => format!("file:{bytes}"),
    }
}

/// The section about the sources of usage.
pub(crate) fn usage_part(sources: &Sources) -> UsagePart {
    UsagePart {
        cpu: sources.cpu.to_string(),
        faults: sources.faults.to_string(),
        waits: sources.waits.to_string(),
        cpu_resolution_ns: sources.cpu_resolution_ns,
        every: sources.every,
        split: sources.split.to_string(),
        notes: sources.notes.clone(),
        delays_switched_off: false,
    }
}

/// The section about the scheduling of the driver's thread.
pub(crate) fn driver_part(granted: &Granted, other_host: Option<&OtherHost>) -> DriverPart {
    let Granted { scheduling, processor, proof, notes } = granted.clone();
    DriverPart { scheduling, processor, proof, notes, hostname: other_host.map(|_| describe().hostname) }
}
