//! Programs that do nothing at the hooks of a tier: the least that any meters at these hooks cost.

use super::hooks::{HookPoint, METER_HOOKS};
use super::interrupted_load::load_despite_signals;
use super::load::{attach_to_all_processors, kernel_types, load_without_programs};
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, Tier};
use aya::Ebpf;
use aya::programs::{PerfEvent, RawTracePoint};

/// The attached programs; dropping them ends that.
pub struct BareHooks(#[expect(dead_code, reason = "it keeps the programs attached")] Ebpf);

impl BareHooks {
    /// Attaches a program that does nothing to each hook of the tier.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn attach(tier: Tier) -> Result<BareHooks, MeterRefusal> {
        let request = MeterRequest { tier, accounts: 0, commands: Vec::new(), locks: false, profile_hz: None };
        let mut object = load_without_programs(&request, &kernel_types()?, true, false)?.object;
        load_programs(&mut object)?;
        for hook in METER_HOOKS.iter().filter(|hook| (hook.when)(&request)) {
            match hook.point {
                HookPoint::Tracepoint(name) => {
                    tracepoint_program(&mut object)?.attach(name)?;
                }
                HookPoint::Event(event) => {
                    attach_to_all_processors(event_program(&mut object)?, event)?;
                }
            }
        }
        Ok(BareHooks(object))
    }
}

fn load_programs(object: &mut Ebpf) -> Result<(), MeterRefusal> {
    let tracepoint = tracepoint_program(object)?;
    load_despite_signals(|| tracepoint.load())?;
    let event = event_program(object)?;
    Ok(load_despite_signals(|| event.load())?)
}

fn tracepoint_program(object: &mut Ebpf) -> Result<&mut RawTracePoint, MeterRefusal> {
    Ok(object.program_mut("on_nothing").ok_or("it is not in the object")?.try_into()?)
}

fn event_program(object: &mut Ebpf) -> Result<&mut PerfEvent, MeterRefusal> {
    Ok(object.program_mut("on_empty_event").ok_or("it is not in the object")?.try_into()?)
}
