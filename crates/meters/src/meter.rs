//! The meters and their names, which are the same in all outputs.

use std::fmt;

/// A meter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Meter {
    /// Time of each processor by category.
    TotalTime,
    /// Idle time by cause.
    IdleByCause,
    /// Number of tasks that waited for a processor, and their waiting time.
    Queue,
    /// Processor time of each process.
    Processes,
    /// Waits of each user's processes, by cause.
    WaitsByUser,
    /// System calls: number, time and failures.
    Primitives,
    /// Page faults.
    Faults,
    /// Interrupts.
    Interrupts,
    /// Waits for locks: of the kernel, and on files.
    Locks,
    /// Stacks, by samples on a clock.
    ClockProfile,
    /// Page faults and samples by mapping.
    Segments,
    /// Time of the meters' own programs.
    Price,
    /// The sockets of one command; the crate `loadgo-transfer-meters` has this meter.
    SocketsOfCommand,
    /// The lines of log-in sessions; the crate `loadgo-observation` has this meter.
    Sessions,
}

impl Meter {
    /// The meters of a host, in the order of outputs.
    pub const OF_HOST: [Meter; 12] = [
        Meter::TotalTime,
        Meter::IdleByCause,
        Meter::Queue,
        Meter::Processes,
        Meter::WaitsByUser,
        Meter::Primitives,
        Meter::Faults,
        Meter::Interrupts,
        Meter::Locks,
        Meter::ClockProfile,
        Meter::Segments,
        Meter::Price,
    ];

    /// The name in the report, in `run.toml` and in the output of `loadgo doctor`.
    pub fn name(self) -> &'static str {
        match self {
            Meter::TotalTime => "total time",
            Meter::IdleByCause => "idle by cause",
            Meter::Queue => "queue",
            Meter::Processes => "processes",
            Meter::WaitsByUser => "waits by user",
            Meter::Primitives => "primitives",
            Meter::Faults => "faults",
            Meter::Interrupts => "interrupts",
            Meter::Locks => "locks",
            Meter::ClockProfile => "clock profile",
            Meter::Segments => "segments",
            Meter::Price => "price of the meters",
            Meter::SocketsOfCommand => "a command's sockets",
            Meter::Sessions => "log-in sessions (loadgo observe --for)",
        }
    }

    /// Whether only the exact tier has the meter.
    pub fn is_only_exact(self) -> bool {
        matches!(self, Meter::Primitives | Meter::Faults | Meter::Interrupts)
    }

    /// The meter whose kernel programs this meter uses.
    pub(crate) fn programs_of(self) -> Meter {
        if self == Meter::IdleByCause { Meter::TotalTime } else { self }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
