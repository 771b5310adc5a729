//! Log-ins: adds started sessions to the event loop, and prepares each until its prompt has our mark.

use super::end::End;
use super::{Chair, Host, Reach, Seat};
use crate::terminals::place::Place;
use crate::terminals::session::{Session, Watch};
use crate::terminals::setting::SessionsByPlace;
use crate::terminals::starting::{Finished, FollowedShell, Started, StartedSession};
use loadgo_core::ready::Nonce;
use loadgo_core::system::{Event, System, UserId};
use loadgo_core::time::Instant;
use std::io;
use std::sync::atomic::Ordering;

impl Host {
    /// Adds the started sessions to the event loop, and ends the log-ins whose shell was looked for.
    pub(super) fn take_from_starters(&mut self) {
        let Finished { started, followed, looked } = self.starters.take();
        for started in started {
            self.seat_or_refuse(started);
        }
        for (user, shell) in followed {
            self.end_search(user, shell);
        }
        for (user, at, state) in looked {
            self.end_look(user, at, state);
        }
    }

    pub(super) fn seat_or_refuse(&mut self, Started { user, nonce, session }: Started) {
        let at = self.now();
        let seated = session.and_then(|session| self.seat_one(user, nonce, session));
        let given_up = || self.reason_to_give_up(user).map_or(Ok(()), |reason| Err(io::Error::other(reason)));
        if let Err(reason) = seated.and_then(|()| given_up()) {
            self.let_go(user); // it may have a seat, and would be refused a second time
            self.pending.push(Event::Refused { user, at, reason: reason.to_string(), remedy: "" });
        } else if self.unwanted.contains(&user) {
            self.let_go(user);
        }
    }

    pub(super) fn seat_one(&mut self, user: UserId, nonce: Nonce, started: StartedSession) -> io::Result<()> {
        let StartedSession { master, pid, account, added } = started;
        let watch = Watch::of(&self.setting.script.until, &self.patterns);
        let session = Session::new(nonce, watch, self.now());
        if self.seats.len() <= user as usize {
            self.seats.resize_with(user as usize + 1, Chair::default);
        }
        self.by_pid.insert(pid, user);
        let reach = if self.setting.destinations.login().is_out_of_reach() { Reach::Elsewhere } else { Reach::Here };
        if reach == Reach::Here {
            self.meter.began_with(user, pid as u32, account);
        }
        let seat = Seat {
            session,
            master: Some(master),
            pid,
            alive: true,
            unsent: Vec::new(),
            is_in_turn: false,
            reach,
            typing_usage: None,
            log_out_keys: Box::default(),
        };
        self.seats[user as usize] = Chair::Taken(Box::new(seat));
        if self.early.remove(&user) {
            self.unread.push(user);
        }
        self.watch_silence(user);
        added
    }

    /// Handles a prompt: types the next of the lines that prepare the session, or reports that the user is logged in. If the line
    /// before has failed, it refuses the session.
    pub(super) fn prepare(&mut self, user: UserId, at: Instant, left: u32) {
        let screen = self.seats[user as usize].seat().map_or(&[][..], |seat| seat.session.screen());
        if let Some(failure) = self.preparations_of(user).failure(left, screen) {
            return self.end(user, End::because(&failure));
        }
        if left > 0 {
            let Some(seat) = self.seats[user as usize].seat() else { return };
            let line = self.preparations_of(user).line(left, user, seat.session.nonce());
            return self.type_preparation(user, &line, left - 1);
        }
        // For a controller the agent of the sessions' host follows them, also where that host is this one.
        let seeks = self.setting.destinations.login().is_out_of_reach() && self.setting.controller.is_none();
        let place = Place::on_screen(screen).filter(|_| seeks);
        let Some(seat) = self.seat(user) else { return };
        match (seat.reach, place) {
            (Reach::Elsewhere, Some(place)) => {
                let client = seat.pid;
                seat.reach = Reach::Sought;
                self.starters.follow(user, place, client);
            }
            (Reach::Sought, _) => {} // the prompt was drawn again
            (Reach::Elsewhere | Reach::Here, _) => self.logged_in(user, at),
        }
    }

    /// Ends the log-in of `user`: the starters have looked for the shell, and found it on this host or not.
    fn end_search(&mut self, user: UserId, shell: Option<FollowedShell>) {
        let Some(seat) = self.seat(user).filter(|seat| seat.reach == Reach::Sought && seat.session.is_logging_in()) else {
            return;
        };
        seat.reach = if shell.is_some() { Reach::Here } else { Reach::Elsewhere };
        if let Some(FollowedShell { pid, account }) = shell {
            self.meter.began_with(user, pid, account);
        }
        let at = self.now();
        self.logged_in(user, at);
    }

    /// Reports that `user` is logged in.
    fn logged_in(&mut self, user: UserId, at: Instant) {
        // The usage of the log-in belongs to no interaction.
        self.usage(user);
        if self.setting.destinations.login().is_out_of_reach() {
            let SessionsByPlace { here, elsewhere } = &*self.setting.by_place;
            let count = if self.is_metered(user) { here } else { elsewhere };
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.seat(user).expect("it has just answered").session.answer(None, true);
        self.silences.clear(user);
        self.pending.push(Event::LoggedIn { user, at });
    }

    /// Types a line that prepares the session; `left` such lines remain after it.
    pub(super) fn type_preparation(&mut self, user: UserId, line: &str, left: u32) {
        let watch = Watch::of(&self.setting.script.until, &self.patterns);
        let now = self.now();
        let Some(seat) = self.seat(user) else { return };
        seat.session.send_preparation(line.as_bytes(), watch, left, now);
        self.put(user, line.as_bytes());
        self.watch_silence(user);
    }
}
