//! One end's row: the columns of the seed's tables, and what they did not have.

use serde::{Deserialize, Serialize};

use crate::words;

/// What was moved by one end; it stands when the transfer breaks off too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Bytes of the file.
    pub payload: u64,
    /// Bytes on the connection: with the headers of records.
    pub wire: u64,
    /// System calls that moved them, or that waited to.
    pub calls: u64,
    /// Messages: what one call, or one block, holds.
    pub messages: u64,
}

/// What one end used, and what it came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct End {
    /// What was moved.
    pub moved: Moved,
    /// Nanoseconds from the first byte that was asked for until the last was on the network, or in its place.
    pub real_ns: u64,
    /// Processor time of the thread that moved the data, in nanoseconds.
    pub cpu_ns: u64,
    /// Of it, in the program and in the kernel; the kernel divides it by its clock's ticks.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
    /// Soft interrupts of all processors meanwhile, by the clock's ticks: an estimate, in nanoseconds.
    pub soft_interrupt_ns: u64,
    /// Interrupts likewise.
    pub interrupt_ns: u64,
    /// Page faults without and with reading.
    pub faults_minor: u64,
    /// With reading.
    pub faults_major: u64,
    /// How often it waited, and how often somebody else was let in.
    pub switches_voluntary: u64,
    /// Somebody else was let in.
    pub switches_involuntary: u64,
    /// The load average of five minutes, at the end; the seed's sixth column.
    pub load_5min: f64,
    /// That of one minute, which follows a run of minutes.
    #[serde(default)]
    pub load_1min: f64,
    /// Bytes that the socket itself counted, onto the network and off it; None where it does not count (Unix sockets).
    pub counted: Option<u64>,
    /// Why it broke off; None when all came over.
    #[serde(default, deserialize_with = "words::heard_if_any")]
    pub broke_off: Option<String>,
}
