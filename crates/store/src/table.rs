//! The tables of a run folder and their columns, as `docs/run-folder.md` describes them.
//!
//! This is the one list of columns: schemas, batches and the Python readers' types follow from it. A column's value is a field of
//! the row in `loadgo_core::record`, and an interaction's also a field of `PackedInteraction` in `rows.rs`. A column that is added
//! may be null. Words are plain UTF-8 in streams, so that a batch that could not be written damages no later one. Readers without
//! delta dictionaries can read them too. Parquet stores them as dictionary pages by itself.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use loadgo_core::record::{
    FaultRow, LockWaitRow, LostRow, MemoryRow, MeterPriceRow, MeterWindowRow, Outcome, Phase, PrimitiveRow, ProcessRow,
    ProcessorSpeedRow, QueueRow, ScreenRow, SegmentRow, SessionRow, SessionUsageRow, StackRow, TimeRow, UserLimitRow,
    WindowEventRow, WorkingSetRow,
};
use loadgo_core::time::Instant;

use crate::columns::{Column, ColumnType as _, Text, Word, tables};
use crate::rows::{PackedInteraction, measured, measured_typing};

impl Table {
    /// The table called `name`.
    pub fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The table's columns in Arrow.
    pub fn schema(self) -> SchemaRef {
        Arc::new(Schema::new(self.columns().iter().map(Column::field).collect::<Vec<_>>()))
    }
}

