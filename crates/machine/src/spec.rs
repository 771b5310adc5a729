//! The contents of a machine file as checked values: processors, memory, storage, the supervisor's costs, and each command's work.
//!
//! Spans are nanoseconds of a processor of speed 1; the engine divides processor time by [`ProcessorSpec::speed`]. A file may
//! give costs in instructions, which are spans here.

mod command;

use super::devices::StoreKind;
use super::draw::AmountLaw;

pub use command::{Amount, Command, Route, RouteStage};

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Title for reports.
    pub title: String,
    /// Source of the machine's figures, in words.
    pub source: String,
    /// The processors.
    pub processors: ProcessorSpec,
    /// The way in which programs are in memory.
    pub residence: Residence,
    /// The limit of multiprogramming.
    pub limit: EligibilityLimit,
    /// The storage devices; other values refer to them by index.
    pub stores: Vec<Store>,
    /// Processor times of the supervisor's operations.
    pub supervisor: Supervisor,
    /// The price of an hour of processor time by shift, in order; may be empty.
    pub tariff: Vec<(String, f64)>,
    /// The price of an hour of swapping or page waits; 0 if they are not charged.
    pub paging_wait_hour: f64,
    /// The commands.
    pub commands: Vec<Command>,
    /// Index of the command for all other names (`[commands."*"]`).
    pub any_command: Option<usize>,
    /// The machine's own users, for runs without a script.
    pub load: Vec<UserClass>,
    /// The fit of the machine's values to runs; `None` if they were not fitted. It does not change the simulation.
    pub fit: Option<Fit>,
}

impl Machine {
    /// For each command, the index of the first command that is the same program.
    pub fn programs(&self) -> Vec<u32> {
        let program = |command: &Command| if command.program.is_empty() { &command.name } else { &command.program }.clone();
        let programs: Vec<String> = self.commands.iter().map(program).collect();
        let first = |program| programs.iter().position(|other| other == program).expect("a list has its own elements") as u32;
        programs.iter().map(first).collect()
    }
}

/// The processors and their scheduling.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessorSpec {
    /// Number of processors; at least 1.
    pub count: u32,
    /// Relative speed: processor times are divided by it.
    pub speed: f64,
    /// Instructions a second of a processor of speed 1, which turn costs in instructions into spans; `None` if not in the file.
    pub instructions_per_second: Option<f64>,
    /// The scheduling discipline.
    pub discipline: Discipline,
    /// Processor time of a command's own work that begins while all processors are busy, over that while all are idle; `None`: 1.
    ///
    /// Between the two it changes in proportion to the load. A command may have its own value.
    pub cpu_when_busy: Option<f64>,
}

/// A scheduling discipline: which process runs next, and for how long.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence describes its fields")]
pub enum Discipline {
    /// Processes run in the order of arrival, each until it waits or is done.
    FirstCome,
    /// All processes run at once, each at an equal share of the processors, and at most at one processor's speed.
    Sharing,
    /// Processes run in turn, each for a quantum. Each dispatch costs `dispatch_ns`, and one of another process than the last
    /// `switch_ns` more.
    RoundRobin { quantum_ns: u64, switch_ns: u64, dispatch_ns: u64 },
    /// The lowest priority number runs first; equal numbers in the order of arrival.
    Priority { preemptive: bool },
    /// CTSS's exponential queues (Corbató 1962): a level by size, 2^level quanta, and lower levels pre-empt.
    ///
    /// A program that has waited for `rise_ns` rises by a level; 0: none does.
    Ctss { quantum_ns: u64, words_per_quantum: u64, levels: u32, rise_ns: u64 },
    /// Multics before 1975: a list ordered by ti, low first; eligibility for a quantum te, first `first_ns`, then `last_ns`.
    Multics { first_ns: u64, last_ns: u64, most_ns: u64 },
    /// TENEX's scheduler 1.28: queues with quanta and base priorities; blocked time is credited.
    Tenex { queues: Vec<TenexQueue>, credit_ns: u64 },
    /// Linux's fair share (EEVDF, the earliest virtual deadline): slices of `slice_ns`, weights by the command's `nice`.
    ///
    /// A slice ends at a tick of `tick_ns`, or exactly with 0. A dispatch of another process than the last costs `switch_ns`. A
    /// kernel that `packs` leaves a woken process at its last processor, though another idles.
    Linux { slice_ns: u64, tick_ns: u64, switch_ns: u64, packs: bool },
}

