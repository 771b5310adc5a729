//! Programs of a dialogue that take single keys: their keys become lines of the script.
//!
//! Most fill the screen, by switching to the terminal's second one. Others, such as `top`, are known by keys that were not
//! echoed when the shell's prompt comes.

use super::super::entry::{EnteredText, Entry, PromptKind, ReadyEvidence, TypedLine};
use super::super::presses::presses_of;
use super::super::screen_keys::KeysPart;
use super::super::strokes::{Stroke, plain_text};
use super::super::typed_keys::FEWEST_FIELD_CHARACTERS;
use super::{Dialogue, note_ready};
use loadgo_core::time::Instant;

impl Dialogue {
    /// Takes keys to the program that fills the screen.
    pub(super) fn on_screen_keys(&mut self, at: Instant, bytes: &[u8]) {
        let keys = self.screen_keys.get_or_insert_default();
        presses_of(bytes).into_iter().for_each(|press| keys.press(at, press));
        self.has_unseen_keys |= keys.typed.take_secret_found();
    }

    /// Takes what was typed to the program that fills the screen as hidden.
    pub(super) fn hide_screen_keys(&mut self) {
        if let Some(keys) = &mut self.screen_keys {
            keys.typed.hide_field();
            self.has_unseen_keys |= keys.typed.take_secret_found();
        }
    }

    /// Follows a change of the screen: a program fills it, or does so no longer.
    pub(super) fn follow_screen(&mut self, at: Instant) {
        if let Some(TypedLine { strokes, is_echoed, .. }) = &mut self.line
            && let Some(Stroke::Char(character)) = strokes.last()
        {
            *is_echoed |= self.screen.left_of_cursor().ends_with(*character);
        }
        if self.screen.is_full_screen() {
            let left_of_cursor = self.screen.left_of_cursor();
            self.screen_keys.get_or_insert_default().see(at, left_of_cursor);
        } else {
            self.end_screen_keys(true);
        }
    }

    /// Makes entries of the keys that were typed while a program filled the screen. `ended`: it fills it no longer.
    pub(super) fn end_screen_keys(&mut self, ended: bool) {
        let Some(mut keys) = self.screen_keys.take() else { return };
        let lines = keys.lines(ended);
        self.has_unseen_keys |= keys.typed.take_secret_found();
        self.left_out_keys += keys.left_out();
        if !lines.is_empty() {
            self.assign_to_command();
        }
        for line in lines {
            if let Some(at) = line.settled {
                note_ready(self.entries.last_mut(), ReadyEvidence { at, marked: false, status: None });
            }
            let is_burst = line.first_key == line.last_key;
            self.entries.push(Entry {
                entered: EnteredText::Keys(line.parts),
                prompt_kind: PromptKind::Screen,
                prompt: String::new(),
                prompt_bytes: Vec::new(),
                prompt_shown: line.settled,
                first_key: line.first_key,
                sent: line.last_key,
                keys: (!is_burst).then(|| line.count - 1),
                interrupted: None,
                ready: None,
                doubtful: false,
            });
        }
    }

    /// Takes a line without Enter as keys to a program, if nothing echoed it and the shell's prompt comes.
    ///
    /// A line that was typed ahead of its prompt would have been echoed.
    pub(super) fn end_unshown_line(&mut self) {
        let is_unshown = |line: &TypedLine| {
            let is_plain = line.strokes.iter().all(|stroke| matches!(stroke, Stroke::Char(_)));
            line.prompt_kind == PromptKind::Program && is_plain && !line.is_echoed && !line.hidden && !line.strokes.is_empty()
        };
        let Some(line) = self.line.take_if(|line| is_unshown(line)) else { return };
        let keys = plain_text(&line.strokes).replace('<', "<lt>");
        let is_secret = line.strokes.len() >= FEWEST_FIELD_CHARACTERS;
        self.has_unseen_keys |= is_secret;
        let parts = vec![if is_secret { KeysPart::Secret } else { KeysPart::Keys(keys) }];
        self.assign_to_command();
        self.entries.push(Entry {
            prompt_kind: PromptKind::Screen,
            prompt: String::new(),
            sent: line.last_key,
            ..line.entry(EnteredText::Keys(parts), false)
        });
    }
}
