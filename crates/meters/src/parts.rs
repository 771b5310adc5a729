//! The parts of the meters: each makes rows of what its kernel programs count.

use crate::load::{Loaded, Missing};
use crate::{Span, Wanted, accounts, by_user, calls, faults, interrupts, processes, profile, queue, time};
use loadgo_core::record::{Lost, Sample};

/// What makes rows of one kind of counts.
pub(crate) trait Part: Send {
    /// Reads what changes quickly, as near to the span's end as may be: of all parts before the first makes rows.
    fn read(&mut self, _loaded: &Loaded) {}

    /// The id of the thread that works for it, if one does: its time is the laboratory's.
    fn thread(&self) -> Option<i32> {
        None
    }

    /// Adds the rows of the span.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    fn rows(&mut self, loaded: &Loaded, span: Span, sample: &mut Sample) -> Result<(), String>;

    /// What was lost since this was last asked.
    fn take_lost(&mut self, _loaded: &Loaded, _span: Span) -> Vec<Lost> {
        Vec::new()
    }
}

type Begin = fn(&mut Loaded, &Wanted) -> Result<Option<Box<dyn Part>>, String>;

/// Every part: its meter, as in [`crate::available`], and what begins it (`None`: not wanted).
const PARTS: &[(&str, Begin)] = &[
    ("clock profile", profile::begin),
    ("waits by user", accounts::begin),
    ("total time", time::TotalTime::begin),
    ("queue", queue::Queue::begin),
    ("processes", processes::Processes::begin),
    ("primitives", calls::Calls::begin),
    ("primitives by user", by_user::ByUser::begin),
    ("faults", faults::Faults::begin),
    ("interrupts", interrupts::Interrupts::begin),
];

/// Begins what can begin; the rest is remembered as missing.
pub(crate) fn begin(loaded: &mut Loaded, wanted: &Wanted) -> Vec<Box<dyn Part>> {
    let mut parts = Vec::new();
    for (meter, begin) in PARTS {
        match begin(loaded, wanted) {
            Ok(part) => parts.extend(part),
            Err(why) => loaded.missing.push(Missing { meter, program: "", why }),
        }
    }
    parts
}
