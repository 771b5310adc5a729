//! The meters of a live Linux host: kernel programs, and the rows that are made of what they count.
//!
//! The programs (`bpf/*.h`, compiled by `build.rs`) run at tracepoints and perf software events, so that they load where
//! fentry and kprobes do not. [`Meters::begin`] brings them into the kernel one by one; what does not load is told by
//! [`Meters::have`]. [`Meters::sample`] is called about once a second and makes rows of the span since the last call.

pub mod available;
mod calls;
mod faults;
pub mod histogram;
mod hooks;
mod interrupts;
pub mod layout;
pub mod load;
mod names;
mod parts;
mod swap_counters;
mod time;

use available::Available;
use loadgo_core::record::{Lost, Sample};
use loadgo_core::time::Instant;
use std::fmt;
use std::sync::Arc;

/// How much is metered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Switches, idle, queues and waits exactly; busy time divided by a clock that samples.
    Cheap,
    /// Every primitive, fault and interrupt bracketed by clock readings as well.
    Exact,
}

/// What is asked of the meters.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How much.
    pub tier: Tier,
    /// The most sessions (processes forked by this process) that get an account of their own.
    pub accounts: u32,
    /// The commands that users type, for primitives and faults by command; a command's number is its place here plus 1.
    pub commands: Vec<Arc<str>>,
    /// Samples a second of the clock profile; `None`: no profile beyond what the tier needs.
    pub profile_hz: Option<u32>,
    /// Whether page faults are counted by segment.
    pub segments: bool,
}

/// Why the meters cannot be had, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Unavailable {}

/// The meters at work; dropping them unloads the programs.
pub struct Meters {
    loaded: load::Loaded,
    parts: Vec<Box<dyn parts::Part>>,
    last: Instant,
}

impl Meters {
    /// Loads, attaches and calibrates the programs; spans are counted from `now`.
    ///
    /// # Errors
    /// [`Unavailable`] when not even switches can be metered.
    pub fn begin(wanted: &Wanted, now: Instant) -> Result<Meters, Unavailable> {
        let mut loaded = load::load(wanted).map_err(Unavailable)?;
        if let Some(why) = loaded.why_not("total time") {
            return Err(Unavailable(format!("the kernel does not take the program that meters switches: {why}")));
        }
        let parts = parts::begin(&mut loaded, wanted);
        Ok(Meters { loaded, parts, last: now })
    }

    /// The rows of the span that ends `now`.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers; the span is then part of the next one.
    pub fn sample(&mut self, now: Instant) -> Result<Sample, String> {
        let span = Span { at: now, span_ns: now.since(self.last).0 };
        let mut sample = Sample::default();
        for part in &mut self.parts {
            part.rows(&self.loaded, span, &mut sample)?;
        }
        self.last = now;
        Ok(sample)
    }

    /// What is metered, and how.
    pub fn have(&self) -> Vec<Available> {
        Vec::new()
    }

    /// What was lost since this was last asked: maps that were full, events that could not be kept.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        Vec::new()
    }
}

/// A span of the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its end.
    pub at: Instant,
    /// Its length.
    pub span_ns: u64,
}
