//! The meters of a simulated machine: total counts and times since its beginning, as a snapshot at an instant.
//!
//! A processor is in exactly one category at a time. Each change of category closes a span at the present nanosecond. The times
//! of a processor's categories therefore add up to the machine's time without a remainder.

pub use durations::Durations;
pub use level::TimedCount;
pub use memory::{DeviceMeter, HolderMeter, MemoryMeter, WORD_BYTES};

mod durations;
mod level;
mod memory;

/// A category of a processor's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The users' work.
    User,
    /// Handling page faults.
    PageFault,
    /// Handling segment faults.
    SegmentFault,
    /// Handling bound faults.
    BoundFault,
    /// Interrupts of storage devices.
    Interrupt,
    /// The choice of a process and the switch to it.
    Getwork,
    /// Lines from and to terminals.
    Terminal,
    /// Crossing protection walls.
    WallCrossing,
    /// Messages and bytes from and to the network.
    Network,
    /// The creation of processes.
    ProcessCreation,
    /// Looping until another processor releases a lock.
    LockWait,
    /// Idle: no process wants a processor.
    IdleZero,
    /// Idle: a program is being brought in.
    IdleLoading,
    /// Idle: a process could run, and is not eligible.
    IdleNotEligible,
    /// Idle: a process could run, and its quota is used up.
    IdleGoverned,
    /// Idle: a process waits for a page.
    IdlePageWait,
    /// Idle: a process waits for another device.
    IdleDiskWait,
    /// Idle: a process is woken and does not run yet. Only hosts have this time; on a simulated machine, a dispatch is processor
    /// time.
    IdleDispatch,
}

impl Category {
    /// Number of categories.
    pub(crate) const COUNT: usize = Category::ALL.len();

    /// Every category, in the order of a table of total time.
    pub const ALL: [Category; 18] = [
        Category::User,
        Category::PageFault,
        Category::SegmentFault,
        Category::BoundFault,
        Category::Interrupt,
        Category::Getwork,
        Category::Terminal,
        Category::WallCrossing,
        Category::Network,
        Category::ProcessCreation,
        Category::LockWait,
        Category::IdleZero,
        Category::IdleLoading,
        Category::IdleNotEligible,
        Category::IdleGoverned,
        Category::IdlePageWait,
        Category::IdleDiskWait,
        Category::IdleDispatch,
    ];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Category::User => "user",
            Category::PageFault => "page fault",
            Category::SegmentFault => "segment fault",
            Category::BoundFault => "bound fault",
            Category::Interrupt => "interrupt",
            Category::Getwork => "getwork",
            Category::Terminal => "terminal",
            Category::WallCrossing => "wall crossing",
            Category::Network => "network",
            Category::ProcessCreation => "process creation",
            Category::LockWait => "lock wait",
            Category::IdleZero => "idle zero",
            Category::IdleLoading => "idle loading",
            Category::IdleNotEligible => "idle not eligible",
            Category::IdleGoverned => "idle governed",
            Category::IdlePageWait => "idle page wait",
            Category::IdleDiskWait => "idle disk wait",
            Category::IdleDispatch => "idle dispatch",
        }
    }

    /// Whether the processor is idle.
    pub(crate) fn is_idle(self) -> bool {
        self as usize >= Category::IdleZero as usize
    }
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A page, or with swapping a program, that was not in memory.
    Major,
    /// A segment that was not active.
    Segment,
    /// A segment that must grow.
    Bound,
    /// An interrupt of a storage device.
    Interrupt,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 4] = [FaultKind::Major, FaultKind::Segment, FaultKind::Bound, FaultKind::Interrupt];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Major => "major",
            FaultKind::Segment => "segment",
            FaultKind::Bound => "bound",
            FaultKind::Interrupt => "interrupt",
        }
    }
}

/// A kind of operation of the supervisor for users, other than faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// A line from a terminal.
    LineIn,
    /// A line to a terminal.
    LineOut,
    /// The creation of a process.
    ProcessCreation,
    /// A call through a protection wall.
    WallCrossing,
    /// A message from or to the network.
    NetworkMessage,
}

impl Primitive {
    /// Every primitive.
    pub const ALL: [Primitive; 5] =
        [Primitive::LineIn, Primitive::LineOut, Primitive::ProcessCreation, Primitive::WallCrossing, Primitive::NetworkMessage];

    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            Primitive::LineIn => "line in",
            Primitive::LineOut => "line out",
            Primitive::ProcessCreation => "process creation",
            Primitive::WallCrossing => "wall crossing",
            Primitive::NetworkMessage => "network message",
        }
    }
}

/// Count and times of the faults of one kind, or of the primitives of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTally {
    /// Number of events.
    pub count: u64,
    /// Processor time of handling the events.
    pub cpu_ns: u64,
    /// Further time in which the processes waited.
    pub wait_ns: u64,
    /// Distribution of the time from each event until the process could run again.
    pub durations: Durations,
}

impl EventTally {
    /// Adds an event.
    pub fn add(&mut self, cpu_ns: u64, wait_ns: u64) {
        self.count += 1;
        self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns);
        self.wait_ns = self.wait_ns.saturating_add(wait_ns);
        self.durations.add(cpu_ns.saturating_add(wait_ns));
    }
}

/// A store's meters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreMeter {
    /// Number of requests.
    pub requests: u64,
    /// Service of all servers together.
    pub busy_ns: u64,
    /// Number of servers that can be busy at once; `u32::MAX`: a delay.
    pub servers: u32,
    /// Requests queued and in service now.
    pub length: u64,
    /// Integral of that number over time, in request nanoseconds. Divided by the time, it is the mean length.
    pub length_ns: u128,
}

impl StoreMeter {
    /// Sum of the times that requests have waited before service.
    pub fn wait_ns(&self) -> u128 {
        self.length_ns.saturating_sub(u128::from(self.busy_ns))
    }
}

/// A number of processes, and its integral over time in process nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelMeter {
    /// The present number.
    pub now: u64,
    /// The integral. Divided by the time, it is the mean number.
    pub integral_ns: u128,
}

/// All meters of a machine at an instant. Counts and times begin with the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineMeters {
    /// The instant.
    pub at: u64,
    /// Times by processor and category (with [`Category`] as index). Those of a processor add up to `at`.
    pub time_ns: Vec<[u64; Category::COUNT]>,
    /// Meters of the stores, in the order of the machine's file.
    pub stores: Vec<StoreMeter>,
    /// Processes that can run and do not.
    pub ready: LevelMeter,
    /// Processes that are eligible (multiprogrammed).
    pub eligible: LevelMeter,
    /// Processes that ask to be eligible and are not.
    pub asking: LevelMeter,
    /// Processes whose command is not answered.
    pub active: LevelMeter,
    /// Faults, with [`FaultKind`] as index.
    pub faults: [EventTally; 4],
    /// Major faults by command, in the order of the machine's file.
    pub command_faults: Vec<u64>,
    /// Primitives, with [`Primitive`] as index.
    pub primitives: [EventTally; 5],
    /// Number of times that a processor was given to a process.
    pub dispatches: u64,
    /// Number of times that a process lost its processor to another that had just become ready.
    pub preemptions: u64,
    /// Number of interactions that are over.
    pub interactions: u64,
    /// Number of simulated events: ends of think times, of turns and bursts on a processor, and of services of stores.
    pub events: u64,
}

impl MachineMeters {
    /// Time of all processors together in a category.
    pub fn total_ns(&self, category: Category) -> u64 {
        self.time_ns.iter().map(|processor| processor[category as usize]).sum()
    }
}
