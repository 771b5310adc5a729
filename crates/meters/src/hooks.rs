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
    /// At the ticks of a clock, on every processor that is busy: so often a second.
    Clock(fn(&Wanted) -> u64),
}

/// All hooks, in the order in which they are attached: switches before wakeups, so that who is woken is known to have slept.
pub(crate) const HOOKS: &[Hook] = &[
    Hook { program: "on_switch", at: At::Tracepoint("sched_switch"), when: always, meter: "total time" },
    Hook { program: "on_fork", at: At::Tracepoint("sched_process_fork"), when: always, meter: "waits by user" },
    Hook { program: "on_exit", at: At::Tracepoint("sched_process_exit"), when: always, meter: "processes" },
    Hook { program: "on_wakeup", at: At::Tracepoint("sched_wakeup"), when: always, meter: "queue" },
    Hook { program: "on_wakeup_new", at: At::Tracepoint("sched_wakeup_new"), when: always, meter: "queue" },
    Hook { program: "on_call", at: At::Tracepoint("sys_enter"), when: exact, meter: "primitives" },
    Hook { program: "on_return", at: At::Tracepoint("sys_exit"), when: exact, meter: "primitives" },
];

/// In both tiers.
pub(crate) fn always(_: &Wanted) -> bool {
    true
}

/// In the exact tier.
pub(crate) fn exact(wanted: &Wanted) -> bool {
    wanted.tier == Tier::Exact
}
