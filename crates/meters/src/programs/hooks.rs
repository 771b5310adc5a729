//! Which kernel program runs where, in which tier, and what it meters.

use crate::meter::Meter;
use crate::wanted::{Tier, Wanted};
use aya::programs::perf_event::SoftwareEvent;

/// A kernel program and the place where it runs.
pub(crate) struct Hook {
    /// The program's name in `bpf/`.
    pub program: &'static str,
    /// Where it runs.
    pub at: At,
    /// Whether it is wanted.
    pub when: fn(&Wanted) -> bool,
    /// The meter that does not work without it.
    pub meter: Meter,
}

/// Where a kernel program runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// At a tracepoint of the kernel, its arguments as the kernel's own types.
    Tracepoint(&'static str),
    /// At each of a software event's happenings, on every processor.
    Each(SoftwareEvent),
}

/// All hooks, in the order in which they are attached: forks first, so that no task is unknown; switches before wakeups, so that
/// who is woken is known to have slept.
pub(crate) const HOOKS: &[Hook] = &[
    on("sched_process_fork", "on_fork", always, Meter::WaitsByUser),
    on("sched_switch", "on_switch", always, Meter::TotalTime),
    on("task_rename", "on_rename", always, Meter::Processes),
    on("sched_wakeup", "on_wakeup", always, Meter::Queue),
    on("sched_wakeup_new", "on_wakeup_new", always, Meter::Queue),
    on("sys_enter", "on_call", exact, Meter::Primitives),
    on("sys_exit", "on_return", exact, Meter::Primitives),
    each(SoftwareEvent::PageFaultsMin, "on_minor_fault", exact, Meter::Faults),
    each(SoftwareEvent::PageFaultsMaj, "on_major_fault", exact, Meter::Faults),
    on("signal_deliver", "on_signal", exact, Meter::Faults),
    on("page_fault_user", "on_user_fault", exact_here, Meter::Faults),
    on("page_fault_kernel", "on_kernel_fault", exact_here, Meter::Faults),
    each(SoftwareEvent::PageFaults, "on_fault", exact_elsewhere, Meter::Faults),
    on("irq_handler_exit", "after_device", exact, Meter::Interrupts),
    on("irq_handler_entry", "on_device", exact, Meter::Interrupts),
    on("softirq_exit", "after_soft", exact, Meter::Interrupts),
    on("softirq_entry", "on_soft", exact, Meter::Interrupts),
    on("local_timer_exit", "after_local_timer", exact_here, Meter::Interrupts),
    on("local_timer_entry", "on_local_timer", exact_here, Meter::Interrupts),
    on("reschedule_exit", "after_reschedule", exact_here, Meter::Interrupts),
    on("reschedule_entry", "on_reschedule", exact_here, Meter::Interrupts),
    on("call_function_exit", "after_call_function", exact_here, Meter::Interrupts),
    on("call_function_entry", "on_call_function", exact_here, Meter::Interrupts),
    on("call_function_single_exit", "after_call_function_single", exact_here, Meter::Interrupts),
    on("call_function_single_entry", "on_call_function_single", exact_here, Meter::Interrupts),
    on("irq_work_exit", "after_irq_work", exact_here, Meter::Interrupts),
    on("irq_work_entry", "on_irq_work", exact_here, Meter::Interrupts),
    on("ipi_exit", "after_ipi", exact_elsewhere, Meter::Interrupts),
    on("ipi_entry", "on_ipi", exact_elsewhere, Meter::Interrupts),
    on("page_fault_user", "on_region", regions, Meter::Segments),
    on("page_fault_kernel", "on_region_in_kernel", regions, Meter::Segments),
];

const fn on(tracepoint: &'static str, program: &'static str, when: fn(&Wanted) -> bool, meter: Meter) -> Hook {
    Hook { program, at: At::Tracepoint(tracepoint), when, meter }
}

const fn each(event: SoftwareEvent, program: &'static str, when: fn(&Wanted) -> bool, meter: Meter) -> Hook {
    Hook { program, at: At::Each(event), when, meter }
}

/// In both tiers.
pub(crate) fn always(_: &Wanted) -> bool {
    true
}

/// In the exact tier.
pub(crate) fn exact(wanted: &Wanted) -> bool {
    wanted.tier == Tier::Exact
}

/// Where page faults are counted by region and by nothing else: the exact tier's own programs do it beside.
pub(crate) fn regions(wanted: &Wanted) -> bool {
    wanted.segments && wanted.tier == Tier::Cheap
}

/// In the exact tier, on the processors (x86) whose exceptions and interrupts have tracepoints of their own.
pub(crate) fn exact_here(wanted: &Wanted) -> bool {
    exact(wanted) && cfg!(target_arch = "x86_64")
}

/// In the exact tier, on the others.
pub(crate) fn exact_elsewhere(wanted: &Wanted) -> bool {
    exact(wanted) && !cfg!(target_arch = "x86_64")
}
