//! What a machine file says, checked: processors, memory, storage, the supervisor's costs, and what each command needs.
//!
//! Spans are nanoseconds of a processor of speed 1; the engine divides processor time by [`Processors::speed`]. Costs that a file
//! gives in instructions are spans by the time they are here.

mod command;

use super::draw::Draw;

pub use command::{Amount, Command, Route, Stage};

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its title, for reports.
    pub title: String,
    /// Where its figures are from, in words.
    pub source: String,
    /// Its processors.
    pub processors: Processors,
    /// How programs come to be in its memory.
    pub residence: Residence,
    /// How many may be multiprogrammed.
    pub limit: Limit,
    /// Its storage devices; others refer to them by index.
    pub stores: Vec<Store>,
    /// What the supervisor does, and what processor time that takes.
    pub supervisor: Supervisor,
    /// The price of an hour of processor time by shift, in order; may be empty.
    pub tariff: Vec<(String, f64)>,
    /// The price of an hour of swapping or page waiting, where that is charged.
    pub paging_wait_hour: f64,
    /// What each command needs.
    pub commands: Vec<Command>,
    /// Index into `commands` of the one for names that are not there (`[commands."*"]`).
    pub any_command: Option<usize>,
    /// The machine's own load, for a file that needs no script.
    pub load: Vec<Class>,
    /// How its values were found from runs, and how surely; `None` where they were not. It changes nothing that happens.
    pub fit: Option<Fit>,
}

impl Machine {
    /// Of each command, the index of the first command that is the same program.
    pub fn programs(&self) -> Vec<u32> {
        let program = |command: &Command| if command.program.is_empty() { &command.name } else { &command.program }.clone();
        let all: Vec<String> = self.commands.iter().map(program).collect();
        let first = |program| all.iter().position(|other| other == program).expect("it is one of them") as u32;
        all.iter().map(first).collect()
    }
}

/// The processors and who gets them.
#[derive(Clone, Debug, PartialEq)]
pub struct Processors {
    /// How many; at least 1.
    pub count: u32,
    /// Relative speed: processor times are divided by it.
    pub speed: f64,
    /// Instructions a second of a processor of speed 1, where the file says: costs in instructions are spans by it.
    pub instructions_per_second: Option<f64>,
    /// Who runs next, and for how long.
    pub discipline: Discipline,
}

/// Who runs next, and for how long.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence tells its fields")]
pub enum Discipline {
    /// In the order of coming, until it waits or is done.
    FirstCome,
    /// All at once, each at an equal share of the processors (a processor at most).
    Sharing,
    /// In turn, for a quantum each; `switch_ns` of processor time are lost at each dispatch of another than the last.
    RoundRobin { quantum_ns: u64, switch_ns: u64 },
    /// The lowest priority number first; in the order of coming among equals.
    Priority { preemptive: bool },
    /// CTSS's exponential queues (Corbató 1962): level by size, 2^level quanta, lower levels pre-empt.
    Ctss { quantum_ns: u64, words_per_quantum: u64, levels: u32 },
    /// Multics before 1975: a list ordered by ti, low first; eligibility for a quantum te, first `first_ns`, then `last_ns`.
    Multics { first_ns: u64, last_ns: u64, most_ns: u64 },
    /// TENEX's scheduler 1.28: queues with quanta and base priorities; blocked time is credited.
    Tenex { queues: Vec<TenexQueue>, credit_ns: u64 },
    /// A fair share as Linux (EEVDF's earliest virtual deadline): slices of `slice_ns`, weights by the command's `nice`,
    /// `switch_ns` lost at each dispatch of another than the last.
    Linux { slice_ns: u64, switch_ns: u64 },
}

/// One of TENEX's queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TenexQueue {
    /// The time on it.
    pub quantum_ns: u64,
    /// The priority at its beginning; low is good.
    pub base: f64,
    /// The priority falls (gets better) by time on the queue in ms >> this.
    pub shift: u32,
}

/// How programs come to be in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Residence {
    /// Everything always is.
    Everything,
    /// Whole programs are swapped.
    Swapping(Swapping),
    /// Pages come on demand.
    Paging(Paging),
}

/// Whole programs are swapped: one at a time is in core and runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Swapping {
    /// Words for programs.
    pub words: u64,
    /// Where programs are swapped to and from.
    pub store: usize,
    /// Where a program comes from the first time that a user gives it after another one.
    pub first: Option<usize>,
    /// Words of machine conditions moved with each program.
    pub conditions_words: u64,
    /// Only as much of the outgoing program is dumped as the incoming one needs (onion skin); else all of it.
    pub onion_skin: bool,
}

/// Demand paging.
#[derive(Clone, Debug, PartialEq)]
pub struct Paging {
    /// Page frames in all.
    pub frames: u32,
    /// Of these, held by the supervisor for good.
    pub wired: u32,
    /// Words a frame.
    pub frame_words: u32,
    /// Who loses a frame.
    pub replacement: Replacement,
    /// Processor time between page faults by pages held.
    pub headway: Headway,
    /// The part of the pages taken that must be written out, 0 to 1.
    pub dirty: f64,
    /// The paging device.
    pub store: usize,
    /// What is behind the paging device, and how many pages the device itself holds.
    pub behind: Option<Behind>,
}

/// What is behind a paging device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behind {
    /// The store behind.
    pub store: usize,
    /// Pages that the paging device holds.
    pub pages: u32,
}

