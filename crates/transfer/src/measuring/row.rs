//! The row of one end: the columns of the seed's tables, and further ones.

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

/// Whose the interrupts of an end's row are, and how they are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptsBy {
    /// Those that worked for this end's socket, exactly; with what is in doubt, in words.
    Exact(Option<String>),
    /// Likewise, clocked in windows at random moments that stand for the rest of the time.
    Windows {
        /// Which part of the time was clocked.
        clocked: f64,
        /// The standard error of interrupts less `interrupts_upon_ns`; None where nobody can tell.
        error_ns: Option<u64>,
        /// What is in doubt, in words.
        doubt: Option<String>,
    },
    /// There is no network between the ends: none.
    NoNetwork,
    /// Those of the whole host meanwhile, whoever they were for, in ticks of its clock, because, in words.
    Ticks(String),
}

impl Default for InterruptsBy {
    fn default() -> InterruptsBy {
        InterruptsBy::Ticks("the end did not say".into())
    }
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
    /// Soft interrupts, in nanoseconds: as `interrupts_by` says, for this end or of the whole host.
    pub soft_interrupt_ns: u64,
    /// Devices' interrupts likewise.
    pub interrupt_ns: u64,
    /// Interrupts of the network that came upon the thread, whomever for, and are in its processor time; 0 where nobody tells.
    #[serde(default)]
    pub interrupts_upon_ns: u64,
    /// Whose the interrupts are, and how they are told.
    #[serde(default)]
    pub interrupts_by: InterruptsBy,
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
