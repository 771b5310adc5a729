//! The tables of a run folder and their columns, as `docs/run-folder.md` has them.
//!
//! Words are plain UTF-8 in streams, so that a batch that could not be written spoils no later one. Readers without delta
//! dictionaries can read them too. Parquet stores them as dictionary pages by itself.

use std::sync::Arc;

use arrow_schema::DataType::{self, Float64, UInt8, UInt16, UInt32, UInt64, Utf8};
use arrow_schema::{Field, Schema, SchemaRef};

/// A table of a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// A row for each line that was typed.
    Interactions,
    /// A row for each log-in.
    Sessions,
    /// Total time by processor and category.
    Time,
    /// Processor time by process and user.
    Processes,
    /// Losses: rows, log-ins and usage that the records lack.
    Lost,
    /// When each phase began.
    Phases,
    /// Faults by kind, and how long they took.
    Faults,
    /// Faults by what is paged.
    Segments,
    /// System calls by name, or the primitives of a simulated machine.
    Primitives,
    /// How long the queues were.
    Queue,
    /// Where a clock found the processors.
    Stacks,
    /// Memory by holder, and pages taken from each.
    Memory,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 12] = [
        Table::Interactions,
        Table::Sessions,
        Table::Time,
        Table::Processes,
        Table::Lost,
        Table::Phases,
        Table::Faults,
        Table::Segments,
        Table::Primitives,
        Table::Queue,
        Table::Stacks,
        Table::Memory,
    ];

    /// The table's name, which is its files' name too.
    pub fn name(self) -> &'static str {
        match self {
            Table::Interactions => "interactions",
            Table::Sessions => "sessions",
            Table::Time => "time",
            Table::Processes => "processes",
            Table::Lost => "lost",
            Table::Phases => "phases",
            Table::Faults => "faults",
            Table::Segments => "segments",
            Table::Primitives => "primitives",
            Table::Queue => "queue",
            Table::Stacks => "stacks",
            Table::Memory => "memory",
        }
    }

    /// The table called `name`.
    pub fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The table's columns, in their order.
    pub fn schema(self) -> SchemaRef {
        let fields = self.columns().iter().map(|(name, kind, nullable)| Field::new(*name, kind.clone(), *nullable));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Name, type, and whether the value may be missing (*not measured*).
    fn columns(self) -> &'static [(&'static str, DataType, bool)] {
        match self {
            Table::Interactions => &INTERACTIONS,
            Table::Sessions => &SESSIONS,
            Table::Time => &TIME,
            Table::Processes => &PROCESSES,
            Table::Lost => &LOST,
            Table::Phases => &PHASES,
            Table::Faults => &FAULTS,
            Table::Segments => &SEGMENTS,
            Table::Primitives => &PRIMITIVES,
            Table::Queue => &QUEUE,
            Table::Stacks => &STACKS,
            Table::Memory => &MEMORY,
        }
    }
}

const INTERACTIONS: [(&str, DataType, bool); 21] = [
    ("user", UInt32, false),
    ("pass", UInt32, false),
    ("line", UInt32, false),
    ("command", Utf8, false),
    ("planned_ns", UInt64, false),
    ("sent_ns", UInt64, false),
    ("first_output_ns", UInt64, true),
    ("ready_ns", UInt64, true),
    ("typing_ns", UInt64, false),
    ("think_ns", UInt64, false),
    ("cpu_user_ns", UInt64, true),
    ("cpu_system_ns", UInt64, true),
    ("faults_minor", UInt64, true),
    ("faults_major", UInt64, true),
    ("ready_wait_ns", UInt64, true),
    ("paging_wait_ns", UInt64, true),
    ("io_wait_ns", UInt64, true),
    ("bytes_out", UInt64, false),
    ("exit_status", UInt8, true),
    ("outcome", Utf8, false),
    ("phase", Utf8, false),
];

const SESSIONS: [(&str, DataType, bool); 6] = [
    ("user", UInt32, false),
    ("planned_ns", UInt64, false),
    ("started_ns", UInt64, false),
    ("ready_ns", UInt64, true),
    ("ended_ns", UInt64, false),
    ("outcome", Utf8, false),
];

const TIME: [(&str, DataType, bool); 5] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("processor", UInt16, true),
    ("category", Utf8, false),
    ("time_ns", UInt64, false),
];

const PROCESSES: [(&str, DataType, bool); 7] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("who", Utf8, false),
    ("cpu_ns", UInt64, false),
    ("memory_bytes", UInt64, true),
    ("user", UInt32, true),
    ("ready_wait_ns", UInt64, true),
];

const LOST: [(&str, DataType, bool); 5] =
    [("at_ns", UInt64, false), ("user", UInt32, true), ("what", Utf8, false), ("count", UInt64, false), ("reason", Utf8, false)];

const PHASES: [(&str, DataType, bool); 2] = [("at_ns", UInt64, false), ("phase", Utf8, false)];

const FAULTS: [(&str, DataType, bool); 10] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("kind", Utf8, false),
    ("user", UInt32, true),
    ("command", Utf8, true),
    ("bucket_ns", UInt64, true),
    ("count", UInt64, false),
    ("cpu_ns", UInt64, true),
    ("wait_ns", UInt64, true),
    ("device", Utf8, true),
];

const SEGMENTS: [(&str, DataType, bool); 7] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("segment", Utf8, false),
    ("user", UInt32, true),
    ("faults_minor", UInt64, true),
    ("faults_major", UInt64, true),
    ("samples", UInt64, true),
];

const PRIMITIVES: [(&str, DataType, bool); 11] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("name", Utf8, false),
    ("user", UInt32, true),
    ("command", Utf8, true),
    ("bucket_ns", UInt64, true),
    ("count", UInt64, false),
    ("errors", UInt64, true),
    ("time_ns", UInt64, true),
    ("wait_ns", UInt64, true),
    ("faults", UInt64, true),
];

const QUEUE: [(&str, DataType, bool); 5] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("queue", Utf8, false),
    ("measure", Utf8, false),
    ("value", Float64, false),
];

const STACKS: [(&str, DataType, bool); 7] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("user", UInt32, true),
    ("command", Utf8, true),
    ("process", Utf8, false),
    ("stack", Utf8, false),
    ("samples", UInt64, false),
];

const MEMORY: [(&str, DataType, bool); 9] = [
    ("at_ns", UInt64, false),
    ("span_ns", UInt64, false),
    ("who", Utf8, false),
    ("user", UInt32, true),
    ("resident_bytes", UInt64, true),
    ("device_bytes", UInt64, true),
    ("size_bytes", UInt64, true),
    ("taken_pages", UInt64, true),
    ("brought_pages", UInt64, true),
];
