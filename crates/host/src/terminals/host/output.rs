//! Input and output of sessions: writes typed keys to terminals, reads output, and reports users who are ready.

use super::end::End;
use super::{Chair, Host, ReadyUser};
use crate::terminals::login;
use crate::terminals::questions::Question;
use crate::terminals::session::{QUESTION_PATIENCE, Stage};
use loadgo_core::system::{Event, Response, UserId};
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use rustix::io::{Errno, read, write};
use rustix::termios::{LocalModes, tcgetattr};
use std::os::fd::{AsFd, OwnedFd};

/// Smallest number of bytes after which a terminal may hold more output. It is half of what a terminal holds.
const LONG_READING_BYTES: usize = 2048;

impl Host {
    /// Writes as many keys to a terminal as fit, and keeps the rest until there is room.
    pub(super) fn put(&mut self, user: UserId, keys: &[u8]) {
        if self.must_not_type() {
            return;
        }
        let Host { seats, epoll, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Chair::seat_mut) else { return };
        let Some(master) = &seat.master else { return };
        let written = if seat.unsent.is_empty() { write(master, keys).unwrap_or(0) } else { 0 };
        if written < keys.len() {
            seat.unsent.extend_from_slice(&keys[written..]);
            let _ = epoll.set_write_interest(master.as_fd(), u64::from(user), true);
        }
    }

    pub(super) fn put_rest(&mut self, user: UserId) {
        if self.must_not_type() {
            return;
        }
        let Host { seats, epoll, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Chair::seat_mut) else { return };
        let Some(master) = &seat.master else { return };
        let written = write(master, &seat.unsent).unwrap_or(0);
        seat.unsent.drain(..written);
        if seat.unsent.is_empty() {
            seat.unsent = Vec::new();
            let _ = epoll.set_write_interest(master.as_fd(), u64::from(user), false);
        }
    }

    pub(super) fn watch_silence(&mut self, user: UserId) {
        match self.seat(user).and_then(|seat| seat.session.quiet_deadline()) {
            Some(at) => self.silences.set(user, at),
            None => self.silences.clear(user),
        }
    }

    /// Reads a terminal once. If it may hold more output, the rest is read in the next round, after the other terminals.
    pub(super) fn read_terminal(&mut self, user: UserId) {
        let origin_ns = self.setting.origin_ns;
        let Host { seats, buffer, patterns, .. } = self;
        let Some(seat) = seats.get_mut(user as usize).and_then(Chair::seat_mut) else { return };
        let Some(master) = &seat.master else { return };
        if seat.is_in_turn {
            return self.unread.push(user); // output after the mark is no part of the answer
        }
        let count = match read(master, &mut buffer[..]) {
            Ok(count) if count > 0 => count,
            Err(Errno::AGAIN | Errno::INTR) => return,
            _ => return self.closed(user),
        };
        let now = Instant(monotonic_ns() - origin_ns);
        if let Some(status) = seat.session.feed(&buffer[..count], now, patterns) {
            seat.is_in_turn = true;
            self.ready.push_back(ReadyUser { user, at: now, status, is_confirmed: true, settled: None });
        }
        let answers = seat.session.take_answers();
        let in_doubt = seat.session.is_logging_in() || seat.session.ends_with_silence() || seat.session.awaits_screen();
        if count >= LONG_READING_BYTES {
            self.unread.push(user);
        }
        if in_doubt {
            self.watch_silence(user);
        }
        if !answers.is_empty() {
            self.put(user, &answers);
        }
    }

    /// Handles all users who are ready.
    pub(super) fn settle_all(&mut self) {
        self.settle(usize::MAX);
    }

    /// Handles up to `most` users who are ready: types the next preparation, ends the log-in, or answers the line.
    pub(super) fn settle(&mut self, most: usize) {
        for _ in 0..most {
            let Some(ready) = self.ready.pop_front() else { return };
            let user = ready.user;
            let Some(seat) = self.seat(user) else { continue };
            seat.is_in_turn = false;
            match seat.session.stage {
                Stage::Line => self.answer(ready),
                Stage::LogIn => self.prepare(user, ready.at, self.preparations_of(user).count()),
                Stage::Preparing(left) => self.prepare(user, ready.at, left),
                Stage::Idle | Stage::Over => {}
            }
        }
    }

    fn answer(&mut self, ReadyUser { user, at, status, is_confirmed, settled }: ReadyUser) {
        let usage = self.usage(user);
        let seat = self.seat(user).expect("it has just answered");
        let response = Response { usage, settled, ..seat.session.answer(status, is_confirmed) };
        self.silences.clear(user);
        self.pending.push(Event::Ready { user, at, response });
    }

    /// Handles a session that has been silent for as long as its stage allows.
    pub(super) fn silent(&mut self, user: UserId, now: Instant) {
        let Some(seat) = self.seat(user) else { return };
        if seat.master.is_none() && seat.session.stage != Stage::Over {
            return self.end(user, End::because("the session closed its terminal"));
        }
        if seat.session.awaits_screen() {
            return self.judge_screen(user, now);
        }
        if seat.session.ends_with_silence() && !seat.session.is_log_in_over_its_limit(now) {
            seat.is_in_turn = true;
            // The answer to a line ended with its last output. The silence after it only shows that.
            let at = if seat.session.stage == Stage::Line { seat.session.last_output } else { now };
            self.ready.push_back(ReadyUser { user, at, status: None, is_confirmed: false, settled: None });
            return;
        }
        if seat.session.is_logging_in() { self.silent_log_in(user, now) } else { self.watch_silence(user) }
    }

    /// Handles a log-in that has been silent: gives it up if it asks what nobody answers or has taken too long, or sets its prompt.
    fn silent_log_in(&mut self, user: UserId, now: Instant) {
        let Some(seat) = self.seat(user) else { return };
        let session = &seat.session;
        let hides_line = seat.master.as_ref().is_some_and(hides_line);
        let question = Question::at_end_of(session.screen(), hides_line);
        let patience_ends = session.last_output + QUESTION_PATIENCE;
        match (question, session.stage) {
            (Some(question), _) if patience_ends <= now => self.end(user, End::by_question(question)),
            (None, Stage::Preparing(_)) if login::is_other_shell(session.screen()) => {
                seat.session.forget_screen(); // a shell that colours and completes shows no readable text
                self.end(user, End::without_prompt("the account's shell is not of the Bourne family, as fish is not"));
            }
            _ if session.limit() <= now => self.end(user, End::without_prompt("it gave no prompt within a minute")),
            (Some(_), _) => self.silences.set(user, patience_ends),
            (None, Stage::LogIn) if session.awaits_mark() && session.quiet_deadline().is_some_and(|at| at <= now) => {
                let line = login::prompt_line(session.nonce());
                let left = self.preparations_of(user).count_after_prompt_line();
                self.type_preparation(user, &line, left);
            }
            (None, _) => {
                // The next output sets an earlier deadline again.
                let at = session.quiet_deadline().filter(|&at| at > now).unwrap_or(session.limit());
                self.silences.set(user, at);
            }
        }
    }
}

/// Whether the terminal collects a line and does not show it, as a program does that asks for a password.
fn hides_line(terminal: &OwnedFd) -> bool {
    let modes = tcgetattr(terminal).map(|settings| settings.local_modes);
    modes.is_ok_and(|modes| modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO))
}
