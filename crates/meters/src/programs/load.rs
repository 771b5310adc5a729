//! Brings the kernel programs into the kernel, one by one; what does not load is remembered, and the rest goes on.

use super::addresses::Addresses;
use super::hooks::{At, HOOKS, Hook};
use super::swap_counters::swap_counters;
use super::{map_sizes, names};
use crate::meter::Meter;
use crate::refused::Refused;
use crate::wanted::{Tier, Wanted};
use aya::maps::{Map, MapError};
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{BtfTracePoint, Iter, Program, ProgramError, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf, EbpfLoader};
use loadgo_sys::mapped::MappedWords;
use std::io::Read;
use std::os::fd::AsFd;

/// What is loaded.
pub(crate) struct Loaded {
    /// The object with its maps and programs; dropping it unloads them.
    pub object: Ebpf,
    /// How many processors the host can have: their numbers are smaller.
    pub processors: u32,
    /// The meters whose programs did not load, and why.
    pub missing: Vec<Missing>,
}

/// A kernel program that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The meter that lacks it; `None`: all, of what was there before they began, or of a division by user.
    pub meter: Option<Meter>,
    /// The program.
    pub program: &'static str,
    /// Why it did not load.
    pub why: Refused,
}

impl Loaded {
    /// Why a meter cannot work; `None`: all its programs are there.
    pub fn refusal(&self, meter: Meter) -> Option<&Refused> {
        self.missing.iter().find(|missing| missing.meter == Some(meter)).map(|missing| &missing.why)
    }
}

/// Loads and attaches what is wanted.
///
/// # Errors
/// In words, when the object itself cannot be loaded: no types of the kernel, no privilege.
pub fn load(wanted: &Wanted) -> Result<Loaded, Refused> {
    let btf = kernel_types()?;
    let mut loaded = load_and_attach(wanted, &btf, true, |_| true)?;
    if loaded.refusal(Meter::TotalTime).is_some() {
        drop(loaded);
        loaded = load_and_attach(wanted, &btf, false, |_| true)?; // kernels before 5.18
    }
    if let Err(why) = seed(&mut loaded.object, &btf) {
        loaded.missing.push(Missing { meter: None, program: "on_begin", why });
    }
    Ok(loaded)
}

/// Loads and attaches only what one meter needs.
///
/// # Errors
/// As with [`load`].
pub(crate) fn load_only(wanted: &Wanted, meter: Meter) -> Result<Loaded, Refused> {
    load_and_attach(wanted, &kernel_types()?, true, |hook| hook.meter == meter)
}

/// The running kernel's types: 14 MB, which nobody needs when the programs are loaded.
fn kernel_types() -> Result<Btf, Refused> {
    Btf::from_sys_fs().map_err(|error| Refused::of(&error).trying("the kernel's types (BTF)"))
}

fn load_and_attach(
    wanted: &Wanted,
    btf: &Btf,
    switch_tells_state: bool,
    needed: impl Fn(&Hook) -> bool,
) -> Result<Loaded, Refused> {
    let processors = aya::util::nr_cpus().map_err(|(what, error)| format!("{what}: {error}"))? as u32;
    let object = object(wanted, btf, processors, switch_tells_state)?;
    let mut loaded = Loaded { object, processors, missing: Vec::new() };
    for hook in HOOKS.iter().filter(|hook| (hook.when)(wanted) && needed(hook)) {
        if let Err(why) = put(&mut loaded, btf, hook) {
            loaded.missing.push(Missing { meter: Some(hook.meter), program: hook.program, why });
        }
    }
    Ok(loaded)
}

/// The object with its maps, its settings in place.
fn object(wanted: &Wanted, btf: &Btf, processors: u32, switch_tells_state: bool) -> Result<Ebpf, Refused> {
    let addresses = Addresses::read();
    let exact = u32::from(wanted.tier == Tier::Exact);
    let accounts = wanted.accounts + 1; // the first is nobody's
    let swap = swap_counters();
    EbpfLoader::new()
        .btf(Some(btf))
        .allow_unsupported_maps()
        .override_global("switch_tells_state", &u32::from(switch_tells_state), true)
        .override_global("fault_begins", &addresses.fault.begins, true)
        .override_global("fault_ends", &addresses.fault.ends, true)
        .override_global("high_begins", &addresses.high.begins, true)
        .override_global("high_ends", &addresses.high.ends, true)
        .override_global("exact", &exact, true)
        .override_global("count_regions", &u32::from(wanted.segments), true)
        .override_global("brk_number", &names::BRK, true)
        .override_global("sigreturn_number", &names::SIGRETURN, true)
        .map_max_entries("primitives", map_sizes::primitives(wanted, processors))
        .override_global("by_session", &u32::from(wanted.accounts <= map_sizes::MOST_APART), true)
        .map_max_entries("who_lines", processors)
        .map_max_entries("who_even", map_sizes::sums_by_user(wanted))
        .map_max_entries("who_odd", map_sizes::sums_by_user(wanted))
        .override_global("to_events", &swap.to_events, true)
        .override_global("swap_event", &swap.events[0], true)
        .override_global("zswap_event", &swap.events[1], true)
        .override_global("zero_event", &swap.events[2], true)
        .map_max_entries("accounts", accounts)
        .map_max_entries("slot_of_pid", accounts)
        .map_max_entries("free_accounts", accounts)
        .map_max_entries("names", map_sizes::names_of_processes(wanted))
        .map_max_entries("name_places", map_sizes::names_of_processes(wanted))
        .map_max_entries("processors", processors)
        .load(loadgo_bpf::METERS_OBJECT)
        .map_err(|error| Refused::of(&error))
}

