//! The rows of a run folder's tables, and the interface through which the driver records them.
//!
//! Each table has a struct, each column a field, in the units of `docs/run-folder.md`. Values are raw: no means, no buckets.

mod lock_wait;
mod memory;
mod meter_price;
mod meter_window;
mod processor_speed;
mod user_limits;
mod window_event;
mod working_set;

use std::sync::Arc;

pub use crate::load::Phase;
use crate::system::{Barrier, Usage, UserId};
use crate::time::Instant;
pub use lock_wait::LockWaitRow;
pub use memory::{FREE_MEMORY, MemoryRow, OTHER_MEMORY};
pub use meter_price::MeterPriceRow;
pub use meter_window::MeterWindowRow;
pub use processor_speed::ProcessorSpeedRow;
pub use user_limits::{LimitCounts, UserLimitRow};
pub use window_event::WindowEventRow;
pub use working_set::WorkingSetRow;

/// How an interaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The system became ready, and the script accepts the exit status.
    Ok,
    /// The system became ready, but the script does not accept the exit status.
    Failed,
    /// The system took longer than the line's timeout.
    Timeout,
    /// The session ended during the interaction.
    Died,
    /// Only silence was the sign that the system was ready.
    Unconfirmed,
    /// Estimated for a user whose session died, not measured.
    Extrapolated,
}

/// A row of `interactions`: one line, from its sending until the system is ready again.
#[derive(Clone, Debug, PartialEq)]
pub struct InteractionRow<'a> {
    /// The user who typed.
    pub user: UserId,
    /// The user's pass through the script, from 1.
    pub pass: u32,
    /// The line's number in the script, from 1.
    pub line: u32,
    /// The command's name in the report.
    pub command: &'a str,
    /// When the line was due to be sent.
    pub planned: Instant,
    /// When the line was sent.
    pub sent: Instant,
    /// When the first byte after the echo was printed.
    pub first_output: Option<Instant>,
    /// When the system was ready again; `None` if it never was.
    pub ready: Option<Instant>,
    /// Time from the shell's reading of the line to its prompt, by the shell's own clock; `None` where no shell measures it.
    pub response_there_ns: Option<u64>,
    /// Time from the first key to the sending.
    pub typing_ns: u64,
    /// Measured time from the prompt to the first key.
    pub think_ns: u64,
    /// Resources that the interaction took.
    pub usage: Usage,
    /// Resources taken between the prompt and the sending, if the line was typed key by key.
    pub typing_usage: Usage,
    /// Processor time of `usage` for which the response had no room; 0 in a possible row.
    pub cpu_excess_ns: Option<u64>,
    /// Bytes of output.
    pub bytes_out: u64,
    /// The command's exit status.
    pub exit_status: Option<u8>,
    /// How the interaction ended.
    pub outcome: Outcome,
    /// The phase in which the line was sent.
    pub phase: Phase,
}

/// A row of `screens`: the end of what a terminal showed when a line failed, timed out or died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenRow {
    /// When the line ended.
    pub at: Instant,
    /// The user who typed.
    pub user: UserId,
    /// When the line was sent; with the user, the key of its row in `interactions`.
    pub sent: Instant,
    /// The sign of the ready system that the line waited for, as scripts write it.
    pub until: String,
    /// The last output since the sending, as the terminal got it.
    pub screen: String,
}

/// A row of `sessions`: one user's stay on the system.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// The user who logged in.
    pub user: UserId,
    /// When the log-in was due. Times of an open load count from here.
    pub planned: Instant,
    /// When the log-in was begun.
    pub started: Instant,
    /// When the first prompt was printed; `None` if it never was.
    pub ready: Option<Instant>,
    /// When the session ended.
    pub ended: Instant,
    /// How the session ended: `done`, `died`, `refused`, `stopped`.
    pub outcome: &'static str,
}

/// A row of `lost`: something that the records do not hold, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct LostRow {
    /// When the loss happened.
    pub at: Instant,
    /// The user whose records lack something; `None` if it concerns no single user.
    pub user: Option<UserId>,
    /// The kind: `session` (died), `log-in` (refused), `interaction` (cut off), `usage` (a meter overran), `meters` (a meter
    /// failed), `record` (could not be written).
    pub what: &'static str,
    /// Number of lost things.
    pub count: u64,
    /// The reason, in words.
    pub reason: String,
}

