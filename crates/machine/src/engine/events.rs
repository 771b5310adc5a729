//! The clock of a simulated machine and its future events, as entries of the calendar.

use crate::calendar::{Calendar, PAYLOAD_BITS};
use crate::disciplines::ProcessId;

/// A calendar entry has the kind of event above these bits, and below it the number of a process, processor, class or server.
const ENTITY_BITS: u32 = 22;
const ENTITY_MASK: u32 = (1 << ENTITY_BITS) - 1;
/// Largest number of users, and of requests in one store at once.
pub(crate) const MOST_PROCESSES: usize = 1 << ENTITY_BITS;
/// Largest number of stores.
pub(crate) const MOST_STORES: usize = (1 << (PAYLOAD_BITS - ENTITY_BITS)) - EventKind::ServiceEnd as usize;
/// The entry of a processor has the processor's number in these bits, and its epoch above them.
const PROCESSOR_BITS: u32 = 10;
const PROCESSOR_MASK: u32 = (1 << PROCESSOR_BITS) - 1;
/// Largest number of processors.
pub(crate) const MOST_PROCESSORS: usize = 1 << PROCESSOR_BITS;
/// Largest number of cancelled entries in the calendar; fewer than there are epochs.
const MOST_CANCELLED_ENTRIES: u32 = 2_000;

/// Kinds of calendar entries; those of the second and later stores follow the first store's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    SegmentEnd,
    ThinkEnd,
    Arrival,
    LimitCheck,
    Refill,
    Balance,
    ServiceEnd,
}

/// An event at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CalendarEvent {
    /// The processor has finished its segment.
    SegmentEnd(usize),
    /// The end of a segment that was cut short: nothing happens.
    Cancelled,
    /// A user of the machine's own load has finished thinking.
    ThinkEnd(ProcessId),
    /// A user of an open class arrives.
    Arrival(usize),
    /// The control of the multiprogramming limit checks its device.
    LimitCheck,
    /// The quota of a throttled process is refilled.
    Refill(ProcessId),
    /// Waiting processes are moved to idle processors.
    Balance,
    /// A store's server has finished a service.
    ServiceEnd {
        /// The store's number.
        store: usize,
        /// The server of the store.
        server: u32,
    },
}

/// The clock, and all events to come.
#[derive(Clone, Debug)]
pub(super) struct EventQueue {
    /// The present instant, in ns since the machine's beginning.
    pub now: u64,
    calendar: Calendar,
    /// For each processor, the epoch of the entries that still hold.
    epochs: Vec<u32>,
    /// Cancelled entries that are still in the calendar.
    cancelled: u32,
}

impl EventQueue {
    /// The queue of a machine with this number of processors, without events.
    pub fn new(processors: usize) -> EventQueue {
        EventQueue { now: 0, calendar: Calendar::default(), epochs: vec![0; processors], cancelled: 0 }
    }

    /// When the next event comes. None if no event will ever come.
    #[inline]
    pub fn next_at(&mut self) -> Option<u64> {
        self.calendar.next_at()
    }

    /// Moves the clock to the next event and removes it, if it comes at `until` or before.
    #[inline(always)]
    pub fn take_next(&mut self, until: u64) -> Option<CalendarEvent> {
        let (at, payload) = self.calendar.take_next_until(until)?;
        debug_assert!(at >= self.now, "time goes back");
        self.now = at;
        let (kind, entity) = (payload >> ENTITY_BITS, payload & ENTITY_MASK);
        Some(if kind == EventKind::SegmentEnd as u32 {
            let processor = (entity & PROCESSOR_MASK) as usize;
            if self.epochs[processor] == entity >> PROCESSOR_BITS {
                CalendarEvent::SegmentEnd(processor)
            } else {
                self.cancelled -= 1;
                CalendarEvent::Cancelled
            }
        } else if kind >= EventKind::ServiceEnd as u32 {
            CalendarEvent::ServiceEnd { store: (kind - EventKind::ServiceEnd as u32) as usize, server: entity }
        } else if kind == EventKind::ThinkEnd as u32 {
            CalendarEvent::ThinkEnd(entity)
        } else if kind == EventKind::Arrival as u32 {
            CalendarEvent::Arrival(entity as usize)
        } else if kind == EventKind::Refill as u32 {
            CalendarEvent::Refill(entity)
        } else if kind == EventKind::Balance as u32 {
            CalendarEvent::Balance
        } else {
            CalendarEvent::LimitCheck
        })
    }

    /// Schedules the end of processor `p`'s segment, `length_ns` from now.
    #[inline(always)]
    pub fn schedule_segment_end(&mut self, p: usize, length_ns: u64) {
        let entity = self.epochs[p] << PROCESSOR_BITS | p as u32;
        self.calendar.enter_soon(self.now.saturating_add(length_ns), entity);
    }

    /// Cancels the scheduled end of processor `p`'s segment.
    #[inline]
    pub fn cancel_segment_end(&mut self, p: usize) {
        self.epochs[p] = (self.epochs[p] + 1) & (ENTITY_MASK >> PROCESSOR_BITS);
        self.cancelled += 1;
        if self.cancelled > MOST_CANCELLED_ENTRIES {
            self.cancelled = 0;
            let epochs = &self.epochs;
            self.calendar.retain_soon(|payload| {
                payload >> ENTITY_BITS != EventKind::SegmentEnd as u32
                    || epochs[(payload & PROCESSOR_MASK) as usize] == payload >> PROCESSOR_BITS
            });
        }
    }

    /// Schedules the end of a user's think time.
    #[inline]
    pub fn schedule_think_end(&mut self, pid: ProcessId, think_ns: u64) {
        self.schedule(think_ns, EventKind::ThinkEnd, pid);
    }

    /// The processes of users whose think times have come near their ends since the last call. A machine of few users has none.
    #[inline]
    pub fn take_approaching_think_ends(&mut self) -> impl Iterator<Item = ProcessId> + use<> {
        let approaching = self.calendar.take_approaching();
        let is_think_end = |payload: &u32| payload >> ENTITY_BITS == EventKind::ThinkEnd as u32;
        approaching.filter(is_think_end).map(|payload| payload & ENTITY_MASK)
    }

    /// Schedules the next arrival of a user of `class`.
    #[inline]
    pub fn schedule_arrival(&mut self, class: usize, gap_ns: u64) {
        self.schedule(gap_ns, EventKind::Arrival, class as u32);
    }

    /// Schedules the next check of the multiprogramming limit.
    pub fn schedule_limit_check(&mut self, period_ns: u64) {
        self.schedule(period_ns, EventKind::LimitCheck, 0);
    }

    /// Schedules the refill of the quota of `pid` at the instant `at`.
    pub fn schedule_refill(&mut self, pid: ProcessId, at: u64) {
        self.calendar.enter_soon(at, (EventKind::Refill as u32) << ENTITY_BITS | pid);
    }

    /// Schedules that waiting processes are moved to idle processors at the instant `at`.
    pub fn schedule_balance(&mut self, at: u64) {
        self.calendar.enter_soon(at, (EventKind::Balance as u32) << ENTITY_BITS);
    }

    /// Schedules the end of a service at the instant `at`.
    #[inline]
    pub fn schedule_service_end(&mut self, store: usize, server: u32, at: u64) {
        self.calendar.enter_soon(at, (EventKind::ServiceEnd as u32 + store as u32) << ENTITY_BITS | server);
    }

    #[inline]
    fn schedule(&mut self, after_ns: u64, kind: EventKind, entity: u32) {
        self.calendar.enter(self.now.saturating_add(after_ns), (kind as u32) << ENTITY_BITS | entity);
    }
}
