//! Rows on their way from the driver's thread to the writer's: packed, with numbers for commands, and handed over without
//! waiting.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::Thread;
use std::time::Duration;

use loadgo_core::record::{InteractionRow, LostRow, MeterRows, Outcome, Phase, Recorder, ScreenRow, SessionRow};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;

/// The driver's behaviour when the writer is far behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Drops the row and counts it as lost: users of a live host must not wait for a disk.
    Lose,
    /// Waits for room. On a simulated machine, virtual time stands still meanwhile.
    Wait,
}

/// Largest number of interactions that wait for the writer: 40 MB, or two seconds at 130,000 interactions a second.
pub(crate) const MOST_QUEUED_ROWS: usize = 1 << 18;

/// A handle of the writer's thread, for the threads that give it rows.
#[derive(Clone, Debug)]
pub(crate) struct WriterThread {
    pub thread: Thread,
    /// Set when the thread has ended. Rows are then no longer taken, so no thread may wait for room.
    pub over: Arc<AtomicBool>,
}

impl WriterThread {
    pub(crate) fn lives(&self) -> bool {
        !self.over.load(Ordering::Acquire)
    }

    pub(crate) fn unpark(&self) {
        self.thread.unpark();
    }
}

/// Number of waiting interactions at which the writer is woken before its time: 200 KB. As many are meanwhile in the writer's
/// rows, as columns, and in the encoded message.
pub(crate) const WAKE_WRITER_ROWS: usize = 1 << 10;
/// Most interactions for which empty rows keep memory. More of them wait only if the writer was late.
const MOST_KEPT_ROWS: usize = 1 << 14;

/// An interaction, packed. A time or count that was not measured is [`NOT_MEASURED`].
#[derive(Clone, Debug)]
pub(crate) struct PackedInteraction {
    pub user: u32,
    pub pass: u32,
    pub line: u32,
    pub command: u32,
    pub planned_ns: u64,
    pub sent_ns: u64,
    pub first_output_ns: u64,
    pub ready_ns: u64,
    pub typing_ns: u64,
    pub think_ns: u64,
    pub cpu_user_ns: u64,
    pub cpu_system_ns: u64,
    pub faults_minor: u64,
    pub faults_major: u64,
    pub ready_wait_ns: u64,
    pub paging_wait_ns: u64,
    pub io_wait_ns: u64,
    pub throttled_ns: u64,
    pub cpu_excess_ns: u64,
    pub response_there_ns: u64,
    /// The usage of the line's typing; `None` if nothing of it was measured, as with lines that are sent at once.
    pub typing: Option<Box<PackedTyping>>,
    pub bytes_out: u64,
    pub exit_status: Option<u8>,
    pub outcome: Outcome,
    pub phase: Phase,
}

/// The usage of a line's typing. A value that was not measured is [`NOT_MEASURED`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedTyping {
    pub cpu_ns: u64,
    pub faults_minor: u64,
    pub faults_major: u64,
    pub ready_wait_ns: u64,
    pub paging_wait_ns: u64,
    pub io_wait_ns: u64,
}

/// Stands for a value that was not measured. No count of faults or bytes reaches it, nor does a time: it is 584 years.
const NOT_MEASURED: u64 = u64::MAX;

/// Unpacks a value of a [`PackedInteraction`]: `None` if it was not measured.
pub fn measured(value: u64) -> Option<u64> {
    (value != NOT_MEASURED).then_some(value)
}

/// Unpacks a value of the usage of a line's typing: `None` if it was not measured.
pub(crate) fn measured_typing(row: &PackedInteraction, value: fn(&PackedTyping) -> u64) -> Option<u64> {
    row.typing.as_deref().map(value).and_then(measured)
}

fn count(value: Option<u64>) -> u64 {
    value.unwrap_or(NOT_MEASURED)
}

fn packed_typing(usage: &Usage) -> Option<Box<PackedTyping>> {
    if *usage == Usage::default() {
        return None;
    }
    Some(Box::new(PackedTyping {
        cpu_ns: count(usage.cpu_user_ns.zip(usage.cpu_system_ns).map(|(user, system)| user + system)),
        faults_minor: count(usage.faults_minor),
        faults_major: count(usage.faults_major),
        ready_wait_ns: count(usage.ready_wait_ns),
        paging_wait_ns: count(usage.paging_wait_ns),
        io_wait_ns: count(usage.io_wait_ns),
    }))
}

