//! Retention of keys: those of a dialogue that a cast may keep, and when that is decided.

use super::Dialogue;

/// Whether a cast may keep the keys since the last decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRetention {
    /// Not decided yet: the echo of a line may still come.
    Undecided,
    /// The screen showed all keys: they may be kept.
    Keys,
    /// The screen did not show some of the keys: none may be kept.
    NoKeys,
}

impl Dialogue {
    /// Decides whether the keys since the last decision may be kept.
    pub fn key_retention(&mut self) -> KeyRetention {
        match () {
            () if self.line.is_some() || !self.awaiting_echo.is_empty() => KeyRetention::Undecided,
            () if self.screen_keys.as_ref().is_some_and(|keys| keys.typed.is_undecided()) => KeyRetention::Undecided,
            // The command that runs may turn the echo off yet.
            () if !self.maybe_ahead.is_empty() && !self.has_unseen_keys => KeyRetention::Undecided,
            () if std::mem::take(&mut self.has_unseen_keys) => KeyRetention::NoKeys,
            () => KeyRetention::Keys,
        }
    }
}
