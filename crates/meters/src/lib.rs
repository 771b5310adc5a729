//! The meters of a live Linux host: kernel programs, and the rows made from their counts.
//!
//! `programs` loads the kernel programs (the crate `loadgo-bpf`) one by one; [`Meters::availability`] has the meters that lack a program.
//! `tables` makes rows from their counts, `clock` divides busy time by them, and `profile` makes rows from clock samples. `calibration` subtracts the programs' own cost.
//! [`Meters::sample`] is called about once a second, and returns the rows of the span since the last call.

pub mod accounts;
pub mod available;
pub mod calibration;
mod clock;
mod event_prices;
#[cfg(test)]
mod failing_part;
mod kallsyms;
mod kernel_symbols;
mod meter;
mod part;
mod price;
pub mod profile;
pub mod programs;
pub mod refusal;
#[cfg(test)]
mod sampled_activities;
mod shares;
pub mod tables;
#[cfg(test)]
mod unseen_wakeups;
mod wanted;
mod windows;

pub use meter::Meter;
pub use programs::load::kernel_types;
pub use refusal::MeterRefusal;
pub use wanted::{MeterRequest, PROFILE_HZ, Tier};

use accounts::AccountWaits;
use available::MeterAvailability;
use calibration::Calibration;
use calibration::correct::correct_time_rows;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use part::{Context, MeterPart, RecordSpan};
use programs::load::MissingProgram;
use tables::{by_user, calls, faults, freed_accounts, interrupts, locks, processes, queue, time};

/// A part with the end of its last span.
struct TimedPart {
    part: Box<dyn MeterPart>,
    last: Instant,
}

/// The running meters; dropping them unloads the programs.
pub struct Meters {
    context: Context,
    parts: Vec<TimedPart>,
    /// `Instant(0)` as nanoseconds of CLOCK_MONOTONIC.
    origin_ns: u64,
    lost: Vec<LostRow>,
    availability: Vec<MeterAvailability>,
    calibration: Calibration,
    clock_hz: u32,
    exact: bool,
}

impl Meters {
    /// Loads, attaches and calibrates the programs, which takes some tenths of a second. The first span begins after that.
    /// `now` is the present time on the run's clock.
    ///
    /// # Errors
    /// Not even switches can be metered.
    pub fn begin(wanted: &MeterRequest, now: Instant) -> Result<Meters, MeterRefusal> {
        let origin_ns = monotonic_ns().saturating_sub(now.0);
        available::check_kernel_programs()?;
        let unmetered = calibration::unmetered_prices(wanted.tier);
        let loaded = programs::load::load(wanted)?;
        if let Some(refusal) = loaded.refusal(Meter::TotalTime) {
            return Err(refusal.clone().trying("the kernel does not take the program that meters switches"));
        }
        let mut context = Context::new(loaded);
        let parts = begin_parts(&mut context, wanted).into_iter().map(|part| TimedPart { part, last: now }).collect();
        let availability = available::loaded_meters(&context.loaded, wanted);
        let calibrate = |unmetered| calibration::calibrate(&unmetered, &context.loaded);
        let calibration = unmetered.map_or_else(Calibration::default, calibrate);
        let clock_hz = clock::rate(&context.loaded, wanted);
        let exact = wanted.tier == Tier::Exact;
        let mut meters = Meters { context, parts, origin_ns, lost: Vec::new(), availability, calibration, clock_hz, exact };
        let (_, failures) = meters.sample_parts(Instant(monotonic_ns() - origin_ns)); // counts so far belong to no span
        if let Some(refusal) = failures.into_iter().next() {
            return Err(refusal);
        }
        meters.lost.clear();
        loadgo_sys::heap::release_freed_memory(); // 15 MB that loading the programs needed
        Ok(meters)
    }

    /// The rows of the span that ends at `now`. If a part fails, its rows are a loss, and the others' rows are there.
    ///
    /// # Errors
    /// Every part has failed: the kernel's refusal of the first.
    pub fn sample(&mut self, now: Instant) -> Result<MeterRows, MeterRefusal> {
        let (sample, mut failures) = self.sample_parts(now);
        if failures.len() == self.parts.len() && !failures.is_empty() {
            return Err(failures.swap_remove(0));
        }
        let lost = |refusal: MeterRefusal| LostRow { at: now, user: None, what: "meters", count: 1, reason: refusal.to_string() };
        self.lost.extend(failures.into_iter().map(lost));
        Ok(sample)
    }