/// Who loses a frame when none is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The page that was used the longest ago, over all processes.
    Lru,
    /// Clock with second chance over all frames.
    Clock,
    /// Nobody: each multiprogrammed process has an equal share, frames over the limit, and keeps it (for models with an exact answer).
    Equal,
}

/// Mean processor time between page faults, by the pages that a process holds.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence tells its fields")]
pub enum Headway {
    /// Saltzer's linear law: so much for each page held.
    Linear { ns_per_page: f64 },
    /// Chamberlin's curve 2b / (1 + (c/x)^2).
    Chamberlin { b_ns: f64, c_pages: f64 },
    /// Points (pages, ns), rising in both; straight lines between them, level beyond them.
    Curve(Vec<(f64, f64)>),
}

/// How many processes may be multiprogrammed.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence tells its fields")]
pub enum Limit {
    /// All.
    None,
    /// So many.
    Fixed(u32),
    /// As many as their working sets fit (TENEX's balance set; Multics with its control on), at most `most`.
    WorkingSets { most: u32 },
    /// The number that keeps a store so busy (0 to 1), looked at every `every_ns`, between 1 and `most`.
    DeviceBusy { store: usize, target: f64, every_ns: u64, most: u32 },
}

/// A storage device.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// Its name in the file.
    pub name: String,
    /// What it is.
    pub kind: StoreKind,
    /// Whether the end of a transfer interrupts a processor.
    pub interrupts: bool,
}

/// What a storage device is.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the variant's sentence tells its fields")]
pub enum StoreKind {
    /// A general server: one queue in the order of coming, `servers` at once (`u32::MAX`: a delay), each request this long.
    Server { service: Draw, servers: u32 },
    /// A drum; with `sectors`, a page a sector and a queue for each; without, a latency and `words_per_second`.
    Drum { revolution_ns: u64, sectors: Option<u32>, words_per_second: Option<f64> },
    /// Bulk store: an access and `words_per_second`, `channels` at once.
    Bulk { access_ns: u64, words_per_second: Option<f64>, channels: u32 },
    /// Disk units behind channels: a seek on the unit, then rotation and transfer with a channel held.
    Disk { seek: Draw, revolution_ns: u64, words_per_second: f64, units: u32, channels: u32 },
}

/// What the supervisor does, in processor time (ns at speed 1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supervisor {
    /// A page fault, by its steps in order, each with its name.
    pub page_fault: Vec<(String, u64)>,
    /// A segment fault.
    pub segment_fault_ns: u64,
    /// A bound fault.
    pub bound_fault_ns: u64,
    /// An interrupt of a storage device that ends a transfer.
    pub device_interrupt_ns: u64,
    /// Choosing a process and switching to it, at each dispatch of another process than the last.
    pub getwork_ns: u64,
    /// Crossing a protection wall (ring).
    pub wall_crossing_ns: u64,
    /// A line coming in from a terminal.
    pub line_in_ns: u64,
    /// A line going out to a terminal.
    pub line_out_ns: u64,
    /// Making a process (a log-in, or a command that needs one).
    pub process_creation_ns: u64,
    /// A byte to or from the network, by the byte calls (BIN and BOUT).
    pub network_byte_ns: u64,
    /// A message to or from the network.
    pub network_message_ns: u64,
    /// Bytes a message; 0 where there is no network.
    pub message_bytes: u32,
    /// The table of active segments.
    pub table: Option<SystemTable>,
}

/// A table of the supervisor whose entries all users share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SystemTable {
    /// Entries in all.
    pub entries: u32,
    /// Entries that a user's session needs.
    pub per_user: u32,
    /// What happens when they run out.
    pub full: WhenTableFull,
}

/// What happens when the system table is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenTableFull {
    /// A log-in is refused.
    Refuse,
    /// The entry used the longest ago is taken, and its user has a segment fault at the next use.
    Take,
}

/// A class of the machine's own users.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// How they come.
    pub population: Population,
    /// Between an answer and the next command (closed classes).
    pub think: Draw,
    /// What they give, one after the other, again and again: indices into `commands`.
    pub commands: Vec<usize>,
}

/// How the users of a class come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Population {
    /// So many, who stay.
    Closed(u32),
    /// At this rate a second, each for one interaction.
    Open(f64),
}

/// How a machine's values were found from runs, for whoever predicts with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The script of the runs.
    pub script: String,
    /// The runs, by their ids.
    pub runs: Vec<String>,
    /// How many users each had.
    pub users: Vec<u32>,
    /// How many interactions they had in all.
    pub interactions: u32,
    /// What could not be known from the runs, and was assumed.
    pub assumed: Vec<String>,
    /// The values that were found.
    pub parameters: Vec<Parameter>,
    /// The covariance of the natural logarithms of the parameters: a row for each; empty where it is not known.
    pub covariance: Vec<Vec<f64>>,
}

/// A value of a machine that was found from runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The key under which it stands in the machine file, as a command line sets it.
    pub key: String,
    /// What of the law there: its `mean`, or its `spread` (standard deviation over mean).
    pub of: String,
    /// The value, with its unit.
    pub value: String,
    /// The end of its interval below, with its unit.
    pub low: Option<String>,
    /// The end of its interval above.
    pub high: Option<String>,
    /// Where it is from, in words.
    pub source: String,
}
