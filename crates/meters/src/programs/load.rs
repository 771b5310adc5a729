//! Loads the kernel programs one by one. A program that does not load is recorded, and the others still work.

use super::addresses::Addresses;
use super::hooks::{Hook, HookPoint, METER_HOOKS};
use super::interrupted_load::load_despite_signals;
use super::swap_counters::{SwapCounters, swap_counters};
use super::{map_sizes, names};
use crate::meter::Meter;
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, Tier};
use aya::maps::{Map, MapError};
use aya::programs::perf_event::PerfEventLinkId;
use aya::programs::perf_event::{PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, Iter, RawTracePoint, RawTracePointRunOptions, TestRun};
use aya::{Btf, Ebpf, EbpfLoader};
use loadgo_sys::mapped::MappedWords;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

/// The loaded kernel programs and their maps.
pub(crate) struct Loaded {
    /// The object with its maps and programs; dropping it unloads them.
    pub object: Ebpf,
    /// Largest number of processors of the host. A processor's number is smaller.
    pub processors: u32,
    /// Addresses of the kernel's functions, as the programs know them.
    pub addresses: Addresses,
    /// Whether the tracepoint of a switch tells the state of the task that leaves, as kernels do since 5.18.
    pub switch_tells_state: bool,
    /// Programs that did not load, with their meters and the reason.
    pub missing: Vec<MissingProgram>,
}

/// A kernel program that did not load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingProgram {
    /// The meter that needs it; None for programs that announce existing tasks, or that divide counts by user.
    pub meter: Option<Meter>,
    /// The program.
    pub program: &'static str,
    /// The reason.
    pub refusal: MeterRefusal,
}

impl Loaded {
    /// Why a meter cannot work; None if all its programs are loaded.
    pub fn refusal(&self, meter: Meter) -> Option<&MeterRefusal> {
        self.missing.iter().find(|missing| missing.meter == Some(meter)).map(|missing| &missing.refusal)
    }
}

/// Loads and attaches the programs of a request.
///
/// # Errors
/// The object itself cannot be loaded: the kernel's types or a privilege is missing.
pub fn load(wanted: &MeterRequest) -> Result<Loaded, MeterRefusal> {
    let btf = kernel_types()?;
    let mut loaded = load_and_attach(wanted, &btf, true, |_| true)?;
    if loaded.refusal(Meter::TotalTime).is_some() {
        drop(loaded);
        loaded = load_and_attach(wanted, &btf, false, |_| true)?; // kernels before 5.18
    }
    if let Err(refusal) = announce_tasks(&mut loaded.object, &btf) {
        loaded.missing.push(MissingProgram { meter: None, program: "on_begin", refusal });
    }
    Ok(loaded)
}

/// Loads and attaches only the programs of one meter.
///
/// # Errors
/// As for [`load`].
pub(crate) fn load_only(wanted: &MeterRequest, meter: Meter) -> Result<Loaded, MeterRefusal> {
    load_and_attach(wanted, &kernel_types()?, true, |hook| hook.meter == meter)
}

/// Reads the running kernel's types: 14 MB, which are not needed after loading.
///
/// # Errors
/// The kernel has none, or does not show them.
pub fn kernel_types() -> Result<Btf, MeterRefusal> {
    Btf::from_sys_fs().map_err(|error| MeterRefusal::from_error(&error).trying("the kernel's types (BTF)"))
}

fn load_and_attach(
    wanted: &MeterRequest,
    btf: &Btf,
    switch_tells_state: bool,
    needed: impl Fn(&Hook) -> bool,
) -> Result<Loaded, MeterRefusal> {
    let mut loaded = load_without_programs(wanted, btf, switch_tells_state, false)?;
    for hook in METER_HOOKS.iter().filter(|hook| (hook.when)(wanted) && needed(hook)) {
        if let Err(refusal) = attach(&mut loaded, btf, hook) {
            loaded.missing.push(MissingProgram { meter: Some(hook.meter), program: hook.program, refusal });
        }
    }
    Ok(loaded)
}

pub(crate) fn load_without_programs(
    wanted: &MeterRequest,
    btf: &Btf,
    switch_tells_state: bool,
    sampled: bool,
) -> Result<Loaded, MeterRefusal> {
    let processors = aya::util::nr_cpus()? as u32;
    let addresses = Addresses::read();
    let object = load_object(wanted, btf, processors, addresses, switch_tells_state, sampled)?;
    Ok(Loaded { object, processors, addresses, switch_tells_state, missing: Vec::new() })
}