fn packed(row: &InteractionRow<'_>, command: u32) -> PackedInteraction {
    let instant = |value: Option<Instant>| value.map_or(NOT_MEASURED, |at| at.0);
    PackedInteraction {
        user: row.user,
        pass: row.pass,
        line: row.line,
        command,
        planned_ns: row.planned.0,
        sent_ns: row.sent.0,
        first_output_ns: instant(row.first_output),
        ready_ns: instant(row.ready),
        typing_ns: row.typing_ns,
        think_ns: row.think_ns,
        cpu_user_ns: count(row.usage.cpu_user_ns),
        cpu_system_ns: count(row.usage.cpu_system_ns),
        faults_minor: count(row.usage.faults_minor),
        faults_major: count(row.usage.faults_major),
        ready_wait_ns: count(row.usage.ready_wait_ns),
        paging_wait_ns: count(row.usage.paging_wait_ns),
        io_wait_ns: count(row.usage.io_wait_ns),
        throttled_ns: count(row.usage.throttled_ns),
        cpu_excess_ns: count(row.cpu_excess_ns),
        response_there_ns: count(row.response_there_ns),
        typing: packed_typing(&row.typing_usage),
        bytes_out: row.bytes_out,
        exit_status: row.exit_status,
        outcome: row.outcome,
        phase: row.phase,
    }
}

/// Rows of all tables, on their way to the writer.
#[derive(Debug, Default)]
pub struct QueuedRows {
    /// Commands that appear for the first time. A command's index among all commands of the run is its number in
    /// [`PackedInteraction`].
    pub commands: Vec<Arc<str>>,
    pub interactions: Vec<PackedInteraction>,
    pub sessions: Vec<SessionRow>,
    pub screens: Vec<ScreenRow>,
    pub lost: Vec<LostRow>,
    pub phases: Vec<(Phase, Instant)>,
    /// The rows of the meters.
    pub sampled: MeterRows,
    /// Number of rows that were dropped because there was no room, and the time of the first.
    pub dropped: Option<(u64, Instant)>,
}

impl QueuedRows {
    /// Moves all rows of `other` behind these.
    pub fn append(&mut self, other: &mut QueuedRows) {
        self.commands.append(&mut other.commands);
        self.interactions.append(&mut other.interactions);
        self.sessions.append(&mut other.sessions);
        self.screens.append(&mut other.screens);
        self.sample(&mut other.sampled);
        self.lost.append(&mut other.lost);
        self.phases.append(&mut other.phases);
        if let Some((count, at)) = other.dropped.take() {
            self.drop_rows(count, at);
        }
    }

    /// Frees the memory of interactions if it is more than a writer in time needs.
    pub(crate) fn free_spare_memory(&mut self) {
        if self.interactions.is_empty() && self.interactions.capacity() > MOST_KEPT_ROWS {
            self.interactions = Vec::new();
        }
    }

    /// Moves the rows of the meters in `sample` behind these.
    pub fn sample(&mut self, sample: &mut MeterRows) {
        let sampled = &mut self.sampled;
        if sampled.rows().0 == 0 {
            std::mem::swap(sampled, sample); // thousands of rows are not copied
        }
        sampled.time.append(&mut sample.time);
        sampled.processes.append(&mut sample.processes);
        sampled.faults.append(&mut sample.faults);
        sampled.segments.append(&mut sample.segments);
        sampled.primitives.append(&mut sample.primitives);
        sampled.queue.append(&mut sample.queue);
        sampled.stacks.append(&mut sample.stacks);
        sampled.memory.append(&mut sample.memory);
        sampled.session_usage.append(&mut sample.session_usage);
        sampled.user_limits.append(&mut sample.user_limits);
        sampled.meter_price.append(&mut sample.meter_price);
        sampled.meter_windows.append(&mut sample.meter_windows);
        sampled.window_events.append(&mut sample.window_events);
        sampled.working_sets.append(&mut sample.working_sets);
        sampled.lock_waits.append(&mut sample.lock_waits);
        sampled.processor_speed.append(&mut sample.processor_speed);
    }

    /// Number of rows, including those that were dropped.
    pub(crate) fn count(&self) -> u64 {
        let driven = [self.interactions.len(), self.sessions.len(), self.screens.len(), self.lost.len(), self.phases.len()];
        driven.iter().sum::<usize>() as u64 + self.sampled.rows().0 + self.dropped.map_or(0, |(count, _)| count)
    }

    /// Counts `count` rows, the first of them at `at`, as dropped.
    pub(crate) fn drop_rows(&mut self, count: u64, at: Instant) {
        let (before, first) = self.dropped.unwrap_or((0, at));
        self.dropped = Some((before + count, first));
    }
}

