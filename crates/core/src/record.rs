//! The door to the run folder: what is recorded, row by row, as it happens.
//!
//! One struct a table, one field a column, in the units of `docs/run-folder.md`; raw values, no means, no buckets.

use std::sync::Arc;

pub use crate::load::Phase;
use crate::system::{Usage, UserId};
use crate::time::Instant;

/// How an interaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The system became ready, and the exit status was one that the script accepts.
    Ok,
    /// The system became ready, but the exit status was not one that the script accepts.
    Failed,
    /// The system took longer than the line's timeout.
    Timeout,
    /// The session ended during the interaction.
    Died,
    /// Only silence said that the system was ready.
    Unconfirmed,
    /// Computed for a user that died, never measured.
    Extrapolated,
}

/// A row of `interactions`: one line, until the system is ready again.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction<'a> {
    /// Who typed.
    pub user: UserId,
    /// The user's pass through the script, from 1.
    pub pass: u32,
    /// The line's number in the script, from 1.
    pub line: u32,
    /// The line's row in the report.
    pub command: &'a str,
    /// When the line was due to be sent.
    pub planned: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// When the first byte after the echo came.
    pub first_output: Option<Instant>,
    /// When the system was ready again; `None` when it never was.
    pub ready: Option<Instant>,
    /// From the first key to the sending.
    pub typing_ns: u64,
    /// From the prompt to the first key, as measured.
    pub think_ns: u64,
    /// What the system used.
    pub usage: Usage,
    /// Bytes of output.
    pub bytes_out: u64,
    /// The command's exit status.
    pub exit_status: Option<u8>,
    /// How it ended.
    pub outcome: Outcome,
    /// The part of the run in which it was sent.
    pub phase: Phase,
}

/// A row of `sessions`: one user's stay on the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Who logged in.
    pub user: UserId,
    /// When the log-in was due (an open load counts from here).
    pub planned: Instant,
    /// When it was begun.
    pub started: Instant,
    /// When the first prompt was there; `None` when it never was.
    pub ready: Option<Instant>,
    /// When the session was over.
    pub ended: Instant,
    /// How it ended: `done`, `died`, `refused`, `stopped`.
    pub outcome: &'static str,
}

/// A row of `lost`: something that the records do not hold, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// When.
    pub at: Instant,
    /// Whose, if a user's.
    pub user: Option<UserId>,
    /// `session` (died), `log-in` (refused), `usage` (a meter overran), `record` (could not be written).
    pub what: &'static str,
    /// How many.
    pub count: u64,
    /// What happened, in words.
    pub reason: String,
}

/// A row of `time`: what one processor did in a span, one category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The processor; `None`: all of them.
    pub processor: Option<u16>,
    /// On a host `user`, `nice`, `system`, `irq`, `softirq`, `steal`, `iowait` or `idle`; a simulated machine's own (`docs/run-folder.md`).
    pub category: &'static str,
    /// The part of the span in this category; the categories of a processor add up to the span.
    pub time_ns: u64,
}

/// The parts that everything belongs to in [`ProcessRow::who`]; every other name there is that of processes.
pub const PARTS: [&str; 4] = ["users", "driver", "meters", "supervisor"];

/// How processes called `name` are called in [`ProcessRow::who`]: as they are, but never as one of [`PARTS`] is.
pub fn process_name(name: &str) -> Arc<str> {
    if PARTS.contains(&name) { format!("{name} (process)").into() } else { name.into() }
}

/// A row of `processes`: who used the processors in a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// One of [`PARTS`], or the name of processes (see [`process_name`]), whose time is then part of the others' rows.
    pub who: Arc<str>,
    /// Their processor time in the span.
    pub cpu_ns: u64,
    /// Their memory at the end of the span.
    pub memory_bytes: Option<u64>,
    /// The user whose processes these are; `None`: of all, or of nobody.
    pub user: Option<UserId>,
    /// How long they were ready to run and waited for a processor in the span.
    pub ready_wait_ns: Option<u64>,
}

/// A row of `faults`: faults of one kind in a span; all of them, or those that took a time of one bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// `major`, `minor`, `swap-in`, `write-protect`, `segment`, `bound`, `interrupt`, `soft interrupt`; `minor`, `major` and the
    /// last two with ` unclocked` behind them: counted by the kernel, seen by no program of the meters.
    pub kind: &'static str,
    /// Which interrupt: its device, or the kind of the soft interrupt; `None`: all of the kind, and faults.
    pub device: Option<Arc<str>>,
    /// Whose; `None`: of all users together.
    pub user: Option<UserId>,
    /// In which command; `None`: in all.
    pub command: Option<Arc<str>>,
    /// The shortest time of this row's bucket of a log-linear histogram; `None`: faults of any time.
    pub bucket_ns: Option<u64>,
    /// How many.
    pub count: u64,
    /// Processor time of handling them; of a row without a bucket only.
    pub cpu_ns: Option<u64>,
    /// What the faulting processes waited for them, beside that; of a row without a bucket only.
    pub wait_ns: Option<u64>,
}

