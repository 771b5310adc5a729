//! The meters of a live Linux host: kernel programs, and the rows that are made of what they count.
//!
//! `programs` brings the kernel programs (the crate `loadgo-bpf`) into the kernel one by one; what does not load is told by
//! [`Meters::have`]. `tables` makes rows of what they count, `profile` of samples on a clock, and `calibration` takes off
//! what the programs themselves cost. [`Meters::sample`] is called about once a second and makes rows of the span since
//! the last call.

pub mod accounts;
pub mod available;
pub mod calibration;
mod kernel_symbols;
mod meter;
mod part;
pub mod profile;
pub mod programs;
pub mod refused;
mod shares;
pub mod tables;
mod wanted;

pub use meter::Meter;
pub use profile::CLOCK_HZ;
pub use wanted::{Tier, Unavailable, Wanted};

use accounts::Waits;
use available::MeterAvailability;
use calibration::Calibration;
use calibration::correct::correct;
use loadgo_core::record::{Lost, Sample};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use part::{Context, Part, Span};
use programs::load::Missing;
use tables::{by_user, calls, faults, freed_accounts, interrupts, processes, queue, time};

/// The meters at work; dropping them unloads the programs.
pub struct Meters {
    context: Context,
    parts: Vec<Box<dyn Part>>,
    last: Instant,
    /// Where `Instant(0)` is on CLOCK_MONOTONIC.
    origin_ns: u64,
    lost: Vec<Lost>,
    have: Vec<MeterAvailability>,
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
        available::check_kernel_programs().map_err(|reason| Unavailable(reason.into()))?;
        let bare = calibration::bare();
        let loaded = programs::load::load(wanted).map_err(Unavailable)?;
        if let Some(why) = loaded.refusal(Meter::TotalTime) {
            return Err(Unavailable(why.clone().trying("the kernel does not take the program that meters switches")));
        }
        let mut context = Context::new(loaded);
        let parts = begin_parts(&mut context, wanted);
        let have = available::loaded_meters(&context.loaded, wanted);
        let calibration = bare.map_or_else(Calibration::default, |bare| calibration::calibrate(&bare, &context.loaded, wanted));
        let mut meters = Meters {
            context,
            parts,
            last: now,
            origin_ns,
            lost: Vec::new(),
            have,
            calibration,
            exact: wanted.tier == Tier::Exact,
        };
        meters.sample(Instant(monotonic_ns() - origin_ns)).map_err(|why| Unavailable(why.into()))?; // what was before is not shown
        meters.lost.clear();
        loadgo_sys::heap::release_freed_memory(); // 15 MB of what loading the programs took
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
            part.read(&self.context);
        }
        for part in &mut self.parts {
            part.rows(&mut self.context, span, &mut sample)?;
            self.lost.extend(part.take_lost(&self.context, span));
        }
        self.last = now;
        correct(&self.calibration, self.exact, &mut sample);
        Ok(sample)
    }

    /// What the meters cost here, as it was found at the start.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// The accounts of users' waits, for the driver's thread: of each line of the script, by number, its command's number (0:
    /// none). `None` when sessions cannot be told apart here, and at a second call: one thread alone has them.
    pub fn waits(&mut self, commands: Vec<u32>) -> Option<Waits> {
        Some(self.context.waits.take()?.with_commands(commands))
    }

    /// What is metered, and how.
    pub fn have(&self) -> Vec<MeterAvailability> {
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

type Begin = fn(&mut Context, &Wanted) -> Result<Option<Box<dyn Part>>, String>;

/// Every part: the meter that does not work without it, and what begins it (`None`: not wanted).
const PARTS: &[(Option<Meter>, Begin)] = &[
    (Some(Meter::ClockProfile), profile::begin),
    (Some(Meter::WaitsByUser), freed_accounts::begin),
    (Some(Meter::TotalTime), time::TotalTime::begin),
    (Some(Meter::Queue), queue::Queue::begin),
    (Some(Meter::Processes), processes::Processes::begin),
    (Some(Meter::Primitives), calls::Calls::begin),
    (None, by_user::ByUser::begin),
    (Some(Meter::Faults), faults::Faults::begin),
    (Some(Meter::Interrupts), interrupts::Interrupts::begin),
];

/// Begins what can begin; the rest is remembered as missing.
fn begin_parts(context: &mut Context, wanted: &Wanted) -> Vec<Box<dyn Part>> {
    let mut parts = Vec::new();
    for (meter, begin) in PARTS {
        match begin(context, wanted) {
            Ok(part) => parts.extend(part),
            Err(why) => context.loaded.missing.push(Missing { meter: *meter, program: "", why: why.into() }),
        }
    }
    parts
}