/// Loads the programs of `hooks` for windows. Those that `is_always` tells are attached, and then all tasks get records.
///
/// # Errors
/// The kernel's refusal of the object or of a program.
pub(crate) fn load_for_windows<'a>(
    wanted: &MeterRequest,
    switch_tells_state: bool,
    hooks: impl Iterator<Item = &'a Hook>,
    is_always: impl Fn(&Hook) -> bool,
) -> Result<Loaded, MeterRefusal> {
    let btf = kernel_types()?;
    let mut loaded = load_without_programs(wanted, &btf, switch_tells_state, true)?;
    for hook in hooks {
        load_hook(&mut loaded.object, hook, &btf).map_err(|refusal| refusal.trying(hook.program))?;
        if is_always(hook) {
            attach_hook(&mut loaded.object, hook)?; // until the object is dropped
        }
    }
    iterate_tasks(&mut loaded.object, &btf)?;
    Ok(loaded)
}

/// Descriptors that must be free before a load. The loader asks once in a process what the kernel can do, by opening objects. If
/// it could open none, it would believe from then on that the kernel can do nothing.
const FREE_DESCRIPTORS: usize = 8;

/// Refuses to load where the loader's questions to the kernel would fail.
fn check_descriptors() -> Result<(), MeterRefusal> {
    let opened: io::Result<Vec<File>> = (0..FREE_DESCRIPTORS).map(|_| File::open("/dev/null")).collect();
    opened.map(drop).map_err(|error| MeterRefusal::from_error(&error).trying("descriptors for the kernel's programs"))
}

/// Loads the object with its maps and settings, without programs.
fn load_object(
    wanted: &MeterRequest,
    btf: &Btf,
    processors: u32,
    addresses: Addresses,
    switch_tells_state: bool,
    sampled: bool,
) -> Result<Ebpf, MeterRefusal> {
    check_descriptors()?;
    let exact = u32::from(wanted.tier == Tier::Exact);
    let accounts = wanted.accounts + 1; // the first belongs to no session
    let swap = if wanted.tier == Tier::Exact { swap_counters() } else { SwapCounters::default() }; // only faults are told apart by them
    let mut loader = EbpfLoader::new();
    #[cfg(test)]
    let unseen_process = crate::unseen_wakeups::UNSEEN_PROCESS.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(test)]
    loader.override_global("unseen_process", &unseen_process, true);
    #[cfg(test)]
    loader.override_global("keep_samples", &crate::sampled_activities::KEEP_SAMPLES, true);
    loader
        .btf(Some(btf))
        .allow_unsupported_maps()
        .override_global("switch_tells_state", &u32::from(switch_tells_state), true)
        .override_global("fault_begins", &addresses.fault.begins, true)
        .override_global("fault_ends", &addresses.fault.ends, true)
        .override_global("high_begins", &addresses.high.begins, true)
        .override_global("high_ends", &addresses.high.ends, true)
        .override_global("sleeping_begins", &addresses.sleeping.begins, true)
        .override_global("sleeping_ends", &addresses.sleeping.ends, true)
        .override_global("exact", &exact, true)
        .override_global("sampled", &u32::from(sampled), true)
        .override_global("count_regions", &u32::from(wanted.profile_hz.is_some()), true)
        .override_global("brk_number", &names::BRK_CALL_INDEX, true)
        .override_global("sigreturn_number", &names::SIGRETURN_CALL_INDEX, true)
        .map_max_entries("primitives", map_sizes::primitive_entries(wanted, processors))
        .override_global("by_session", &u32::from(wanted.accounts <= map_sizes::MOST_SESSIONS_APART), true)
        .map_max_entries("lock_sums", map_sizes::lock_sum_entries(wanted))
        .map_max_entries("spin_waits", processors)
        .map_max_entries("who_lines", processors)
        .map_max_entries("who_even", map_sizes::user_sum_entries(wanted))
        .map_max_entries("who_odd", map_sizes::user_sum_entries(wanted))
        .override_global("to_events", &swap.to_events, true)
        .override_global("swap_event", &swap.events[0], true)
        .override_global("zswap_event", &swap.events[1], true)
        .override_global("zero_event", &swap.events[2], true)
        .map_max_entries("accounts", accounts)
        .map_max_entries("slot_of_pid", accounts)
        .map_max_entries("free_accounts", accounts)
        .map_max_entries("names", map_sizes::process_name_entries(wanted))
        .map_max_entries("name_places", map_sizes::process_name_entries(wanted))
        .map_max_entries("processors", processors)
        .map_max_entries("activity_counts", processors)
        .load(loadgo_bpf::METERS_OBJECT)
        .map_err(|error| MeterRefusal::from_error(&error))
}

/// A program's connection to its hook.
pub(crate) enum HookLink {
    Tracepoint(BtfTracePointLinkId),
    Event(PerfEventLinkId),
}

fn attach(loaded: &mut Loaded, btf: &Btf, hook: &Hook) -> Result<(), MeterRefusal> {
    load_hook(&mut loaded.object, hook, btf)?;
    attach_hook(&mut loaded.object, hook).map(drop)
}