/// A queue of TENEX.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TenexQueue {
    /// Processor time that a process has on the queue.
    pub quantum_ns: u64,
    /// Priority at the beginning; low is good.
    pub base: f64,
    /// Speed at which the priority falls and so gets better: by the time on the queue in ms >> `shift`.
    pub shift: u32,
}

/// The way in which programs are in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Residence {
    /// All programs are always in memory.
    Everything,
    /// Whole programs are swapped.
    Swapping(Swapping),
    /// Pages are brought in on demand.
    Paging(Paging),
}

/// Swapping of whole programs: one program at a time is in core memory and runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Swapping {
    /// Words for programs.
    pub words: u64,
    /// The store for swapped programs.
    pub store: usize,
    /// The store from which a program is loaded when a user types it after another command.
    pub first: Option<usize>,
    /// Words of machine conditions moved with each program.
    pub conditions_words: u64,
    /// Whether only the words that the incoming program needs are dumped (onion skin); otherwise the whole program is dumped.
    pub onion_skin: bool,
}

/// Demand paging.
#[derive(Clone, Debug, PartialEq)]
pub struct Paging {
    /// Number of page frames.
    pub frames: u32,
    /// Number of frames that the supervisor always holds.
    pub wired: u32,
    /// Words of a frame.
    pub frame_words: u32,
    /// The rule of page replacement.
    pub replacement: Replacement,
    /// Processor time between page faults, by the number of pages that a process holds.
    pub headway: HeadwaySpec,
    /// Share of the replaced pages that must be written out, 0 to 1.
    pub dirty: f64,
    /// The paging device.
    pub store: usize,
    /// The store behind the paging device, if the paging device does not hold all pages.
    pub behind: Option<BackingStore>,
}

/// The store behind a paging device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackingStore {
    /// The store.
    pub store: usize,
    /// Pages that the paging device holds.
    pub pages: u32,
}

/// Page replacement: which page is taken when no frame is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The page that was used the longest ago, over all processes.
    Lru,
    /// Clock with second chance over all frames.
    Clock,
    /// No page of another process: each multiprogrammed process has an equal share of the frames for good.
    ///
    /// The share is the number of frames divided by the limit. Such models have an exact answer.
    Equal,
}

/// Mean processor time between page faults, by the number of pages that a process holds.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence describes its fields")]
pub enum HeadwaySpec {
    /// Saltzer's linear law: `ns_per_page` for each page that the process holds.
    Linear { ns_per_page: f64 },
    /// Chamberlin's curve 2b / (1 + (c/x)^2).
    Chamberlin { b_ns: f64, c_pages: f64 },
    /// Points (pages, ns) that rise in both, with straight lines between them and constant values beyond them.
    Curve(Vec<(f64, f64)>),
}

/// The limit of multiprogramming, the number of eligible processes.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence describes its fields")]
pub enum EligibilityLimit {
    /// No limit.
    None,
    /// A fixed number.
    Fixed(u32),
    /// As many processes as have room for their working sets, at most `most` (TENEX's balance set; Multics with its control on).
    WorkingSets { most: u32 },
    /// The number between 1 and `most` that keeps a store `target` busy (0 to 1), adjusted every `every_ns`.
    DeviceBusy { store: usize, target: f64, every_ns: u64, most: u32 },
}

/// A storage device.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// Name of the store in the file.
    pub name: String,
    /// Kind of device.
    pub kind: StoreKind,
    /// Whether the end of a request interrupts a processor.
    pub interrupts: bool,
}

/// Processor times of the supervisor's operations, in ns at speed 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supervisor {
    /// The steps of a page fault in order, each with its name.
    pub page_fault: Vec<(String, u64)>,
    /// A segment fault.
    pub segment_fault_ns: u64,
    /// A bound fault.
    pub bound_fault_ns: u64,
    /// An interrupt at the end of a storage device's request.
    pub device_interrupt_ns: u64,
    /// The choice of a process and the switch to it, at each dispatch of another process than the last.
    pub getwork_ns: u64,
    /// A call through a protection wall (ring).
    pub wall_crossing_ns: u64,
    /// A line from a terminal.
    pub line_in_ns: u64,
    /// A line to a terminal.
    pub line_out_ns: u64,
    /// The creation of a process, for a log-in or for a command.
    pub process_creation_ns: u64,
    /// A byte to or from the network, by the calls for bytes (BIN and BOUT).
    pub network_byte_ns: u64,
    /// A message to or from the network.
    pub network_message_ns: u64,
    /// Bytes of a message; 0 if the machine has no network.
    pub message_bytes: u32,
    /// The table of active segments.
    pub table: Option<SystemTable>,
    /// The paths that one processor at a time goes through, each with the name of its lock.
    pub locks: Vec<(LockedPath, String)>,
    /// The payer of a device's interrupt.
    pub interrupt_charge: InterruptCharge,
    /// The payer of the choice of a process and the switch to it.
    pub getwork_charge: GetworkCharge,
}

