//! The set of eligible (multiprogrammed) processes, and the limit that decides whether another process may join it.

use super::paging::PagingState;
use crate::admission::Admission;
use crate::disciplines::ProcessId;
use crate::meters::TimedCount;
use crate::spec::EligibilityLimit;

/// The eligible processes, and those that ask to be eligible.
#[derive(Clone, Debug)]
pub(super) struct Eligibility {
    control: Admission,
    /// Whether every process that asks is admitted at once. Then `members` stays empty.
    is_unlimited: bool,
    /// Whether the limit counts the pages of working sets.
    counts_pages: bool,
    /// The store that the control of the limit checks.
    checked_store: Option<usize>,
    /// Whether the next check of that store is in the calendar.
    check_is_due: bool,
    members: Vec<ProcessId>,
    /// Processes that ask to be eligible.
    pub asking: TimedCount,
    /// Processes that are eligible.
    pub eligible: TimedCount,
}

impl Eligibility {
    /// The set under this limit, empty.
    pub fn new(limit: &EligibilityLimit) -> Eligibility {
        Eligibility {
            control: Admission::new(limit),
            is_unlimited: *limit == EligibilityLimit::None,
            counts_pages: matches!(limit, EligibilityLimit::WorkingSets { .. }),
            checked_store: match limit {
                EligibilityLimit::DeviceBusy { store, .. } => Some(*store),
                _ => None,
            },
            check_is_due: false,
            members: Vec::new(),
            asking: TimedCount::default(),
            eligible: TimedCount::default(),
        }
    }

    /// Number of processes that may be eligible at the beginning; `u32::MAX`: no limit.
    pub fn level(&self) -> u32 {
        self.control.level()
    }

    /// Whether the limit and the memory have room for `pid`.
    #[inline]
    pub fn can_admit(&self, pid: ProcessId, paging: Option<&PagingState>) -> bool {
        self.is_unlimited || self.is_within_limit(pid, paging)
    }

    #[inline]
    fn is_within_limit(&self, pid: ProcessId, paging: Option<&PagingState>) -> bool {
        let eligible = self.members.len() as u32;
        let Some(paging) = paging.filter(|_| self.counts_pages) else {
            return self.control.may_admit(eligible, 0, 0, 0);
        };
        let held = self.members.iter().map(|pid| u64::from(paging.frames.working_set(*pid))).sum();
        self.control.may_admit(eligible, paging.frames.working_set(pid), held, paging.room)
    }

    /// Makes `pid`, which asked for it, eligible.
    #[inline]
    pub fn add(&mut self, pid: ProcessId, now: u64) {
        self.asking.fall(now);
        self.eligible.rise(now);
        if !self.is_unlimited {
            self.members.push(pid);
        }
    }

    /// Makes `pid` not eligible any more.
    #[inline]
    pub fn remove(&mut self, pid: ProcessId, now: u64) {
        self.eligible.fall(now);
        if !self.is_unlimited {
            let place = self.members.iter().position(|other| *other == pid);
            self.members.swap_remove(place.expect("a process that loses eligibility has it"));
        }
    }

    /// The time until the next check of the limit's device, if it is to be scheduled now. None if it is scheduled already.
    #[inline]
    pub fn period_to_next_check(&mut self) -> Option<u64> {
        if self.is_unlimited {
            return None;
        }
        let period_ns = self.control.every_ns().filter(|_| !self.check_is_due)?;
        self.check_is_due = true;
        Some(period_ns)
    }

    /// The store for the scheduled check, which has come.
    pub fn store_to_check(&mut self) -> Option<usize> {
        self.check_is_due = false;
        self.checked_store
    }

    /// Adjusts the limit to the service and the number of servers of a store, while `waiting` processes ask.
    pub fn adjust_limit(&mut self, now: u64, (busy_ns, servers): (u64, u32), waiting: usize) {
        self.control.check(now, busy_ns, servers, waiting);
    }
}
