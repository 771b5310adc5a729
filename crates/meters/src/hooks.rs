//! Which kernel program runs where, in which tier, and what it meters.

use crate::{Tier, Wanted};
use aya::programs::perf_event::SoftwareEvent;

/// A kernel program and the place where it runs.
pub(crate) struct Hook {
    /// The program's name in `bpf/`.
    pub program: &'static str,
    /// Where it runs.
    pub at: At,
    /// Whether it is wanted.
    pub when: fn(&Wanted) -> bool,
    /// The meter that does not work without it, as in [`crate::available`].
    pub meter: &'static str,
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
    Hook { program: "on_fork", at: At::Tracepoint("sched_process_fork"), when: always, meter: "waits by user" },
    Hook { program: "on_switch", at: At::Tracepoint("sched_switch"), when: always, meter: "total time" },
    Hook { program: "on_rename", at: At::Tracepoint("task_rename"), when: always, meter: "processes" },
    Hook { program: "on_wakeup", at: At::Tracepoint("sched_wakeup"), when: always, meter: "queue" },
    Hook { program: "on_wakeup_new", at: At::Tracepoint("sched_wakeup_new"), when: always, meter: "queue" },
    Hook { program: "on_call", at: At::Tracepoint("sys_enter"), when: exact, meter: "primitives" },
    Hook { program: "on_return", at: At::Tracepoint("sys_exit"), when: exact, meter: "primitives" },
    Hook { program: "on_minor_fault", at: At::Each(SoftwareEvent::PageFaultsMin), when: exact, meter: "faults" },
    Hook { program: "on_major_fault", at: At::Each(SoftwareEvent::PageFaultsMaj), when: exact, meter: "faults" },
    Hook { program: "on_signal", at: At::Tracepoint("signal_deliver"), when: exact, meter: "faults" },
    Hook { program: "on_user_fault", at: At::Tracepoint("page_fault_user"), when: exact_here, meter: "faults" },
    Hook { program: "on_kernel_fault", at: At::Tracepoint("page_fault_kernel"), when: exact_here, meter: "faults" },
    Hook { program: "on_fault", at: At::Each(SoftwareEvent::PageFaults), when: exact_elsewhere, meter: "faults" },
    Hook { program: "after_device", at: At::Tracepoint("irq_handler_exit"), when: exact, meter: "interrupts" },
    Hook { program: "on_device", at: At::Tracepoint("irq_handler_entry"), when: exact, meter: "interrupts" },
    Hook { program: "after_soft", at: At::Tracepoint("softirq_exit"), when: exact, meter: "interrupts" },
    Hook { program: "on_soft", at: At::Tracepoint("softirq_entry"), when: exact, meter: "interrupts" },
    Hook { program: "after_local_timer", at: At::Tracepoint("local_timer_exit"), when: exact_here, meter: "interrupts" },
    Hook { program: "on_local_timer", at: At::Tracepoint("local_timer_entry"), when: exact_here, meter: "interrupts" },
    Hook { program: "after_reschedule", at: At::Tracepoint("reschedule_exit"), when: exact_here, meter: "interrupts" },
    Hook { program: "on_reschedule", at: At::Tracepoint("reschedule_entry"), when: exact_here, meter: "interrupts" },
    Hook { program: "after_call_function", at: At::Tracepoint("call_function_exit"), when: exact_here, meter: "interrupts" },
    Hook { program: "on_call_function", at: At::Tracepoint("call_function_entry"), when: exact_here, meter: "interrupts" },
    Hook {
        program: "after_call_function_single",
        at: At::Tracepoint("call_function_single_exit"),
        when: exact_here,
        meter: "interrupts",
    },
    Hook {
        program: "on_call_function_single",
        at: At::Tracepoint("call_function_single_entry"),
        when: exact_here,
        meter: "interrupts",
    },
    Hook { program: "after_irq_work", at: At::Tracepoint("irq_work_exit"), when: exact_here, meter: "interrupts" },
    Hook { program: "on_irq_work", at: At::Tracepoint("irq_work_entry"), when: exact_here, meter: "interrupts" },
    Hook { program: "after_ipi", at: At::Tracepoint("ipi_exit"), when: exact_elsewhere, meter: "interrupts" },
    Hook { program: "on_ipi", at: At::Tracepoint("ipi_entry"), when: exact_elsewhere, meter: "interrupts" },
    Hook { program: "on_region", at: At::Tracepoint("page_fault_user"), when: regions, meter: "segments" },
    Hook { program: "on_region_in_kernel", at: At::Tracepoint("page_fault_kernel"), when: regions, meter: "segments" },
];

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