/// A row of `time`: a processor's time in one category during a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The processor; `None`: all processors.
    pub processor: Option<u16>,
    /// The category: on a host `user`, `nice`, `system`, `irq`, `softirq`, `steal`, `iowait` or `idle`.
    ///
    /// A host with meters and a simulated machine have the categories of `docs/run-folder.md`.
    pub category: &'static str,
    /// Time in this category; the categories of a processor add up to the span.
    pub time_ns: u64,
}

/// Owners of all processes in [`ProcessRow::who`]. Any other name there is the name of processes.
pub const PROCESS_OWNERS: [&str; 4] = ["users", "driver", "meters", "supervisor"];

/// The name of processes called `name` in [`ProcessRow::who`]: different from each of [`PROCESS_OWNERS`].
pub fn process_name(name: &str) -> Arc<str> {
    if PROCESS_OWNERS.contains(&name) { format!("{name} (process)").into() } else { name.into() }
}

/// A row of `processes`: processor time and memory of some processes in a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// Owner of the processes: one of [`PROCESS_OWNERS`], or a name from [`process_name`].
    ///
    /// The time of processes with a name is part of the rows of their owner.
    pub who: Arc<str>,
    /// Processor time of the processes in the span.
    pub cpu_ns: u64,
    /// Memory of the processes at the end of the span.
    pub memory_bytes: Option<u64>,
    /// The user whose processes these are; `None`: all users, or no user.
    pub user: Option<UserId>,
    /// Time in the span in which the processes were ready to run and waited for a processor.
    pub ready_wait_ns: Option<u64>,
}

/// A row of `faults`: faults of one kind in a span, all of them or those whose time lies in one bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// `major`, `minor`, `swap-in`, `write-protect`, `segment`, `bound`, `interrupt` or `soft interrupt`.
    ///
    /// `minor`, `major` and the last two may end in ` unclocked`: the kernel counted them, and no meter program clocked them.
    pub kind: &'static str,
    /// The device of the interrupts, or the kind of the soft interrupts; `None`: all of them, or faults.
    pub device: Option<Arc<str>>,
    /// The user; `None`: all users together.
    pub user: Option<UserId>,
    /// The command; `None`: all commands.
    pub command: Option<Arc<str>>,
    /// The shortest time of this row's bucket in a log-linear histogram; `None`: faults of any time.
    pub bucket_ns: Option<u64>,
    /// Number of faults.
    pub count: u64,
    /// Processor time of handling the faults; only in a row without a bucket.
    pub cpu_ns: Option<u64>,
    /// Further time in which the faulting processes waited; only in a row without a bucket.
    pub wait_ns: Option<u64>,
}

/// A row of `segments`: faults on one mapped file of a host, or on the pages of one command of a simulated machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The mapped file, or the command.
    pub segment: Arc<str>,
    /// The user; `None`: all users together.
    pub user: Option<UserId>,
    /// Faults without I/O.
    pub faults_minor: Option<u64>,
    /// Faults that waited for a device.
    pub faults_major: Option<u64>,
    /// Number of a clock profile's samples that found a processor in this segment.
    pub samples: Option<u64>,
}

/// A row of `primitives`: operations of the system of one kind (a system call, a wall crossing) in a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimitiveRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The kind of operation.
    pub name: Arc<str>,
    /// The user; `None`: all users together.
    pub user: Option<UserId>,
    /// The command; `None`: all commands.
    pub command: Option<Arc<str>>,
    /// The shortest time of this row's bucket in a log-linear histogram; `None`: operations of any time.
    pub bucket_ns: Option<u64>,
    /// Number of operations.
    pub count: u64,
    /// Number of operations that failed.
    pub errors: Option<u64>,
    /// Sum of the operations' times; only in a row without a bucket.
    pub time_ns: Option<u64>,
    /// Part of that time off the processor; only in a row without a bucket.
    pub wait_ns: Option<u64>,
    /// Page faults during the operations; only in a row without a bucket.
    pub faults: Option<u64>,
}

