//! The row of one end: the columns of RFC 392's tables, and further ones.

use serde::{Deserialize, Serialize};

use crate::words;

/// Bytes and calls of one end, also if the transfer breaks off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedBytes {
    /// Bytes of the file.
    pub payload: u64,
    /// Bytes on the connection, with the headers of records.
    pub wire: u64,
    /// System calls that moved data or waited to.
    pub calls: u64,
    /// Messages: calls or blocks that moved data.
    pub messages: u64,
}

/// The interrupts that an end's row counts, and how they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptsBy {
    /// Exact interrupts for this end's socket; with a note if a figure is in doubt.
    Exact(Option<String>),
    /// Interrupts for this end's socket, estimated from windows at random moments.
    Windows {
        /// Measured part of the time, 0 to 1.
        clocked: f64,
        /// Standard error of interrupts less `interrupts_upon_ns`; None if unknown.
        error_ns: Option<u64>,
        /// A note if a figure is in doubt.
        doubt: Option<String>,
    },
    /// No interrupts: there is no network between the ends.
    NoNetwork,
    /// All interrupts of the host during the transfer, by clock ticks; with the reason.
    Ticks(String),
}

impl Default for InterruptsBy {
    fn default() -> InterruptsBy {
        InterruptsBy::Ticks("the end did not report how they were counted".into())
    }
}

/// The measurements of one end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EndRow {
    /// Bytes and calls.
    pub moved: MovedBytes,
    /// Real time from the first byte read until the last byte was handed to the network, or until the file was closed.
    pub real_ns: u64,
    /// Processor time of the thread that moved the data.
    pub cpu_ns: u64,
    /// The part of `cpu_ns` in the program; the kernel divides it by clock ticks.
    pub user_ns: u64,
    /// The part of `cpu_ns` in the kernel.
    pub system_ns: u64,
    /// Time in soft interrupts, for this end or of the whole host, as `interrupts_by` says.
    pub soft_interrupt_ns: u64,
    /// Time in device interrupts, for this end or of the whole host.
    pub interrupt_ns: u64,
    /// Time of the network's interrupts, for any socket, that is in `cpu_ns`; 0 if unknown.
    #[serde(default)]
    pub interrupts_upon_ns: u64,
    /// The interrupts that are counted, and how they were measured.
    #[serde(default)]
    pub interrupts_by: InterruptsBy,
    /// Page faults that needed no device.
    pub faults_minor: u64,
    /// Page faults that waited for a device.
    pub faults_major: u64,
    /// Times that the thread gave up its processor.
    pub switches_voluntary: u64,
    /// Times that the thread was preempted.
    pub switches_involuntary: u64,
    /// Load average of five minutes at the end, the sixth column of RFC 392's table.
    pub load_5min: f64,
    /// Load average of one minute at the end, which follows a run of minutes.
    #[serde(default)]
    pub load_1min: f64,
    /// Bytes that the socket counted in the direction of the data; None for Unix sockets, which do not count.
    pub counted: Option<u64>,
    /// Why the transfer broke off; None if it is complete.
    #[serde(default, deserialize_with = "words::deserialize_optional_text")]
    pub broke_off: Option<String>,
}
