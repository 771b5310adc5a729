//! What a simulated machine's meters tell: cumulative counts and times since its beginning, as a snapshot at any moment.
//!
//! A processor is in exactly one category at a time; each change of category closes a span at the present nanosecond, so the times of
//! a processor's categories add up to the machine's time without a remainder.

pub use durations::Durations;
pub use level::Level;
pub use memory::{DeviceMeter, HolderMeter, MemoryMeter, WORD_BYTES};

mod durations;
mod level;
mod memory;

/// What a processor does with its time.
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
    /// Choosing a process and switching to it.
    Getwork,
    /// Lines from and to terminals.
    Terminal,
    /// Crossing protection walls.
    WallCrossing,
    /// Messages and bytes from and to the network.
    Network,
    /// Making processes.
    ProcessCreation,
    /// Idle: nobody wants a processor.
    IdleZero,
    /// Idle: a program is being brought in.
    IdleLoading,
    /// Idle: somebody could run, and is not eligible.
    IdleNotEligible,
    /// Idle: somebody could run, and a quota keeps him from it. No simulated machine has quotas; a host does.
    IdleGoverned,
    /// Idle: somebody waits for a page.
    IdlePageWait,
    /// Idle: somebody waits for another device.
    IdleDiskWait,
    /// Idle: somebody is woken and does not run yet. On a simulated machine that takes processor time, so this is nothing.
    IdleDispatch,
}

impl Category {
    /// How many there are.
    pub(crate) const COUNT: usize = Category::ALL.len();

    /// Every category, in the order of a table of total time.
    pub const ALL: [Category; 17] = [
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
        Category::IdleZero,
        Category::IdleLoading,
        Category::IdleNotEligible,
        Category::IdleGoverned,
        Category::IdlePageWait,
        Category::IdleDiskWait,
        Category::IdleDispatch,
    ];

    /// Its name in records.
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
            Category::IdleZero => "idle zero",
            Category::IdleLoading => "idle loading",
            Category::IdleNotEligible => "idle not eligible",
            Category::IdleGoverned => "idle governed",
            Category::IdlePageWait => "idle page wait",
            Category::IdleDiskWait => "idle disk wait",
            Category::IdleDispatch => "idle dispatch",
        }
    }

    /// Whether the processor does nothing.
    pub(crate) fn is_idle(self) -> bool {
        self as usize >= Category::IdleZero as usize
    }
}

/// Faults of a kind.
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

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Major => "major",
            FaultKind::Segment => "segment",
            FaultKind::Bound => "bound",
            FaultKind::Interrupt => "interrupt",
        }
    }
}

/// What the supervisor does for users beside faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// A line from a terminal.
    LineIn,
    /// A line to a terminal.
    LineOut,
    /// Making a process.
    ProcessCreation,
    /// Crossing a wall.
    WallCrossing,
    /// A message from or to the network.
    NetworkMessage,
}

impl Primitive {
    /// Every primitive.
    pub const ALL: [Primitive; 5] =
        [Primitive::LineIn, Primitive::LineOut, Primitive::ProcessCreation, Primitive::WallCrossing, Primitive::NetworkMessage];

    /// Its name in records.
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

/// Faults of one kind, or primitives of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Processor time of handling them.
    pub cpu_ns: u64,
    /// What their processes waited for them, beside that.
    pub wait_ns: u64,
    /// How long each took: from the fault to when the process can run again.
    pub durations: Durations,
}

impl Tally {
    /// One more.
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
    /// Requests that it has been given.
    pub requests: u64,
    /// Service given by all its servers together.
    pub busy_ns: u64,
    /// How many can be busy at once; `u32::MAX`: a delay.
    pub servers: u32,
    /// Requests queued and in service now.
    pub length: u64,
    /// The integral of that number over time, in request nanoseconds; over the time, the mean length.
    pub length_ns: u128,
}

impl StoreMeter {
    /// Time that requests have spent before service, all together.
    pub fn wait_ns(&self) -> u128 {
        self.length_ns.saturating_sub(u128::from(self.busy_ns))
    }
}

/// A number of processes: now, and its integral over time in process nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelMeter {
    /// How many now.
    pub now: u64,
    /// Over the time, the mean number.
    pub integral_ns: u128,
}

/// All of a machine's meters at a moment; everything counts from the machine's beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Meters {
    /// The moment.
    pub at: u64,
    /// Time by processor and category (by [`Category`] as index); each processor's add up to `at`.
    pub time_ns: Vec<[u64; Category::COUNT]>,
    /// By store, in the order of the machine's file.
    pub stores: Vec<StoreMeter>,
    /// Processes that can run and do not.
    pub ready: LevelMeter,
    /// Processes that are eligible (multiprogrammed).
    pub eligible: LevelMeter,
    /// Processes that ask to be eligible and are not.
    pub asking: LevelMeter,
    /// Processes with a command in hand.
    pub active: LevelMeter,
    /// By [`FaultKind`] as index.
    pub faults: [Tally; 4],
    /// Major faults by command, in the order of the machine's file.
    pub command_faults: Vec<u64>,
    /// By [`Primitive`] as index.
    pub primitives: [Tally; 5],
    /// Dispatches: how often a processor was given to a process.
    pub dispatches: u64,
    /// How often a process lost its processor to another that had just become ready.
    pub preemptions: u64,
    /// Interactions that are over.
    pub interactions: u64,
    /// Events of the model: ends of think times, of turns and bursts on a processor, of services of stores.
    pub events: u64,
}

impl Meters {
    /// Time of all processors together in a category.
    pub fn total_ns(&self, category: Category) -> u64 {
        self.time_ns.iter().map(|processor| processor[category as usize]).sum()
    }
}