fn put(loaded: &mut Loaded, btf: &Btf, hook: &Hook) -> Result<(), Refused> {
    let program = loaded.object.program_mut(hook.program).ok_or("it is not in the object")?;
    match hook.at {
        At::Tracepoint(name) => put_tracepoint(program, name, btf).map_err(|error| Refused::of_program(&error)),
        At::Each(event) => put_event(program, event, SamplePolicy::Period(1)),
    }
}

fn put_tracepoint(program: &mut Program, name: &str, btf: &Btf) -> Result<(), ProgramError> {
    let program: &mut BtfTracePoint = program.try_into()?;
    program.load(name, btf)?;
    program.attach().map(|_| ())
}

fn put_event(program: &mut Program, event: SoftwareEvent, policy: SamplePolicy) -> Result<(), Refused> {
    let program: &mut PerfEvent = program.try_into().map_err(|error| Refused::of_program(&error))?;
    program.load().map_err(|error| Refused::of_program(&error))?;
    let online = aya::util::online_cpus().map_err(|(what, error)| format!("{what}: {error}"))?;
    for cpu in online {
        let scope = PerfEventScope::AllProcessesOneCpu { cpu };
        program.attach(PerfEventConfig::Software(event), scope, policy, false).map_err(|error| Refused::of_program(&error))?;
    }
    Ok(())
}

/// A map that is taken out of the object, by its kind.
///
/// # Errors
/// In words, when it is not there or of another kind.
pub(crate) fn map_of<T: TryFrom<Map, Error = MapError>>(loaded: &mut Loaded, name: &str) -> Result<T, String> {
    let map = loaded.object.take_map(name).ok_or_else(|| format!("{name} is not there"))?;
    T::try_from(map).map_err(|error| format!("{name}: {error}"))
}

/// An array map in this process's memory: its first `bytes`, to be read and written.
///
/// # Errors
/// In words, when it is no array, or the kernel does not map it.
pub(crate) fn mapped(loaded: &Loaded, name: &str, bytes: usize) -> Result<MappedWords, String> {
    let Some(Map::Array(map)) = loaded.object.map(name) else { return Err(format!("{name} is not there")) };
    MappedWords::for_writing(map.fd().as_fd(), bytes).map_err(|error| format!("{name}: {error}"))
}

/// Tells the kernel's programs of all tasks, of all processors, and which process is ours.
///
/// # Errors
/// In words; the rest then becomes known as it switches.
fn seed(object: &mut Ebpf, btf: &Btf) -> Result<(), Refused> {
    let processors = processors(object).map_err(|why| why.trying("on_begin"));
    tasks(object, btf).map_err(|why| why.trying("on_each_task"))?;
    processors
}

fn tasks(object: &mut Ebpf, btf: &Btf) -> Result<(), Refused> {
    let refused = |error: ProgramError| Refused::of_program(&error);
    let program = object.program_mut("on_each_task").ok_or("it is not in the object")?;
    let program: &mut Iter = program.try_into().map_err(refused)?;
    program.load("task", btf).map_err(refused)?;
    let link = program.attach().map_err(refused)?;
    let mut file = program.take_link(link).map_err(refused)?.into_file().map_err(|error| error.to_string())?;
    file.read_to_end(&mut Vec::new()).map_err(|error| error.to_string())?;
    program.unload().map_err(refused)
}

fn processors(object: &mut Ebpf) -> Result<(), Refused> {
    let refused = |error: ProgramError| Refused::of_program(&error);
    let program = object.program_mut("on_begin").ok_or("it is not in the object")?;
    let program: &mut RawTracePoint = program.try_into().map_err(refused)?;
    program.load().map_err(refused)?;
    let mut ours = RawTracePointRunOptions::new();
    ours.args[0] = 1;
    program.test_run(ours).map_err(refused)?;
    for cpu in aya::util::online_cpus().map_err(|(what, error)| format!("{what}: {error}"))? {
        let mut there = RawTracePointRunOptions::new();
        there.cpu = Some(cpu);
        program.test_run(there).map_err(refused)?; // by an interrupt of that processor: nobody is moved or pre-empted
    }
    program.unload().map_err(refused)
}
