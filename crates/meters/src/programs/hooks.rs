//! The hooks: for each kernel program, where it runs, in which tier, and for which meter.

use crate::meter::Meter;
use crate::wanted::{MeterRequest, Tier};
use aya::programs::perf_event::SoftwareEvent;

/// A kernel program and the point in the kernel where it runs.
pub(crate) struct Hook {
    /// The program's name in `bpf/`.
    pub program: &'static str,
    /// The point where it runs.
    pub point: HookPoint,
    /// Whether a request needs the program.
    pub when: fn(&MeterRequest) -> bool,
    /// The meter that needs the program.
    pub meter: Meter,
}

/// A point in the kernel where a program runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HookPoint {
    /// A tracepoint of the kernel, with arguments in the kernel's own types.
    Tracepoint(&'static str),
    /// Every occurrence of a software event, on each processor.
    Event(SoftwareEvent),
}

/// All hooks, in the order in which they are attached. Forks come first, so that no task is unknown. Switches come before wakeups, so
/// that a woken task is known to have slept.
pub(crate) const METER_HOOKS: &[Hook] = &[
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
    on("page_fault_user", "on_user_fault", exact_with_tracepoints, Meter::Faults),
    on("page_fault_kernel", "on_kernel_fault", exact_with_tracepoints, Meter::Faults),
    each(SoftwareEvent::PageFaults, "on_fault", exact_without_tracepoints, Meter::Faults),
    on("irq_handler_exit", "after_device", exact, Meter::Interrupts),
    on("irq_handler_entry", "on_device", exact, Meter::Interrupts),
    on("softirq_exit", "after_soft", exact, Meter::Interrupts),
    on("softirq_entry", "on_soft", exact, Meter::Interrupts),
    on("local_timer_exit", "after_local_timer", exact_with_tracepoints, Meter::Interrupts),
    on("local_timer_entry", "on_local_timer", exact_with_tracepoints, Meter::Interrupts),
    on("reschedule_exit", "after_reschedule", exact_with_tracepoints, Meter::Interrupts),
    on("reschedule_entry", "on_reschedule", exact_with_tracepoints, Meter::Interrupts),
    on("call_function_exit", "after_call_function", exact_with_tracepoints, Meter::Interrupts),
    on("call_function_entry", "on_call_function", exact_with_tracepoints, Meter::Interrupts),
    on("call_function_single_exit", "after_call_function_single", exact_with_tracepoints, Meter::Interrupts),
    on("call_function_single_entry", "on_call_function_single", exact_with_tracepoints, Meter::Interrupts),
    on("irq_work_exit", "after_irq_work", exact_with_tracepoints, Meter::Interrupts),
    on("irq_work_entry", "on_irq_work", exact_with_tracepoints, Meter::Interrupts),
    on("ipi_exit", "after_ipi", exact_without_tracepoints, Meter::Interrupts),
    on("ipi_entry", "on_ipi", exact_without_tracepoints, Meter::Interrupts),
    on("contention_end", "after_lock_wait", locks, Meter::Locks),
    on("contention_begin", "on_lock_wait", locks, Meter::Locks),
    on("flock_lock_inode", "on_flock", locks, Meter::Locks),
    on("posix_lock_inode", "on_fcntl", locks, Meter::Locks),
    on("page_fault_user", "on_region", regions, Meter::Segments),
    on("page_fault_kernel", "on_region_in_kernel", regions, Meter::Segments),
];

const fn on(tracepoint: &'static str, program: &'static str, when: fn(&MeterRequest) -> bool, meter: Meter) -> Hook {
    Hook { program, point: HookPoint::Tracepoint(tracepoint), when, meter }
}

const fn each(event: SoftwareEvent, program: &'static str, when: fn(&MeterRequest) -> bool, meter: Meter) -> Hook {
    Hook { program, point: HookPoint::Event(event), when, meter }
}

/// Both tiers need the program.
pub(crate) fn always(_: &MeterRequest) -> bool {
    true
}

/// The exact tier needs the program.
pub(crate) fn exact(wanted: &MeterRequest) -> bool {
    wanted.tier == Tier::Exact
}

/// The request needs the program for waits for locks.
pub(crate) fn locks(wanted: &MeterRequest) -> bool {
    wanted.locks
}

/// The cheap tier needs the program for the profile's page faults by region. The exact tier's programs count regions themselves.
pub(crate) fn regions(wanted: &MeterRequest) -> bool {
    wanted.profile_hz.is_some() && wanted.tier == Tier::Cheap
}

/// The exact tier needs the program on processors (x86) whose exceptions and interrupts have tracepoints.
pub(crate) fn exact_with_tracepoints(wanted: &MeterRequest) -> bool {
    exact(wanted) && cfg!(target_arch = "x86_64")
}

/// The exact tier needs the program on other processors.
pub(crate) fn exact_without_tracepoints(wanted: &MeterRequest) -> bool {
    exact(wanted) && !cfg!(target_arch = "x86_64")
}