/// A row of `stacks`: a clock profile's samples with one call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackRow {
    /// The end of the span.
    pub at: Instant,
    /// The length of the span.
    pub span_ns: u64,
    /// The user; `None`: no user.
    pub user: Option<UserId>,
    /// The command; `None`: no command.
    pub command: Option<Arc<str>>,
    /// The name of the process.
    pub process: Arc<str>,
    /// Functions from the outermost to the innermost, with `;` between them. Each is its segment, a backquote, and its name.
    pub stack: Arc<str>,
    /// Number of samples.
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
    /// The measure: a mean over the span, or a count in it (`docs/run-folder.md`).
    pub measure: &'static str,
    /// The measured value.
    pub value: f64,
}

/// A row of `session_usage`: what a session used between two readings of its account, on a host whose driver is elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUsageRow {
    /// The end of the second reading.
    pub at: Instant,
    /// Time from the beginning of the first reading to `at`; 0 in the first row of a session.
    pub span_ns: u64,
    /// The user; `None`: a sign that all accounts were read until `at`. Accounts without use have no row.
    pub user: Option<UserId>,
    /// The line for which the user's events count from `at` on, if the driver has told it then; 0 is the log-out.
    pub line: Option<u32>,
    /// Resources that the session took in the span.
    pub usage: Usage,
    /// Clock ticks that found the session's processes in their programs, in microseconds. Ticks of a process come with its end, so
    /// that only whole lines can be divided into user and system time.
    pub user_ticks_us: u64,
    /// Clock ticks that found them in the system, in microseconds.
    pub system_ticks_us: u64,
}

/// Rows of all meter tables for one span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterRows {
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
    /// Rows of `session_usage`.
    pub session_usage: Vec<SessionUsageRow>,
    /// Rows of `user_limits`.
    pub user_limits: Vec<UserLimitRow>,
    /// Rows of `meter_price`.
    pub meter_price: Vec<MeterPriceRow>,
    /// Rows of `meter_windows`.
    pub meter_windows: Vec<MeterWindowRow>,
    /// Rows of `window_events`.
    pub window_events: Vec<WindowEventRow>,
    /// Rows of `working_sets`.
    pub working_sets: Vec<WorkingSetRow>,
    /// Rows of `lock_waits`.
    pub lock_waits: Vec<LockWaitRow>,
    /// Rows of `processor_speed`.
    pub processor_speed: Vec<ProcessorSpeedRow>,
}

impl MeterRows {
    /// Number of rows, and the end of the span of the first `time` row.
    pub fn rows(&self) -> (u64, Instant) {
        let by_span = [self.time.len(), self.processes.len(), self.faults.len(), self.segments.len()];
        let others = [self.primitives.len(), self.queue.len(), self.stacks.len(), self.memory.len()];
        let rest = [self.session_usage.len(), self.user_limits.len(), self.meter_price.len()];
        let of_windows = [self.meter_windows.len(), self.window_events.len()];
        let latest = [self.working_sets.len(), self.lock_waits.len(), self.processor_speed.len()];
        let all = by_span.iter().chain(&others).chain(&rest).chain(&of_windows).chain(&latest);
        let count = all.sum::<usize>();
        (count as u64, self.time.first().map_or(Instant(0), |row| row.at))
    }
}

/// The receiver of the driver's rows.
pub trait Recorder {
    /// Records an interaction that has ended.
    fn interaction(&mut self, row: &InteractionRow<'_>);
    /// Records the last screen of an interaction that was recorded just before.
    fn screen(&mut self, _row: &ScreenRow) {}
    /// Records a session that has ended.
    fn session(&mut self, row: &SessionRow);
    /// Records a loss.
    fn lost(&mut self, row: &LostRow);
    /// Records that the run has entered `phase` at `at`.
    fn phase(&mut self, phase: Phase, at: Instant);
    /// Reports the number of users who have logged in so far. It is shown as progress, and is not recorded.
    fn logged_in(&mut self, _users: u32) {}
    /// Reports that the driver is at `barrier`. It is shown as progress, and is not recorded.
    fn reached(&mut self, _barrier: Barrier) {}
    /// Whether the recorder has enough rows. The driver asks after each interaction; on `true`, it ends the load as if its time
    /// were up.
    fn enough(&self) -> bool {
        false
    }
}