/// A path of the supervisor that a lock may protect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedPath {
    /// Handling page faults.
    PageFault,
    /// Handling segment faults.
    SegmentFault,
    /// Handling bound faults.
    BoundFault,
    /// Interrupts of storage devices.
    DeviceInterrupt,
    /// The choice of a process and the switch to it.
    Getwork,
    /// The creation of processes.
    ProcessCreation,
}

impl LockedPath {
    /// Every path, with its key in a machine file.
    pub const ALL: [(&'static str, LockedPath); 6] = [
        ("page_fault", LockedPath::PageFault),
        ("segment_fault", LockedPath::SegmentFault),
        ("bound_fault", LockedPath::BoundFault),
        ("device_interrupt", LockedPath::DeviceInterrupt),
        ("getwork", LockedPath::Getwork),
        ("process_creation", LockedPath::ProcessCreation),
    ];
}

/// The payer of the processor time of a device's interrupt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptCharge {
    /// Nobody: the time is the machine's own.
    #[default]
    Nobody,
    /// The process that had the processor when the interrupt came, if there was one.
    Interrupted,
}

/// The payer of the processor time of the choice of a process and the switch to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GetworkCharge {
    /// The process that gets the processor.
    #[default]
    Next,
    /// Nobody: the time is the machine's own.
    Nobody,
}

/// A table of the supervisor whose entries all users share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemTable {
    /// Number of entries.
    pub entries: u32,
    /// Number of entries that a user's session needs.
    pub per_user: u32,
    /// The rule for a full table.
    pub full: WhenTableFull,
}

/// The rule for a full system table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenTableFull {
    /// A log-in is refused.
    Refuse,
    /// The least recently used entry is taken, and its user has a segment fault at the next use.
    Take,
}

/// A class of the machine's own users.
#[derive(Clone, Debug, PartialEq)]
pub struct UserClass {
    /// Name of the class.
    pub name: String,
    /// Number or rate of the users.
    pub population: Population,
    /// Think time between an answer and the next command, for closed classes.
    pub think: AmountLaw,
    /// Commands that each user types in this order, again and again: indices into the machine's `commands`.
    pub commands: Vec<usize>,
}

/// The number of users of a class, or the rate at which they arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Population {
    /// A number of users, who stay.
    Closed(u32),
    /// A rate of arrivals a second. Each user stays for one interaction.
    Open(f64),
}

/// The fit of a machine's values to runs, for predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The script of the runs.
    pub script: String,
    /// The ids of the runs.
    pub runs: Vec<String>,
    /// The number of users of each run.
    pub users: Vec<u32>,
    /// The number of interactions of all runs together.
    pub interactions: u32,
    /// Time of a piece of the reference work at the speed at which the values hold; empty if it is not known.
    pub reference: String,
    /// Assumptions about values that the runs do not show.
    pub assumed: Vec<String>,
    /// Reasons to doubt the fit, such as a mean response that the machine misses.
    pub warnings: Vec<String>,
    /// The fitted values.
    pub parameters: Vec<Parameter>,
    /// The covariance of the natural logarithms of the parameters, a row for each; empty if it is not known.
    pub covariance: Vec<Vec<f64>>,
}

/// A fitted value of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key in the machine file, as in `--set`.
    pub key: String,
    /// The property of the law: its `mean`, or its `spread` (standard deviation over mean).
    pub of: String,
    /// The value, with its unit.
    pub value: String,
    /// The lower end of the interval, with its unit.
    pub low: Option<String>,
    /// The upper end of the interval, with its unit.
    pub high: Option<String>,
    /// The source of the value, in words.
    pub source: String,
}