tables! {
    /// A row for each line that was typed; `commands` are all commands so far, by number.
    Interactions, interactions(rows: &[PackedInteraction], commands: &[Arc<str>]), row {
        user: u32 = row.user,
        pass: u32 = row.pass,
        line: u32 = row.line,
        command: Word = &commands[row.command as usize],
        planned_ns: u64 = row.planned_ns,
        sent_ns: u64 = row.sent_ns,
        first_output_ns: Option<u64> = measured(row.first_output_ns),
        ready_ns: Option<u64> = measured(row.ready_ns),
        typing_ns: u64 = row.typing_ns,
        think_ns: u64 = row.think_ns,
        cpu_user_ns: Option<u64> = measured(row.cpu_user_ns),
        cpu_system_ns: Option<u64> = measured(row.cpu_system_ns),
        faults_minor: Option<u64> = measured(row.faults_minor),
        faults_major: Option<u64> = measured(row.faults_major),
        ready_wait_ns: Option<u64> = measured(row.ready_wait_ns),
        paging_wait_ns: Option<u64> = measured(row.paging_wait_ns),
        io_wait_ns: Option<u64> = measured(row.io_wait_ns),
        bytes_out: u64 = row.bytes_out,
        exit_status: Option<u8> = row.exit_status,
        outcome: Word = outcome_word(row.outcome),
        phase: Word = phase_word(row.phase),
        cpu_excess_ns: Option<u64> = measured(row.cpu_excess_ns),
        typing_cpu_ns: Option<u64> = measured_typing(row, |typing| typing.cpu_ns),
        typing_faults_minor: Option<u64> = measured_typing(row, |typing| typing.faults_minor),
        typing_faults_major: Option<u64> = measured_typing(row, |typing| typing.faults_major),
        typing_ready_wait_ns: Option<u64> = measured_typing(row, |typing| typing.ready_wait_ns),
        typing_paging_wait_ns: Option<u64> = measured_typing(row, |typing| typing.paging_wait_ns),
        typing_io_wait_ns: Option<u64> = measured_typing(row, |typing| typing.io_wait_ns),
        response_there_ns: Option<u64> = measured(row.response_there_ns),
        throttled_ns: Option<u64> = measured(row.throttled_ns),
    }

    /// A row for each log-in.
    Sessions, sessions(rows: &[SessionRow]), row {
        user: u32 = row.user,
        planned_ns: u64 = row.planned.0,
        started_ns: u64 = row.started.0,
        ready_ns: Option<u64> = row.ready.map(|at| at.0),
        ended_ns: u64 = row.ended.0,
        outcome: Word = row.outcome,
    }

    /// Total time by processor and category.
    Time, time(rows: &[TimeRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        processor: Option<u16> = row.processor,
        category: Word = row.category,
        time_ns: u64 = row.time_ns,
    }

    /// Processor time by process and user.
    Processes, processes(rows: &[ProcessRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        who: Word = &row.who,
        cpu_ns: u64 = row.cpu_ns,
        memory_bytes: Option<u64> = row.memory_bytes,
        user: Option<u32> = row.user,
        ready_wait_ns: Option<u64> = row.ready_wait_ns,
    }

    /// Losses: rows, log-ins and usage that the records lack.
    Lost, lost(rows: &[LostRow]), row {
        at_ns: u64 = row.at.0,
        user: Option<u32> = row.user,
        what: Word = row.what,
        count: u64 = row.count,
        reason: Text = &row.reason,
    }

    /// When each phase began.
    Phases, phases(rows: &[(Phase, Instant)]), row {
        at_ns: u64 = row.1.0,
        phase: Word = phase_word(row.0),
    }

    /// Faults by kind, and how long they took.
    Faults, faults(rows: &[FaultRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        kind: Word = row.kind,
        user: Option<u32> = row.user,
        command: Option<Word> = row.command.as_deref(),
        bucket_ns: Option<u64> = row.bucket_ns,
        count: u64 = row.count,
        cpu_ns: Option<u64> = row.cpu_ns,
        wait_ns: Option<u64> = row.wait_ns,
        device: Option<Word> = row.device.as_deref(),
    }

    /// Faults by what is paged.
    Segments, segments(rows: &[SegmentRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        segment: Word = &row.segment,
        user: Option<u32> = row.user,
        faults_minor: Option<u64> = row.faults_minor,
        faults_major: Option<u64> = row.faults_major,
        samples: Option<u64> = row.samples,
    }

    /// System calls by name, or the primitives of a simulated machine.
    Primitives, primitives(rows: &[PrimitiveRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        name: Word = &row.name,
        user: Option<u32> = row.user,
        command: Option<Word> = row.command.as_deref(),
        bucket_ns: Option<u64> = row.bucket_ns,
        count: u64 = row.count,
        errors: Option<u64> = row.errors,
        time_ns: Option<u64> = row.time_ns,
        wait_ns: Option<u64> = row.wait_ns,
        faults: Option<u64> = row.faults,
    }

    /// How long the queues were.
    Queue, queue(rows: &[QueueRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        queue: Word = &row.queue,
        measure: Word = row.measure,
        value: f64 = row.value,
    }

    /// Where a clock found the processors.
    Stacks, stacks(rows: &[StackRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        user: Option<u32> = row.user,
        command: Option<Word> = row.command.as_deref(),
        process: Word = &row.process,
        stack: Word = &row.stack,
        samples: u64 = row.samples,
    }

    /// Memory by holder, and pages taken from each.
    Memory, memory(rows: &[MemoryRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        who: Word = &row.who,
        user: Option<u32> = row.user,
        resident_bytes: Option<u64> = row.resident_bytes,
        device_bytes: Option<u64> = row.device_bytes,
        size_bytes: Option<u64> = row.size_bytes,
        taken_pages: Option<u64> = row.taken_pages,
        brought_pages: Option<u64> = row.brought_pages,
    }

    /// The last output of lines that failed, timed out or died.
    Screens, screens(rows: &[ScreenRow]), row {
        at_ns: u64 = row.at.0,
        user: u32 = row.user,
        sent_ns: u64 = row.sent.0,
        until: Text = &row.until,
        screen: Text = &row.screen,
    }

    /// Usage of sessions between two readings of their accounts, where the driver is on another host.
    SessionUsage, session_usage(rows: &[SessionUsageRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        user: Option<u32> = row.user,
        cpu_user_ns: Option<u64> = row.usage.cpu_user_ns,
        cpu_system_ns: Option<u64> = row.usage.cpu_system_ns,
        faults_minor: Option<u64> = row.usage.faults_minor,
        faults_major: Option<u64> = row.usage.faults_major,
        ready_wait_ns: Option<u64> = row.usage.ready_wait_ns,
        paging_wait_ns: Option<u64> = row.usage.paging_wait_ns,
        io_wait_ns: Option<u64> = row.usage.io_wait_ns,
        user_ticks_us: u64 = row.user_ticks_us,
        system_ticks_us: u64 = row.system_ticks_us,
        line: Option<u32> = row.line,
    }

    /// Costs of users' own limits.
    UserLimits, user_limits(rows: &[UserLimitRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        user: u32 = row.user,
        cpu_ns: Option<u64> = row.counts.cpu_ns,
        periods: Option<u64> = row.counts.periods,
        throttled_periods: Option<u64> = row.counts.throttled_periods,
        throttled_ns: Option<u64> = row.counts.throttled_ns,
        memory_refusals: Option<u64> = row.counts.memory_refusals,
        memory_kills: Option<u64> = row.counts.memory_kills,
        memory_peak_bytes: Option<u64> = row.counts.memory_peak_bytes,
        pids_refusals: Option<u64> = row.counts.pids_refusals,
    }

    /// Time of the meters' own programs, in windows.
    MeterPrice, meter_price(rows: &[MeterPriceRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        busy_ns: u64 = row.busy_ns,
        meter: Word = row.meter,
        runs: u64 = row.runs,
        run_ns: u64 = row.run_ns,
        call_ns: Option<u64> = row.call_ns,
        call_error_ns: Option<u64> = row.call_error_ns,
    }

    /// Windows in which the sampled tier clocked system calls, faults and interrupts.
    MeterWindows, meter_windows(rows: &[MeterWindowRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        stretch_ns: u64 = row.stretch_ns,
        busy_ns: u64 = row.busy_ns,
        cost_ns: u64 = row.cost_ns,
    }

    /// System calls, faults and processor time by name of process in those windows.
    WindowEvents, window_events(rows: &[WindowEventRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        process: Word = &row.process,
        event: Option<Word> = row.event.as_deref(),
        count: u64 = row.count,
        cpu_ns: Option<u64> = row.cpu_ns,
        added_ns: Option<u64> = row.added_ns,
    }

    /// The users' memory that was referred to in windows.
    WorkingSets, working_sets(rows: &[WorkingSetRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        user: u32 = row.user,
        processes: u32 = row.processes,
        resident_bytes: u64 = row.resident_bytes,
        referenced_bytes: u64 = row.referenced_bytes,
        file_resident_bytes: u64 = row.file_resident_bytes,
        file_referenced_bytes: u64 = row.file_referenced_bytes,
        device_bytes: u64 = row.device_bytes,
        returned_bytes: u64 = row.returned_bytes,
    }

    /// Waits for locks by kind, place and command.
    LockWaits, lock_waits(rows: &[LockWaitRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        kind: Word = &row.kind,
        place: Option<Word> = row.place.as_deref(),
        command: Option<Word> = row.command.as_deref(),
        count: u64 = row.count,
        wait_ns: u64 = row.wait_ns,
        longest_ns: u64 = row.longest_ns,
    }

    /// Pieces of the reference work.
    ProcessorSpeed, processor_speed(rows: &[ProcessorSpeedRow]), row {
        at_ns: u64 = row.at.0,
        span_ns: u64 = row.span_ns,
        processor: u16 = row.processor,
        cpu_ns: u64 = row.cpu_ns,
    }
}

/// The word for an outcome.
fn outcome_word(outcome: Outcome) -> &'static str {
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
fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Steady => "steady",
        Phase::RampDown => "ramp-down",
    }
}
