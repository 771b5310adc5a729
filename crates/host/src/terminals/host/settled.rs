//! Users whose screen has stood still: whether the program waits for keys, is at work, or neither is known.

use super::seat::Reach;
use super::{Host, ReadyUser};
use crate::terminals::foreground::ForegroundState;
use crate::terminals::session::by_screen::{LookedAt, Settled};
use crate::terminals::starting::ForegroundLook;
use loadgo_core::system::{System, UserId};
use loadgo_core::time::Instant;
use rustix::termios::tcgetpgrp;

impl Host {
    /// Handles a screen that may have stood still for as long as the line or the keys ask.
    pub(super) fn judge_screen(&mut self, user: UserId, now: Instant) {
        let Host { seats, patterns, .. } = self;
        let Some(seat) = seats.get(user as usize).and_then(super::Chair::seat) else { return };
        match seat.session.settled(now, patterns) {
            None => self.watch_silence(user),
            Some(Settled::NotAsPromised) => {} // the next output sets a deadline again
            Some(Settled::AsPromised) => self.answer_by_screen(user, true),
            Some(Settled::Unpromised) => self.look_at_foreground(user),
        }
    }

    /// Orders a starter to look at the program in the foreground, since the look may have to wait for the kernel.
    fn look_at_foreground(&mut self, user: UserId) {
        let Some(seat) = self.seat(user) else { return };
        let group = seat.master.as_ref().and_then(|terminal| tcgetpgrp(terminal).ok());
        let at = seat.session.looked_at();
        let (Some(group), Some(at), Reach::Here) = (group, at, seat.reach) else {
            return self.answer_by_screen(user, false);
        };
        let look = ForegroundLook { user, at, leader: seat.pid as u32, group: group.as_raw_nonzero().get() as u32 };
        self.starters.look(look);
    }

    /// Takes the answer to a look, unless something has happened since.
    pub(super) fn end_look(&mut self, user: UserId, at: LookedAt, state: ForegroundState) {
        self.read_terminal(user); // a mark that has come meanwhile says more than the look
        let now = self.now();
        let Some(seat) = self.seat(user).filter(|seat| seat.session.looked_at() == Some(at) && !seat.is_in_turn) else { return };
        let looks_again = match state {
            ForegroundState::WaitsForKeys => false,
            ForegroundState::AtWork => true,
            ForegroundState::ChangesHands => !seat.session.changes_hands_too_long(),
            // It may have been between two calls.
            ForegroundState::Unknown => !seat.session.is_unknown_again(),
        };
        if !looks_again {
            return self.answer_by_screen(user, state == ForegroundState::WaitsForKeys);
        }
        seat.session.look_again(now);
        self.watch_silence(user);
    }

    /// The answer to the keys ended with the last change of the screen. The rest of the time only showed that.
    fn answer_by_screen(&mut self, user: UserId, is_confirmed: bool) {
        let now = self.now();
        let Some(seat) = self.seat(user) else { return };
        seat.is_in_turn = true;
        let at = seat.session.last_change();
        self.ready.push_back(ReadyUser { user, at, status: None, is_confirmed, settled: Some(now) });
    }
}
