//! Brings the kernel programs into the kernel, one by one.

use aya::programs::{BtfTracePoint, Program};
use aya::{Btf, Ebpf, EbpfLoader};

/// The object that `build.rs` has compiled.
static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/meters.bpf.o"));

/// What is loaded.
pub struct Loaded {
    /// The object with its maps and programs; dropping it unloads them.
    pub object: Ebpf,
    /// How many processors are metered.
    pub processors: u32,
}

/// Loads and attaches all.
pub fn load(exact: bool) -> Result<Loaded, String> {
    let btf = Btf::from_sys_fs().map_err(|error| error.to_string())?;
    let own_tgid = std::process::id();
    let exact = u32::from(exact);
    let mut object = EbpfLoader::new()
        .btf(Some(&btf))
        .allow_unsupported_maps()
        .override_global("own_tgid", &own_tgid, true)
        .override_global("exact", &exact, true)
        .load(OBJECT)
        .map_err(|error| format!("{error:?}"))?;
    for name in ["on_switch", "on_wakeup", "on_wakeup_new", "on_fork", "on_exit", "on_call", "on_return"] {
        let hook = match name {
            "on_switch" => "sched_switch",
            "on_wakeup" => "sched_wakeup",
            "on_wakeup_new" => "sched_wakeup_new",
            "on_fork" => "sched_process_fork",
            "on_exit" => "sched_process_exit",
            "on_call" => "sys_enter",
            _ => "sys_exit",
        };
        let program: &mut Program = object.program_mut(name).ok_or(format!("{name} is not there"))?;
        let program: &mut BtfTracePoint = program.try_into().map_err(|error| format!("{error:?}"))?;
        program.load(hook, &btf).map_err(|error| format!("{name}: {error:?}"))?;
        program.attach().map_err(|error| format!("{name}: {error:?}"))?;
    }
    let processors = aya::util::nr_cpus().map_err(|(what, error)| format!("{what}: {error}"))? as u32;
    Ok(Loaded { object, processors })
}
