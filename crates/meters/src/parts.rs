//! All parts of the meters, in the order in which they begin and make rows.

use crate::part::{Context, Part};
use crate::profile;
use crate::programs::load::Missing;
use crate::tables::{by_user, calls, faults, freed_accounts, interrupts, processes, queue, time};
use crate::wanted::Wanted;

type Begin = fn(&mut Context, &Wanted) -> Result<Option<Box<dyn Part>>, String>;

/// Every part: its meter, as in [`crate::available`], and what begins it (`None`: not wanted).
const PARTS: &[(&str, Begin)] = &[
    ("clock profile", profile::begin),
    ("waits by user", freed_accounts::begin),
    ("total time", time::TotalTime::begin),
    ("queue", queue::Queue::begin),
    ("processes", processes::Processes::begin),
    ("primitives", calls::Calls::begin),
    ("primitives by user", by_user::ByUser::begin),
    ("faults", faults::Faults::begin),
    ("interrupts", interrupts::Interrupts::begin),
];

/// Begins what can begin; the rest is remembered as missing.
pub(crate) fn begin(context: &mut Context, wanted: &Wanted) -> Vec<Box<dyn Part>> {
    let mut parts = Vec::new();
    for (meter, begin) in PARTS {
        match begin(context, wanted) {
            Ok(part) => parts.extend(part),
            Err(why) => context.loaded.missing.push(Missing { meter, program: "", why }),
        }
    }
    parts
}