/// Loads the program of a hook.
fn load_hook(object: &mut Ebpf, hook: &Hook, btf: &Btf) -> Result<(), MeterRefusal> {
    let program = object.program_mut(hook.program).ok_or("it is not in the object")?;
    match hook.point {
        HookPoint::Tracepoint(name) => {
            let program: &mut BtfTracePoint = program.try_into()?;
            load_despite_signals(|| program.load(name, btf))?;
        }
        HookPoint::Event(_) => {
            let program: &mut PerfEvent = program.try_into()?;
            load_despite_signals(|| program.load())?;
        }
    }
    Ok(())
}

/// Attaches the loaded program of a hook until it is detached or the object is dropped.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn attach_hook(object: &mut Ebpf, hook: &Hook) -> Result<Vec<HookLink>, MeterRefusal> {
    let program = object.program_mut(hook.program).ok_or("it is not in the object")?;
    match hook.point {
        HookPoint::Tracepoint(_) => {
            let program: &mut BtfTracePoint = program.try_into()?;
            Ok(vec![HookLink::Tracepoint(program.attach()?)])
        }
        HookPoint::Event(event) => {
            let links = attach_to_all_processors(program.try_into()?, event)?;
            Ok(links.into_iter().map(HookLink::Event).collect())
        }
    }
}

/// Attaches a loaded program to each occurrence of a software event.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn attach_to_all_processors(
    program: &mut PerfEvent,
    event: SoftwareEvent,
) -> Result<Vec<PerfEventLinkId>, MeterRefusal> {
    let on_processor = |cpu| -> Result<PerfEventLinkId, MeterRefusal> {
        let scope = PerfEventScope::AllProcessesOneCpu { cpu };
        Ok(program.attach(PerfEventConfig::Software(event), scope, SamplePolicy::Period(1), false)?)
    };
    aya::util::online_cpus()?.into_iter().map(on_processor).collect()
}

/// Detaches the program of a hook.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn detach_hook(object: &mut Ebpf, hook: &Hook, link: HookLink) -> Result<(), MeterRefusal> {
    let program = object.program_mut(hook.program).ok_or("it is not in the object")?;
    match link {
        HookLink::Tracepoint(link) => {
            let program: &mut BtfTracePoint = program.try_into()?;
            program.detach(link)?;
        }
        HookLink::Event(link) => {
            let program: &mut PerfEvent = program.try_into()?;
            program.detach(link)?;
        }
    }
    Ok(())
}

/// Takes the map `name` out of the object.
///
/// # Errors
/// There is no such map, or it has another type.
pub(crate) fn take_map<T: TryFrom<Map, Error = MapError>>(loaded: &mut Loaded, name: &str) -> Result<T, MeterRefusal> {
    let map = loaded.object.take_map(name).ok_or_else(|| format!("{name} is not there"))?;
    T::try_from(map).map_err(|error| MeterRefusal::from(error).trying(name))
}

/// Maps the first `bytes` of the array map `name` into this process, for reading and writing.
///
/// # Errors
/// There is no such array, or the kernel does not map it.
pub(crate) fn map_array(loaded: &Loaded, name: &str, bytes: usize) -> Result<MappedWords, MeterRefusal> {
    let Some(Map::Array(map)) = loaded.object.map(name) else { return Err(format!("{name} is not there").into()) };
    MappedWords::for_writing(map.fd().as_fd(), bytes).map_err(|error| MeterRefusal::from(error).trying(name))
}

/// Announces all tasks, all processors and loadgo's own process to the kernel's programs.
///
/// # Errors
/// The kernel's refusal. Then a task becomes known only when it switches.
fn announce_tasks(object: &mut Ebpf, btf: &Btf) -> Result<(), MeterRefusal> {
    let processors = announce_processors(object).map_err(|refusal| refusal.trying("on_begin"));
    iterate_tasks(object, btf).map_err(|refusal| refusal.trying("on_each_task"))?;
    processors
}

fn iterate_tasks(object: &mut Ebpf, btf: &Btf) -> Result<(), MeterRefusal> {
    let program: &mut Iter = object.program_mut("on_each_task").ok_or("it is not in the object")?.try_into()?;
    load_despite_signals(|| program.load("task", btf))?;
    let link = program.attach()?;
    let mut file = program.take_link(link)?.into_file().map_err(|error| MeterRefusal::from_error(&error))?;
    file.read_to_end(&mut Vec::new())?;
    Ok(program.unload()?)
}

fn announce_processors(object: &mut Ebpf) -> Result<(), MeterRefusal> {
    let program: &mut RawTracePoint = object.program_mut("on_begin").ok_or("it is not in the object")?.try_into()?;
    load_despite_signals(|| program.load())?;
    let mut own_process = RawTracePointRunOptions::new();
    own_process.args[0] = 1;
    program.test_run(own_process)?;
    for cpu in aya::util::online_cpus()? {
        let mut on_processor = RawTracePointRunOptions::new();
        on_processor.cpu = Some(cpu);
        program.test_run(on_processor)?; // by an interrupt there, which preempts no task
    }
    Ok(program.unload()?)
}