/// The recorder that the driver calls. It copies each row for the writer and returns at once.
///
/// The driver tries the lock and never waits for it. The writer holds it only to exchange two pointers. A row that comes in
/// that moment is kept here until the next row.
#[derive(Debug)]
pub struct DriverRecorder {
    shared: Arc<Mutex<QueuedRows>>,
    writer: WriterThread,
    when_full: WhenFull,
    kept: QueuedRows,
    known: CommandNumbers,
}

impl DriverRecorder {
    pub(crate) fn new(shared: Arc<Mutex<QueuedRows>>, writer: WriterThread, when_full: WhenFull) -> DriverRecorder {
        DriverRecorder { shared, writer, when_full, kept: QueuedRows::default(), known: CommandNumbers::default() }
    }

    /// Calls `put` with the rows for the writer: the shared ones if their lock is free, else the kept ones.
    fn with_rows(&mut self, put: impl FnOnce(&mut QueuedRows)) {
        let waiting = match self.shared.try_lock() {
            Ok(mut shared) => {
                shared.append_if_any(&mut self.kept);
                put(&mut shared);
                shared.interactions.len()
            }
            Err(TryLockError::WouldBlock) => {
                put(&mut self.kept);
                0
            }
            Err(TryLockError::Poisoned(_)) => panic!("the writer's thread has died"),
        };
        if waiting >= WAKE_WRITER_ROWS && waiting.is_multiple_of(WAKE_WRITER_ROWS) {
            self.writer.unpark();
        }
        if waiting >= MOST_QUEUED_ROWS && self.when_full == WhenFull::Wait {
            self.wait_for_room();
        }
    }

    /// Waits until the writer has taken rows. Only a driver in virtual time calls this.
    fn wait_for_room(&self) {
        while self.writer.lives()
            && self.shared.lock().unwrap_or_else(PoisonError::into_inner).interactions.len() >= MOST_QUEUED_ROWS
        {
            self.writer.unpark();
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl QueuedRows {
    fn append_if_any(&mut self, kept: &mut QueuedRows) {
        let without_screens =
            kept.interactions.is_empty() && kept.lost.is_empty() && kept.sessions.is_empty() && kept.phases.is_empty();
        if !without_screens || !kept.screens.is_empty() {
            self.append(kept);
        }
    }
}

impl Recorder for DriverRecorder {
    fn interaction(&mut self, row: &InteractionRow<'_>) {
        let (command, new) = self.known.number(row.line, row.command);
        let packed = packed(row, command);
        self.with_rows(|rows| {
            rows.commands.extend(new);
            match rows.interactions.len() < MOST_QUEUED_ROWS {
                true => rows.interactions.push(packed),
                false => rows.drop_rows(1, Instant(packed.sent_ns)),
            }
        });
    }

    fn screen(&mut self, row: &ScreenRow) {
        self.with_rows(|rows| rows.screens.push(row.clone()));
    }

    fn session(&mut self, row: &SessionRow) {
        self.with_rows(|rows| rows.sessions.push(row.clone()));
    }

    fn lost(&mut self, row: &LostRow) {
        self.with_rows(|rows| rows.lost.push(row.clone()));
    }

    fn phase(&mut self, phase: Phase, at: Instant) {
        self.with_rows(|rows| rows.phases.push((phase, at)));
    }
}

impl Drop for DriverRecorder {
    fn drop(&mut self) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.append(&mut self.kept);
        }
    }
}

/// Numbers of the commands seen so far. The command of a line is found by the line's number, without hashing.
#[derive(Debug, Default)]
struct CommandNumbers {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    by_line: Vec<u32>,
}

/// Largest length of [`CommandNumbers::by_line`]; lines with higher numbers share its entries.
const MOST_LINE_ENTRIES: usize = 1 << 16;

impl CommandNumbers {
    /// The number of `command`, and its name if the command is new.
    fn number(&mut self, line: u32, command: &str) -> (u32, Option<Arc<str>>) {
        let line = line as usize % MOST_LINE_ENTRIES;
        if let Some(&guess) = self.by_line.get(line)
            && self.names.get(guess as usize).is_some_and(|name| **name == *command)
        {
            return (guess, None);
        }
        let (number, new) = self.looked_up(command);
        if self.by_line.len() <= line {
            self.by_line.resize(line + 1, u32::MAX);
        }
        self.by_line[line] = number;
        (number, new)
    }

    fn looked_up(&mut self, command: &str) -> (u32, Option<Arc<str>>) {
        if let Some(&number) = self.numbers.get(command) {
            return (number, None);
        }
        let number = self.names.len() as u32;
        let name: Arc<str> = command.into();
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), number);
        (number, Some(name))
    }
}
