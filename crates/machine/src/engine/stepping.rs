//! Time moves: the next event is taken and handled, again and again, until there is something to report.

use super::clockwork::Clockwork;
use super::error::EngineError;
use super::events::CalendarEvent;
use super::sink::InteractionSink;
use super::told::Advance;
use crate::disciplines::ReadyList;
use crate::meters::MachineMeters;

/// Events between two checks whether to go on.
const EVENTS_BETWEEN_CHECKS: u32 = 1 << 16;
/// Checks in a row without progress of time that are a standstill.
const STANDSTILL_CHECKS: u32 = 100;
/// The last instant of a machine's time, after 292 years: the longest of all spans, 2^63 - 1 ns, ends beyond it.
const LAST_INSTANT_NS: u64 = i64::MAX as u64 - 1;

impl<L: ReadyList> Clockwork<L> {
    /// Handles the next event if it comes at `until` or before, and says whether there was one.
    #[inline(always)]
    fn step(&mut self, until: u64) -> bool {
        if self.shared.is_none() || !self.on_share_end(until) {
            let Some(event) = self.events.take_next(until) else { return false };
            match event {
                CalendarEvent::SegmentEnd(p) => self.on_segment_end(p),
                CalendarEvent::ServiceEnd { store, server } => self.on_service_end(store, server),
                CalendarEvent::ThinkEnd(pid) => self.on_think_end(pid),
                CalendarEvent::Arrival(class) => self.on_arrival(class),
                CalendarEvent::LimitCheck => self.on_limit_check(),
                CalendarEvent::Refill(pid) => self.on_refill(pid),
                CalendarEvent::Balance => self.on_balance(),
                CalendarEvent::Cancelled => {}
            }
        }
        self.update_idle_causes();
        true
    }

    /// Moves time up to the next report, or to `until`; it comes back after some tens of thousands of events without a report.
    pub fn move_on(&mut self, until: Option<u64>) -> Advance {
        let end = until.unwrap_or(LAST_INSTANT_NS).min(LAST_INSTANT_NS);
        for _ in 0..EVENTS_BETWEEN_CHECKS {
            if let Some(event) = self.reports.pop_front() {
                return Advance::Event(event);
            }
            if self.execution.failure.is_some() {
                return Advance::Nothing;
            }
            if !self.step(end) {
                match until {
                    Some(until) if until <= LAST_INSTANT_NS => self.events.now = self.events.now.max(until),
                    None if self.next_at().is_none() => {}
                    _ => self.execution.failure = Some(EngineError::TimeLimit),
                }
                return Advance::Nothing;
            }
        }
        Advance::NotYet
    }

    /// Runs the machine's own users until the sink has enough, and returns the meters at that instant.
    ///
    /// # Errors
    /// The machine cannot go on.
    pub fn run_own_users(&mut self, sink: &mut impl InteractionSink) -> Result<MachineMeters, EngineError> {
        let until = sink.ends_at().unwrap_or(u64::MAX);
        let mut standstill_checks = 0;
        loop {
            let before = self.events.now;
            for _ in 0..EVENTS_BETWEEN_CHECKS {
                if !self.step(until.min(LAST_INSTANT_NS)) {
                    return self.stop_at(until);
                }
                if let Some((class, response_ns)) = self.finished.take()
                    && !sink.finished(class, self.events.now, response_ns)
                {
                    return self.outcome();
                }
            }
            if self.execution.failure.is_some() || !sink.goes_on(self.events.now) {
                return self.outcome();
            }
            standstill_checks = if self.events.now == before { standstill_checks + 1 } else { 0 };
            if standstill_checks == STANDSTILL_CHECKS {
                return Err(EngineError::NoTimePasses);
            }
        }
    }

    /// Ends a run in which no event comes up to `until`, or up to the last instant.
    #[cold]
    fn stop_at(&mut self, until: u64) -> Result<MachineMeters, EngineError> {
        if self.execution.failure.is_none() && self.next_at().is_none() {
            return Err(EngineError::NothingToCome);
        }
        if until <= LAST_INSTANT_NS {
            self.events.now = self.events.now.max(until);
        } else {
            self.execution.failure.get_or_insert(EngineError::TimeLimit);
        }
        self.outcome()
    }

    /// The meters, unless the machine could not go on as it was described.
    #[cold]
    fn outcome(&self) -> Result<MachineMeters, EngineError> {
        self.execution.failure.clone().map_or_else(|| Ok(self.meters()), Err)
    }
}
