//! Sessions whose user types to a program that fills the screen.

use super::{Session, Stage, Watch};
use crate::terminals::screen::ScreenWatch;
use loadgo_core::ready::ReadyPatterns;
use loadgo_core::time::Instant;

/// The worth of a screen that has stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The script promised what the screen shows.
    AsPromised,
    /// The screen does not show what the script promised: the session waits on.
    NotAsPromised,
    /// The script promised nothing: what the program does may be known elsewhere.
    Unpromised,
}

/// Keys whose answer is being looked at: an answer to a look counts if nothing has happened since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookedAt {
    sent: Instant,
    changed: Option<Instant>,
}

impl Session {
    /// Whether the screen says when the present line is answered.
    pub(crate) fn awaits_screen(&self) -> bool {
        matches!(self.watch, Watch::Screen { .. })
    }

    /// Notes that keys, or a line that starts a program, were sent at `sent`: changes of the screen count from there.
    pub(crate) fn begin_screen(&mut self, sent: Instant) {
        if self.awaits_screen() {
            self.screen_watch.get_or_insert_with(|| Box::new(ScreenWatch::new())).begin(sent);
        }
    }

    /// The terminal's answers to the program's questions.
    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        self.screen_watch.as_mut().map_or_else(Vec::new, |screen| screen.take_answers())
    }

    /// The worth of the screen, if it has stood still at `now` for as long as the present line asks.
    pub(crate) fn settled(&self, now: Instant, patterns: &ReadyPatterns) -> Option<Settled> {
        let (Watch::Screen { promise, settle }, Stage::Line) = (self.watch, self.stage) else { return None };
        let screen = self.screen_watch.as_ref().filter(|screen| screen.settles(settle) <= now)?;
        let promise = promise.map(|promise| patterns.screen(promise)).filter(|promise| promise.is_given());
        Some(match promise.filter(|_| !self.is_interrupted) {
            Some(promise) if screen.keeps(promise) => Settled::AsPromised,
            Some(_) => Settled::NotAsPromised,
            None => Settled::Unpromised,
        })
    }

    /// The keys and the last change that a look is about.
    pub(crate) fn looked_at(&self) -> Option<LookedAt> {
        let screen = self.screen_watch.as_ref().filter(|_| self.stage == Stage::Line && self.awaits_screen())?;
        Some(LookedAt { sent: screen.sent(), changed: screen.changed() })
    }

    /// Notes that the program was at work at `now`, so that the screen is looked at again later.
    pub(crate) fn look_again(&mut self, now: Instant) {
        if let (Some(screen), Watch::Screen { settle, .. }) = (&mut self.screen_watch, self.watch) {
            screen.look_again(now, settle);
        }
    }

    /// Notes that the terminal was between two programs; true if it was so for many looks.
    pub(crate) fn changes_hands_too_long(&mut self) -> bool {
        self.screen_watch.as_mut().is_none_or(|screen| screen.changes_hands_too_long())
    }

    /// Notes that a look at the program told nothing; true if one before told nothing either.
    pub(crate) fn is_unknown_again(&mut self) -> bool {
        self.screen_watch.as_mut().is_none_or(|screen| screen.is_unknown_again())
    }

    /// When the screen last changed; when the keys were sent, if it has not changed.
    pub(crate) fn last_change(&self) -> Instant {
        let screen = self.screen_watch.as_ref().expect("the screen is watched");
        screen.changed().unwrap_or(screen.sent())
    }
}
