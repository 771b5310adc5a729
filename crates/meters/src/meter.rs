//! The meters by name: what each counts is told under this name everywhere.

use std::fmt;

/// A meter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Meter {
    /// What each processor did with its time.
    TotalTime,
    /// Why processors were idle.
    IdleByCause,
    /// How many tasks waited for a processor, and how long.
    Queue,
    /// Processor time of each process.
    Processes,
    /// What each user's processes waited for.
    WaitsByUser,
    /// System calls: how many, how long, how many failed.
    Primitives,
    /// Page faults and signals.
    Faults,
    /// Interrupts.
    Interrupts,
    /// Stacks, by samples on a clock.
    ClockProfile,
    /// Page faults and samples by what is mapped.
    Segments,
    /// The sockets of one command, which the crate `loadgo-transfer-meters` has.
    SocketsOfCommand,
}

impl Meter {
    /// The meters of a host, in the order in which they are told.
    pub const OF_HOST: [Meter; 10] = [
        Meter::TotalTime,
        Meter::IdleByCause,
        Meter::Queue,
        Meter::Processes,
        Meter::WaitsByUser,
        Meter::Primitives,
        Meter::Faults,
        Meter::Interrupts,
        Meter::ClockProfile,
        Meter::Segments,
    ];

    /// Its name in the report, in `run.toml` and in what `loadgo doctor` says.
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
            Meter::ClockProfile => "clock profile",
            Meter::Segments => "segments",
            Meter::SocketsOfCommand => "a command's sockets",
        }
    }

    /// Whether the cheap meters leave it out.
    pub fn is_only_exact(self) -> bool {
        matches!(self, Meter::Primitives | Meter::Faults | Meter::Interrupts)
    }

    /// The meter whose kernel programs it lives on.
    pub(crate) fn programs_of(self) -> Meter {
        if self == Meter::IdleByCause { Meter::TotalTime } else { self }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
