//! Decisions of a controller elsewhere: which users are given up, when barriers open, and that a driver which stood still stops.

use super::Host;
use super::end::End;
use crate::terminals::orders::{DriverOrder, GivenUp};
use loadgo_core::system::{Event, System, UserId};
use loadgo_core::time::Instant;

impl Host {
    /// Follows the orders that have come.
    pub(super) fn follow_orders(&mut self) {
        for order in self.setting.orders.take() {
            match order {
                DriverOrder::GiveUp(given_up) => self.give_up_users(given_up),
                DriverOrder::Open { barrier, at_ns } => {
                    self.openings.push((barrier, Instant(at_ns.saturating_sub(self.setting.origin_ns))));
                }
                DriverOrder::Stop => self.pending.push(Event::Stop { at: self.now() }),
            }
        }
    }

    /// Ends the sessions of users who are given up.
    fn give_up_users(&mut self, given_up: GivenUp) {
        let last = *given_up.users.end().min(&(self.seats.len() as UserId).saturating_sub(1));
        let users = *given_up.users.start()..=last;
        let reason = given_up.reason.clone();
        self.given_up.push(given_up);
        for user in users {
            self.end(user, End::because(&reason));
        }
    }

    /// The reason why `user` was given up; `None` for others.
    pub(super) fn reason_to_give_up(&self, user: UserId) -> Option<String> {
        self.given_up.iter().find(|given_up| given_up.users.contains(&user)).map(|given_up| given_up.reason.clone())
    }

    /// Opens the barriers whose instant has come.
    pub(super) fn open_barriers(&mut self, now: Instant) {
        let due = self.openings.extract_if(.., |(_, at)| *at <= now);
        self.pending.extend(due.map(|(barrier, at)| Event::Opened { barrier, at }));
    }

    /// Notes that the driver runs at `instant` at the latest, if nobody stops it.
    pub(super) fn is_awake_until(&mut self, instant: Instant) {
        if let Some(terms) = self.setting.controller {
            self.awake_until = instant + terms.most_standstill;
        }
    }

    /// Stops the driver if it has not run for so long that its controller has given it up.
    ///
    /// Such a process is stopped by a signal, or its host was. Its lines were due meanwhile, and nobody wants them any more.
    pub(super) fn check_standstill(&mut self) {
        let Some(terms) = self.setting.controller else { return };
        let now = self.now();
        if now > self.awake_until && !self.has_stood_still {
            let stood_s = (now.since(self.awake_until) + terms.most_standstill).as_secs_f64();
            let reason = format!("the driver stood still for {stood_s:.0} s, and its controller has given it up");
            self.has_stood_still = true;
            self.pending.push(Event::Stuck { at: now, reason });
        }
        self.is_awake_until(now);
    }

    /// Whether nothing may be typed any more.
    pub(super) fn must_not_type(&self) -> bool {
        self.has_stood_still || self.setting.controller.is_some() && self.now() > self.awake_until
    }
}
