//! Numbers of entries of maps whose size depends on the request.

use super::names::SYSTEM_CALL_NUMBERS;
use crate::wanted::{MeterRequest, Tier};

/// Largest number of sessions that are counted separately. With more, counts are by command alone: a thousand tables are too many to
/// read, and each count would miss its processor's cache.
pub(crate) const MOST_SESSIONS_APART: u32 = 1000;

/// Number of entries of the table of system calls for the host's processors; at least 1.
pub(crate) fn primitive_entries(wanted: &MeterRequest, processors: u32) -> u32 {
    if wanted.tier == Tier::Exact { processors * SYSTEM_CALL_NUMBERS as u32 } else { 1 }
}

/// Number of sums by user and command that are kept between two readings; at least 1.
pub(crate) fn user_sum_entries(wanted: &MeterRequest) -> u32 {
    if wanted.tier == Tier::Exact { 1 << 15 } else { 1 }
}

/// Number of sums of waits for locks, by kind, place and command (`MOST_LOCK_SUMS` of `bpf/meters/locks.h`); at least 1.
pub(crate) fn lock_sum_entries(wanted: &MeterRequest) -> u32 {
    if wanted.locks { 1 << 12 } else { 1 }
}

/// Number of names of processes: those of the host, and 32 for each session.
pub(crate) fn process_name_entries(wanted: &MeterRequest) -> u32 {
    wanted.accounts.saturating_mul(32).saturating_add(4096).min(1 << 18)
}
