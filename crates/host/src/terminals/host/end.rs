//! The end of a session: its terminal is closed, its first process has ended, or the run is over. Nothing stays behind.

use super::{Chair, Host};
use crate::terminals::login::PROMPT_REMEDY;
use crate::terminals::questions::Question;
use crate::terminals::refused_log_ins;
use crate::terminals::session::Stage;
use crate::terminals::starting::Started;
use loadgo_core::system::{Event, Response, System, UserId};
use loadgo_core::time::{Instant, Span};
use loadgo_sys::child::{self, Exit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use std::os::fd::AsFd;

/// Interval between two searches for sessions whose first process has ended while the terminal is still open.
const DEAD_SEARCH_INTERVAL: Span = Span::from_millis(100);
/// Time added to this interval for each user, because the kernel looks through all first processes at each search.
const DEAD_SEARCH_TIME_PER_USER: Span = Span(50_000);
/// Most sessions that one search ends; so their events take little memory when all users log out together. Chosen by hand.
const MOST_DEAD_SESSIONS: usize = 256;
/// Longest time from the end of a terminal to the end of the session's first process. Then the process has only closed the
/// terminal.
const LEADER_END_LIMIT: Span = Span::from_millis(20);

/// The end of a session.
pub(super) struct End {
    words: String,
    /// The exit status of the first process, if it exited by itself.
    status: Option<u8>,
    /// A change that would help; empty if none is known.
    remedy: &'static str,
}

impl End {
    /// An end without an exit status, for the reason in `words`.
    pub(super) fn because(words: &str) -> End {
        End { words: words.to_string(), status: None, remedy: "" }
    }

    /// The end of a log-in whose shell does not take the prompt, as `words` say.
    pub(super) fn without_prompt(words: &str) -> End {
        End { remedy: PROMPT_REMEDY, ..End::because(words) }
    }

    /// The end of a log-in that asked `question`.
    pub(super) fn by_question(question: Question) -> End {
        End { remedy: question.remedy(), ..End::because(question.words()) }
    }
}

impl Host {
    /// Handles a terminal whose other side no process holds any more. The session's first process is about to
    /// end, or runs on without the terminal.
    pub(super) fn closed(&mut self, user: UserId) {
        if let Some(end) = self.reap(user) {
            return self.end(user, end);
        }
        let until = self.now() + LEADER_END_LIMIT;
        if self.seat(user).is_some() {
            self.silences.set(user, until);
            self.hang_up_terminal(user);
        }
    }

    /// Ends a session: reports its end, kills its remaining processes, and releases its terminal.
    pub(super) fn end(&mut self, user: UserId, end: End) {
        let at = self.now();
        let End { words: how, status, remedy } = self.reap(user).unwrap_or(end);
        let usage = self.usage(user);
        let Some(seat) = self.seat(user) else { return };
        let stage = seat.session.stage;
        if stage == Stage::Over {
            return;
        }
        let words = seat.session.last_words();
        let remedy = if remedy.is_empty() { refused_log_ins::remedy(&words) } else { remedy };
        let response = Response { usage, ..seat.session.answer(status, true) };
        self.let_go(user);
        self.pending.push(match stage {
            Stage::LogIn | Stage::Preparing(_) if words.is_empty() => Event::Refused { user, at, reason: how, remedy },
            Stage::LogIn | Stage::Preparing(_) => {
                Event::Refused { user, at, reason: format!("{how}; it printed {words:?}"), remedy }
            }
            _ => Event::Ended { user, at, reason: how, response },
        });
    }

    /// The session's end, if its leader has ended.
    pub(super) fn reap(&mut self, user: UserId) -> Option<End> {
        let seat = self.seat(user).filter(|seat| seat.alive)?;
        let exit = child::reap(seat.pid)?;
        seat.alive = false;
        let pid = seat.pid;
        self.by_pid.remove(&pid);
        Some(match exit {
            Exit::Signal(signal) => End::because(&format!("the session's first process was ended by signal {signal}")),
            Exit::Status(status) => {
                let words = format!("the session's first process ended with status {status}");
                End { words, status: Some(status as u8), remedy: "" }
            }
        })
    }

    /// Hangs up the terminal and kills the user's remaining processes.
    pub(super) fn let_go(&mut self, user: UserId) {
        self.silences.clear(user);
        self.leaving.clear(user);
        self.meter.ended(user);
        self.hang_up_terminal(user);
        self.starters.kill(user);
        let Some(seat) = self.seat(user) else { return };
        seat.session.stage = Stage::Over;
        seat.unsent = Vec::new();
        if !seat.alive {
            self.over.push(user);
        } else {
            // The leader has not been reaped, so its process id and its group's id cannot belong to another process.
            for signal in [Signal::HUP, Signal::CONT, Signal::KILL] {
                child::signal_group(seat.pid, signal);
            }
        }
    }

    /// Removes the terminal from the event loop, and orders the starters to hang it up.
    fn hang_up_terminal(&mut self, user: UserId) {
        let Some(terminal) = self.seat(user).and_then(|seat| seat.master.take()) else { return };
        let _ = self.epoll.remove(terminal.as_fd()); // it may never have been added
        self.starters.hang_up(terminal);
    }

    /// Ends sessions whose leader has ended while another process keeps the terminal open. No read of the terminal reports that.
    pub(super) fn look_for_the_dead(&mut self, now: Instant) {
        self.next_look = now + DEAD_SEARCH_INTERVAL + Span(DEAD_SEARCH_TIME_PER_USER.0 * self.by_pid.len() as u64);
        if !child::any_has_ended() {
            return;
        }
        let users: Vec<UserId> = self.by_pid.values().copied().collect();
        let most = self.pending.len() + MOST_DEAD_SESSIONS;
        for user in users {
            if self.pending.len() >= most {
                self.next_look = now; // the others follow when the driver has taken these
                return;
            }
            let Some(end) = self.reap(user) else { continue };
            if self.seat(user).is_some_and(|seat| seat.session.stage == Stage::Over) {
                self.over.push(user);
            } else {
                self.drain(user);
                self.settle_all();
                self.end(user, end);
            }
        }
    }

    /// Clears the seats of users whose sessions are over. The driver may ask for a last screen until it has taken all events.
    pub(super) fn clear_seats(&mut self) {
        for user in std::mem::take(&mut self.over) {
            self.seats[user as usize] = Chair::Left;
        }
    }

    /// Reads the remaining output of a dead session.
    pub(super) fn drain(&mut self, user: UserId) {
        for _ in 0..64 {
            self.settle_all();
            let Some(master) = self.seat(user).and_then(|seat| seat.master.as_ref()) else { return };
            let mut looked_at = [PollFd::new(master, PollFlags::IN)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            if poll(&mut looked_at, Some(&now)).is_err() || !looked_at[0].revents().contains(PollFlags::IN) {
                return;
            }
            self.read_terminal(user);
        }
    }

    /// Ends all remaining sessions, and waits for their first processes.
    pub fn finish(&mut self) {
        for Started { user, nonce, session } in self.starters.finish() {
            let seated = session.and_then(|session| self.seat_one(user, nonce, session));
            drop(seated);
        }
        let users: Vec<UserId> = (0..self.seats.len() as UserId).filter(|&user| self.seat(user).is_some()).collect();
        for &user in &users {
            if self.seat(user).is_some_and(|seat| seat.session.stage != Stage::Over) {
                self.let_go(user);
            }
        }
        for user in users {
            let Some(seat) = self.seat(user).filter(|seat| seat.alive) else { continue };
            child::wait(seat.pid); // it was sent SIGKILL
            seat.alive = false;
        }
        self.by_pid.clear();
    }
}

/// Ends the sessions after a panic of the driver too, because no process may remain when homes and groups are removed.
impl Drop for Host {
    fn drop(&mut self) {
        self.finish();
    }
}
