//! The meters of a live Linux host: kernel programs, and the rows that are made of what they count.
//!
//! The programs (`bpf/*.h`, compiled by `build.rs`) run at tracepoints and perf software events, so that they load where
//! fentry and kprobes do not. [`Meters::begin`] brings them into the kernel one by one; what does not load is told by
//! [`Meters::have`]. [`Meters::sample`] is called about once a second and makes rows of the span since the last call.

pub mod accounts;
mod addresses;
pub mod available;
mod by_user;
pub mod calibrate;
mod calls;
pub mod correct;
pub mod end_windows;
pub mod ends;
mod faults;
pub mod histogram;
mod hooks;
mod idle;
pub mod interrupt_charge;
mod interrupts;
mod jit;
mod kallsyms;
pub mod layout;
pub mod live;
pub mod load;
mod names;
mod parts;
mod processes;
mod processors;
mod profile;
mod profiler;
mod queue;
mod record_bytes;
mod regions;
mod seed;
mod segments;
pub mod sessions;
mod shown;
mod sideband;
pub mod socket_sums;
pub mod sockets;
mod spaces;
mod stacks;
mod swap_counters;
mod symbols;
mod time;
mod transfer_programs;
mod who;

pub use profile::CLOCK_HZ;

use available::Available;
use calibrate::Calibration;
use loadgo_core::record::{Lost, Sample};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
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
    /// Where `Instant(0)` is on CLOCK_MONOTONIC.
    origin_ns: u64,
    lost: Vec<Lost>,
    have: Vec<Available>,
    calibration: Calibration,
    exact: bool,
}

impl Meters {
    /// Loads, attaches and calibrates the programs, which takes some tenths of a second; the first span begins when all is ready.
    /// `now` is read right before, on the clock of the run.
    ///
    /// # Errors
    /// [`Unavailable`] when not even switches can be metered.
    pub fn begin(wanted: &Wanted, now: Instant) -> Result<Meters, Unavailable> {
        let origin_ns = monotonic_ns().saturating_sub(now.0);
        available::possible().map_err(Unavailable)?;
        let bare = calibrate::bare();
        let mut loaded = load::load(wanted).map_err(Unavailable)?;
        if let Some(why) = loaded.why_not("total time") {
            return Err(Unavailable(format!("the kernel does not take the program that meters switches: {why}")));
        }
        let parts = parts::begin(&mut loaded, wanted);
        let have = available::of(&loaded, wanted);
        let calibration = bare.map_or_else(Calibration::default, |bare| calibrate::calibrate(&bare, &loaded, wanted));
        let mut meters = Meters {
            loaded,
            parts,
            last: now,
            origin_ns,
            lost: Vec::new(),
            have,
            calibration,
            exact: wanted.tier == Tier::Exact,
        };
        meters.sample(Instant(monotonic_ns() - origin_ns)).map_err(Unavailable)?; // what was before is not shown
        meters.lost.clear();
        Ok(meters)
    }

    /// The rows of the span that ends `now`.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers; the span is then part of the next one.
    pub fn sample(&mut self, now: Instant) -> Result<Sample, String> {
        let span = Span { at: now, span_ns: now.since(self.last).0, monotonic_ns: self.origin_ns + now.0 };
        let mut sample = Sample::default();
        for part in &mut self.parts {
            part.read(&self.loaded);
        }
        for part in &mut self.parts {
            part.rows(&self.loaded, span, &mut sample)?;
            self.lost.extend(part.take_lost(&self.loaded, span));
        }
        self.last = now;
        correct::correct(&self.calibration, self.exact, &mut sample);
        Ok(sample)
    }

    /// What the meters cost here, as it was found at the start.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// The accounts of users' waits, for the driver's thread: of each line of the script, by number, its command's number (0:
    /// none). `None` when sessions cannot be told apart here.
    pub fn waits(&self, commands: Vec<u32>) -> Option<accounts::Waits> {
        let accounts = self.loaded.accounts.clone()?;
        Some(accounts::Waits::new(accounts, self.loaded.sessions.clone(), commands))
    }

    /// What is metered, and how.
    pub fn have(&self) -> Vec<Available> {
        self.have.clone()
    }

    /// The ids of the threads that work for the meters, beside the one that samples: their time is the laboratory's.
    pub fn threads(&self) -> Vec<i32> {
        self.parts.iter().filter_map(|part| part.thread()).collect()
    }

    /// What was lost since this was last asked: maps that were full, events that could not be kept.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost)
    }
}

/// A span of the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its end.
    pub at: Instant,
    /// Its length.
    pub span_ns: u64,
    /// Its end on the kernel programs' clock, CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
}
