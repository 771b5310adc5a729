//! How many entries those maps get whose size depends on what is asked of the meters.

use super::names::PRIMITIVES;
use crate::wanted::{Tier, Wanted};

/// With more sessions than that they are not told apart, only their commands: nobody reads a thousand tables, and each count
/// would miss its processor's cache.
pub(crate) const MOST_APART: u32 = 1000;

/// Entries of the table of primitives, one at least: on a host that may have so many processors.
pub(crate) fn primitives(wanted: &Wanted, processors: u32) -> u32 {
    if wanted.tier == Tier::Exact { processors * PRIMITIVES as u32 } else { 1 }
}

/// Sums by user and command that are kept between two readings, one at least.
pub(crate) fn sums_by_user(wanted: &Wanted) -> u32 {
    if wanted.tier == Tier::Exact { 1 << 15 } else { 1 }
}

/// Names of processes: those of the host, and so many more for each session.
pub(crate) fn names_of_processes(wanted: &Wanted) -> u32 {
    wanted.accounts.saturating_mul(32).saturating_add(4096).min(1 << 18)
}
