//! Rows as columns: one function a table, in the order of its schema.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use loadgo_core::record::{
    FaultRow, LostRow, MemoryRow, Outcome, Phase, PrimitiveRow, ProcessRow, QueueRow, SegmentRow, SessionRow, StackRow, TimeRow,
};
use loadgo_core::time::Instant;

use crate::Table;
use crate::rows::{PackedInteraction, measured};

/// `interactions`; `commands` are all commands so far, by number.
pub fn interactions(rows: &[PackedInteraction], commands: &[Arc<str>]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u32s(rows, |row| row.user),
        u32s(rows, |row| row.pass),
        u32s(rows, |row| row.line),
        words(rows, |row| &commands[row.command as usize]),
        u64s(rows, |row| row.planned_ns),
        u64s(rows, |row| row.sent_ns),
        maybe_u64s(rows, |row| measured(row.first_output_ns)),
        maybe_u64s(rows, |row| measured(row.ready_ns)),
        u64s(rows, |row| row.typing_ns),
        u64s(rows, |row| row.think_ns),
        maybe_u64s(rows, |row| measured(row.cpu_user_ns)),
        maybe_u64s(rows, |row| measured(row.cpu_system_ns)),
        maybe_u64s(rows, |row| measured(row.faults_minor)),
        maybe_u64s(rows, |row| measured(row.faults_major)),
        maybe_u64s(rows, |row| measured(row.ready_wait_ns)),
        maybe_u64s(rows, |row| measured(row.paging_wait_ns)),
        maybe_u64s(rows, |row| measured(row.io_wait_ns)),
        u64s(rows, |row| row.bytes_out),
        Arc::new(rows.iter().map(|row| row.exit_status).collect::<UInt8Array>()),
        words(rows, |row| outcome(row.outcome)),
        words(rows, |row| phase(row.phase)),
    ];
    batch(Table::Interactions, columns)
}

/// `sessions`.
pub fn sessions(rows: &[SessionRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u32s(rows, |row| row.user),
        u64s(rows, |row| row.planned.0),
        u64s(rows, |row| row.started.0),
        maybe_u64s(rows, |row| row.ready.map(|at| at.0)),
        u64s(rows, |row| row.ended.0),
        words(rows, |row| row.outcome),
    ];
    batch(Table::Sessions, columns)
}

/// `time`.
pub fn time(rows: &[TimeRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        Arc::new(rows.iter().map(|row| row.processor).collect::<UInt16Array>()),
        words(rows, |row| row.category),
        u64s(rows, |row| row.time_ns),
    ];
    batch(Table::Time, columns)
}

/// `processes`.
pub fn processes(rows: &[ProcessRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| &row.who),
        u64s(rows, |row| row.cpu_ns),
        maybe_u64s(rows, |row| row.memory_bytes),
        maybe_u32s(rows, |row| row.user),
        maybe_u64s(rows, |row| row.ready_wait_ns),
    ];
    batch(Table::Processes, columns)
}

/// `lost`.
pub fn lost(rows: &[LostRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        maybe_u32s(rows, |row| row.user),
        words(rows, |row| row.what),
        u64s(rows, |row| row.count),
        words(rows, |row| &row.reason),
    ];
    batch(Table::Lost, columns)
}

/// `phases`.
pub fn phases(rows: &[(Phase, Instant)]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![u64s(rows, |row| row.1.0), words(rows, |row| phase(row.0))];
    batch(Table::Phases, columns)
}

/// `faults`.
pub fn faults(rows: &[FaultRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| row.kind),
        maybe_u32s(rows, |row| row.user),
        maybe_words(rows, |row| row.command.as_deref()),
        maybe_u64s(rows, |row| row.bucket_ns),
        u64s(rows, |row| row.count),
        maybe_u64s(rows, |row| row.cpu_ns),
        maybe_u64s(rows, |row| row.wait_ns),
        maybe_words(rows, |row| row.device.as_deref()),
    ];
    batch(Table::Faults, columns)
}

/// `segments`.
pub fn segments(rows: &[SegmentRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| &row.segment),
        maybe_u32s(rows, |row| row.user),
        maybe_u64s(rows, |row| row.faults_minor),
        maybe_u64s(rows, |row| row.faults_major),
        maybe_u64s(rows, |row| row.samples),
    ];
    batch(Table::Segments, columns)
}

/// `primitives`.
pub fn primitives(rows: &[PrimitiveRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| &row.name),
        maybe_u32s(rows, |row| row.user),
        maybe_words(rows, |row| row.command.as_deref()),
        maybe_u64s(rows, |row| row.bucket_ns),
        u64s(rows, |row| row.count),
        maybe_u64s(rows, |row| row.errors),
        maybe_u64s(rows, |row| row.time_ns),
        maybe_u64s(rows, |row| row.wait_ns),
        maybe_u64s(rows, |row| row.faults),
    ];
    batch(Table::Primitives, columns)
}

/// `queue`.
pub fn queue(rows: &[QueueRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| &row.queue),
        words(rows, |row| row.measure),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.value))),
    ];
    batch(Table::Queue, columns)
}

/// `stacks`.
pub fn stacks(rows: &[StackRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        maybe_u32s(rows, |row| row.user),
        maybe_words(rows, |row| row.command.as_deref()),
        words(rows, |row| &row.process),
        words(rows, |row| &row.stack),
        u64s(rows, |row| row.samples),
    ];
    batch(Table::Stacks, columns)
}

/// `memory`.
pub fn memory(rows: &[MemoryRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        u64s(rows, |row| row.at.0),
        u64s(rows, |row| row.span_ns),
        words(rows, |row| &row.who),
        maybe_u32s(rows, |row| row.user),
        maybe_u64s(rows, |row| row.resident_bytes),
        maybe_u64s(rows, |row| row.device_bytes),
        maybe_u64s(rows, |row| row.size_bytes),
        maybe_u64s(rows, |row| row.taken_pages),
        maybe_u64s(rows, |row| row.brought_pages),
    ];
    batch(Table::Memory, columns)
}

fn batch(table: Table, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(table.schema(), columns).expect("the columns are those of the table's schema")
}

fn u32s<R>(rows: &[R], value: impl Fn(&R) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(value)))
}

fn u64s<R>(rows: &[R], value: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
}

fn maybe_u64s<R>(rows: &[R], value: impl Fn(&R) -> Option<u64>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<UInt64Array>())
}

fn maybe_u32s<R>(rows: &[R], value: impl Fn(&R) -> Option<u32>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<UInt32Array>())
}

fn maybe_words<'a, R>(rows: &'a [R], value: impl Fn(&'a R) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<StringArray>())
}

fn words<'a, R>(rows: &'a [R], value: impl Fn(&'a R) -> &'a str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(value)))
}

/// The word for an outcome.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Timeout => "timeout",
        Outcome::Died => "died",
        Outcome::Unconfirmed => "unconfirmed",
        Outcome::Extrapolated => "extrapolated",
    }
}

/// The word for a phase.
pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Steady => "steady",
        Phase::RampDown => "ramp-down",
    }
}