/// A row of `segments`: faults on one thing that is paged (a mapped file on a host, a command's pages on a simulated machine).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// What is paged.
    pub segment: Arc<str>,
    /// Whose; `None`: of all users together.
    pub user: Option<UserId>,
    /// Faults without I/O.
    pub faults_minor: Option<u64>,
    /// Faults that waited for a device.
    pub faults_major: Option<u64>,
    /// How often a clock-driven profile found the processor in it.
    pub samples: Option<u64>,
}

/// A row of `primitives`: what the system did of one kind (a system call, a wall crossing) in a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimitiveRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// What was done.
    pub name: Arc<str>,
    /// Whose; `None`: of all users together.
    pub user: Option<UserId>,
    /// In which command; `None`: in all.
    pub command: Option<Arc<str>>,
    /// As in [`FaultRow`].
    pub bucket_ns: Option<u64>,
    /// How often.
    pub count: u64,
    /// How often it failed.
    pub errors: Option<u64>,
    /// The time that it took in all; of a row without a bucket only.
    pub time_ns: Option<u64>,
    /// How much of that it was off the processor; of a row without a bucket only.
    pub wait_ns: Option<u64>,
    /// Page faults meanwhile; of a row without a bucket only.
    pub faults: Option<u64>,
}

/// A row of `stacks`: where a clock found the processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// Whose; `None`: of nobody who is a user.
    pub user: Option<UserId>,
    /// In which command; `None`: in none.
    pub command: Option<Arc<str>>,
    /// The name of the process.
    pub process: Arc<str>,
    /// Its functions, folded: the outermost first, `;` between them; each as its segment, a backquote and its name.
    pub stack: Arc<str>,
    /// How often it was found there.
    pub samples: u64,
}

/// A row of `queue`: one measure of one queue in a span.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// `processors`, or a storage device's name.
    pub queue: Arc<str>,
    /// What is measured: means over the span, or counts in it (`docs/run-folder.md`).
    pub measure: &'static str,
    /// How much.
    pub value: f64,
}

/// How memory that is nobody's is called in [`MemoryRow::who`].
pub const FREE: &str = "free";

/// How all memory is called in [`MemoryRow::who`] that is in no other row.
pub const OTHERS: &str = "others";

/// A row of `memory`: what somebody holds of it at the end of a span, and what was taken from him in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span; of many users' rows, which come in turns, since the row of that user before.
    pub span_ns: u64,
    /// `users`, `driver`, `others`, `free`, `file cache`, or the name of a paging device.
    pub who: Arc<str>,
    /// The user whose it is; `None`: no user's.
    pub user: Option<UserId>,
    /// What he holds of memory.
    pub resident_bytes: Option<u64>,
    /// What of his lies on a paging device; of a device, what of it is used.
    pub device_bytes: Option<u64>,
    /// Of a device, its size; of what is free, all memory.
    pub size_bytes: Option<u64>,
    /// Page frames that were taken from him in the span, by page replacement.
    pub taken_pages: Option<u64>,
    /// Pages that were brought in for him in the span, from a paging device or a file.
    pub brought_pages: Option<u64>,
}

impl MemoryRow {
    /// A row of which nothing is known yet.
    pub fn of(at: Instant, span_ns: u64, who: Arc<str>) -> MemoryRow {
        MemoryRow {
            at,
            span_ns,
            who,
            user: None,
            resident_bytes: None,
            device_bytes: None,
            size_bytes: None,
            taken_pages: None,
            brought_pages: None,
        }
    }
}

/// What the meters tell of one span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Rows of `time`.
    pub time: Vec<TimeRow>,
    /// Rows of `processes`.
    pub processes: Vec<ProcessRow>,
    /// Rows of `faults`.
    pub faults: Vec<FaultRow>,
    /// Rows of `segments`.
    pub segments: Vec<SegmentRow>,
    /// Rows of `primitives`.
    pub primitives: Vec<PrimitiveRow>,
    /// Rows of `queue`.
    pub queue: Vec<QueueRow>,
    /// Rows of `stacks`.
    pub stacks: Vec<StackRow>,
    /// Rows of `memory`.
    pub memory: Vec<MemoryRow>,
}

impl Sample {
    /// How many rows it has, and when the first of them ends.
    pub fn rows(&self) -> (u64, Instant) {
        let counts = [self.time.len(), self.processes.len(), self.faults.len(), self.segments.len()];
        let count =
            counts.iter().sum::<usize>() + self.primitives.len() + self.queue.len() + self.stacks.len() + self.memory.len();
        (count as u64, self.time.first().map_or(Instant(0), |row| row.at))
    }
}

/// What the driver records.
pub trait Recorder {
    /// An interaction is over.
    fn interaction(&mut self, row: &Interaction<'_>);
    /// A session is over.
    fn session(&mut self, row: &Session);
    /// Something is lost.
    fn lost(&mut self, row: &Lost);
    /// The run has entered `phase` at `at`.
    fn phase(&mut self, phase: Phase, at: Instant);
    /// So many users are logged in now; for whoever watches, not recorded.
    fn logged_in(&mut self, _users: u32) {}
    /// Whether what is recorded is enough: asked after each interaction, the load then ends as when its time is up.
    fn enough(&self) -> bool {
        false
    }
}
