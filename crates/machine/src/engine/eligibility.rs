//! The set of eligible (multiprogrammed) processes, and the limit that decides whether one more may join it.

use super::paging::PagingState;
use crate::admission::Admission;
use crate::disciplines::Job;
use crate::meters::Level;
use crate::spec::Limit;

/// The eligible processes, and those that ask to be eligible.
#[derive(Clone, Debug)]
pub(super) struct Eligibility {
    control: Admission,
    /// Every process that asks is admitted at once; `members` stays empty.
    is_unlimited: bool,
    /// The limit counts the pages of working sets.
    counts_pages: bool,
    /// The store that the control of the limit checks.
    checked_store: Option<usize>,
    /// The next check of that store is in the calendar.
    check_is_due: bool,
    members: Vec<Job>,
    /// Processes that ask to be eligible.
    pub asking: Level,
    /// Processes that are eligible.
    pub eligible: Level,
}

impl Eligibility {
    /// The set under this limit, empty.
    pub fn new(limit: &Limit) -> Eligibility {
        Eligibility {
            control: Admission::new(limit),
            is_unlimited: *limit == Limit::None,
            counts_pages: matches!(limit, Limit::WorkingSets { .. }),
            checked_store: match limit {
                Limit::DeviceBusy { store, .. } => Some(*store),
                _ => None,
            },
            check_is_due: false,
            members: Vec::new(),
            asking: Level::default(),
            eligible: Level::default(),
        }
    }

    /// How many processes may be eligible at the beginning; `u32::MAX`: all.
    pub fn level(&self) -> u32 {
        self.control.level()
    }

    /// Whether the limit and the memory have room for `job`.
    #[inline]
    pub fn can_admit(&self, job: Job, paging: Option<&PagingState>) -> bool {
        self.is_unlimited || self.is_within_limit(job, paging)
    }

    #[inline]
    fn is_within_limit(&self, job: Job, paging: Option<&PagingState>) -> bool {
        let eligible = self.members.len() as u32;
        let Some(paging) = paging.filter(|_| self.counts_pages) else {
            return self.control.may_admit(eligible, 0, 0, 0);
        };
        let held = self.members.iter().map(|job| u64::from(paging.frames.working_set(*job))).sum();
        self.control.may_admit(eligible, paging.frames.working_set(job), held, paging.room)
    }

    /// Makes `job`, which asked for it, eligible.
    #[inline]
    pub fn add(&mut self, job: Job, now: u64) {
        self.asking.fall(now);
        self.eligible.rise(now);
        if !self.is_unlimited {
            self.members.push(job);
        }
    }

    /// Makes `job` not eligible any more.
    #[inline]
    pub fn remove(&mut self, job: Job, now: u64) {
        self.eligible.fall(now);
        if !self.is_unlimited {
            let place = self.members.iter().position(|other| *other == job);
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

    /// The store that the scheduled check, which has come, looks at.
    pub fn store_to_check(&mut self) -> Option<usize> {
        self.check_is_due = false;
        self.checked_store
    }

    /// Adjusts the limit to a store with this service until now and so many servers, while `waiting` processes ask.
    pub fn adjust_limit(&mut self, now: u64, (busy_ns, servers): (u64, u32), waiting: usize) {
        self.control.look(now, busy_ns, servers, waiting);
    }
}