    /// The rows of the parts, and the refusals of those that failed. The next span of such a part has this span too.
    fn sample_parts(&mut self, now: Instant) -> (MeterRows, Vec<MeterRefusal>) {
        let (mut sample, mut failures) = (MeterRows::default(), Vec::new());
        for TimedPart { part, .. } in &mut self.parts {
            part.read(&self.context);
        }
        for TimedPart { part, last } in &mut self.parts {
            let span = RecordSpan { at: now, span_ns: now.since(*last).0, monotonic_ns: self.origin_ns + now.0 };
            match part.rows(&mut self.context, span, &mut sample) {
                Ok(()) => *last = now,
                Err(refusal) => failures.push(refusal),
            }
            self.lost.extend(part.take_lost(&self.context, span));
        }
        correct_time_rows(&self.calibration, self.exact, &mut sample);
        (sample, failures)
    }

    /// Costs of the meters on this host, measured at the start.
    pub fn calibration(&self) -> Calibration {
        let of_windows = self.context.window_calibration.unwrap_or_default();
        let Calibration { primitive, fault, switch_ns } = self.calibration;
        Calibration { primitive: primitive.or(of_windows.primitive), fault: fault.or(of_windows.fault), switch_ns }
    }

    /// Samples per second that the clock takes of each busy processor; 0 without a clock.
    pub fn clock_hz(&self) -> u32 {
        self.clock_hz
    }

    /// The accounts of users' waits, for the driver's thread. `commands` has the command's number (0 for none) of each line of the
    /// script. None if sessions cannot be distinguished here, and at a second call, because only one thread can have them.
    pub fn waits(&mut self, commands: Vec<u32>) -> Option<AccountWaits> {
        Some(self.context.waits.take()?.with_commands(commands))
    }

    /// The meters of the host, with the quality of each.
    pub fn availability(&self) -> Vec<MeterAvailability> {
        self.availability.clone()
    }

    /// Ids of the meters' own threads, besides the one that samples. Their time is loadgo's own.
    pub fn threads(&self) -> Vec<i32> {
        self.parts.iter().filter_map(|timed| timed.part.thread()).collect()
    }

    /// Removes and returns the losses since the last call: full maps, and events that were not kept.
    pub fn take_lost(&mut self) -> Vec<LostRow> {
        std::mem::take(&mut self.lost)
    }
}

#[cfg(test)]
impl Meters {
    /// Adds `part` before the others; its first span begins at `began`.
    fn add_first(&mut self, part: impl MeterPart + 'static, began: Instant) {
        self.parts.insert(0, TimedPart { part: Box::new(part), last: began });
    }
}

type BeginPart = fn(&mut Context, &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal>;

/// All parts: the meter that needs the part, and the function that begins it, which returns None if the part is not wanted.
const PARTS: &[(Option<Meter>, BeginPart)] = &[
    (Some(Meter::ClockProfile), profile::begin),
    (None, clock::begin),
    (Some(Meter::WaitsByUser), freed_accounts::begin),
    (Some(Meter::TotalTime), time::TotalTime::begin),
    (Some(Meter::Queue), queue::QueueTable::begin),
    (Some(Meter::Processes), processes::ProcessTimesTable::begin),
    (Some(Meter::Primitives), calls::CallTable::begin),
    (None, by_user::ByUser::begin),
    (Some(Meter::Faults), faults::FaultTable::begin),
    (Some(Meter::Interrupts), interrupts::InterruptTable::begin),
    (Some(Meter::Locks), locks::LockTable::begin),
    (Some(Meter::Primitives), windows::Windows::begin),
    (Some(Meter::Price), price::Price::begin),
];

/// Begins the parts. A part that fails is recorded as missing.
fn begin_parts(context: &mut Context, wanted: &MeterRequest) -> Vec<Box<dyn MeterPart>> {
    let mut parts = Vec::new();
    for (meter, begin) in PARTS {
        match begin(context, wanted) {
            Ok(part) => parts.extend(part),
            Err(refusal) => context.loaded.missing.push(MissingProgram { meter: *meter, program: "", refusal }),
        }
    }
    parts
}
