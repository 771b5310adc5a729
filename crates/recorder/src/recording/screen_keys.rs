//! Keys typed to a program that fills the screen, and the judgement which of them may be kept.
//!
//! Such a program shows what it likes. A character counts as shown if it stands left of the cursor when the screen has
//! changed. What was typed into a field counts as shown if its last characters, two at least, were shown each, and stand there
//! together when a key ends the field. Else it may be a password: it is not kept. In case of doubt, such as `jjj` and Enter, it
//! is not kept either.

mod field;

use super::presses::Press;
pub(super) use field::FEWEST_FIELD_CHARACTERS;
use field::{is_typed, longest_shown};
use loadgo_core::time::{Instant, Span};
use std::ops::Range;

/// Pause between two keys after which a new line of the script begins. Chosen by hand: twice the longest usual time between keys.
const PAUSE: Span = Span::from_secs(1);
/// Most keys of one line of the script.
const MOST_LINE_KEYS: usize = 10_000;
/// Time without a change after which a screen has settled, as in scripts.
const SETTLE: Span = loadgo_core::script::DEFAULT_SETTLE;

/// A part of the keys of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeysPart {
    /// Keys in the notation of scripts.
    Keys(String),
    /// Characters that the screen did not show, and that are not kept.
    Secret,
}

/// The keys of one line of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeysLine {
    pub parts: Vec<KeysPart>,
    /// Instant of the first key.
    pub first_key: Instant,
    /// Instant of the last key.
    pub last_key: Instant,
    /// Number of keys.
    pub count: u32,
    /// Instant at which the screen had settled before the first key; `None` when the keys came before that.
    pub settled: Option<Instant>,
}

/// The keys since a program filled the screen.
#[derive(Debug, Default)]
pub(super) struct ScreenKeys {
    keys: Vec<PressedKey>,
    /// Index of the first key that the screen may still show.
    pending: usize,
    /// The text left of the cursor when the screen last stood still.
    left_of_cursor: String,
    /// The last change of the screen before it settled, since the last key.
    settled: Option<Instant>,
    /// Keys that a script cannot type.
    left_out: u32,
    /// The keys of a field that has ended and that nothing has shown yet.
    unproven: Option<Range<usize>>,
    /// Whether characters became a secret since the last call of [`ScreenKeys::take_secret_found`].
    has_new_secret: bool,
}

#[derive(Debug)]
struct PressedKey {
    press: Press,
    at: Instant,
    settled: Option<Instant>,
    /// Whether the screen showed it when it was pressed, perhaps by chance.
    is_shown: bool,
    /// Whether it belongs to a run of characters that was shown together.
    is_proven: bool,
    is_secret: bool,
}

impl ScreenKeys {
    /// Takes a press of a key.
    pub(super) fn press(&mut self, at: Instant, press: Press) {
        match press {
            Press::Answer => return,
            Press::Unknown => {
                self.left_out += 1;
                return;
            }
            _ => {}
        }
        self.hide_unproven();
        let settled = self.settled.take();
        let ends_a_run = !is_typed(&press);
        if ends_a_run {
            self.end_run(&press);
        }
        self.keys.push(PressedKey { press, at, settled, is_shown: false, is_proven: false, is_secret: false });
        if ends_a_run {
            self.pending = self.keys.len();
        }
    }

    /// Takes the text left of the cursor after a change of the screen.
    pub(super) fn see(&mut self, at: Instant, left_of_cursor: String) {
        if self.settled.is_none_or(|settled| at.since(settled) <= SETTLE) {
            self.settled = Some(at);
        }
        if left_of_cursor == self.left_of_cursor {
            return; // a program that shows nothing leaves the cursor where it is
        }
        let typed: Vec<(usize, &str, char)> = (self.pending..self.keys.len())
            .filter_map(|index| match &self.keys[index].press {
                Press::Character(character) => Some((index, "", *character)),
                Press::Paste(text) => Some((index, text.as_str(), text.chars().next_back()?)),
                _ => None,
            })
            .collect();
        let shown = longest_shown(&typed, &left_of_cursor);
        self.left_of_cursor = left_of_cursor;
        let indices: Vec<usize> = typed[shown].iter().map(|(index, ..)| *index).collect();
        for index in indices {
            self.keys[index].is_shown = true;
            self.pending = index + 1;
        }
        self.prove_late();
    }

    /// Takes what was typed into the present field as a secret: the terminal's echo is off.
    pub(super) fn hide_field(&mut self) {
        self.hide_unproven();
        self.make_secret(self.field_begin(self.keys.len())..self.keys.len());
    }

    /// Whether it is not known yet if the last keys may be kept.
    pub(super) fn is_undecided(&self) -> bool {
        let end = self.keys.len();
        let run = self.run_begin(end);
        self.unproven.is_some() || run < end && !self.is_proven(end) || self.unseen(self.field_begin(end)..run) > 0
    }

    /// Whether characters became a secret since the last call.
    pub(super) fn take_secret_found(&mut self) -> bool {
        std::mem::take(&mut self.has_new_secret)
    }

    /// Number of keys that a script cannot type.
    pub(super) fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Makes lines of all keys. If the program has `ended`, its last keys are a line of their own, since the shell answers them.
    pub(super) fn lines(&mut self, ended: bool) -> Vec<KeysLine> {
        self.hide_unproven();
        if !ended && !self.is_proven(self.keys.len()) {
            self.hide_field();
        }
        let last_line = if ended { self.ending_begin() } else { self.keys.len() };
        let mut lines = Vec::<KeysLine>::new();
        let mut begin = 0;
        for index in 1..=self.keys.len() {
            let Some(key) = self.keys.get(index) else {
                lines.extend(self.line(begin, index));
                break;
            };
            let before = &self.keys[index - 1];
            let after_secret = !before.is_secret && !key.is_secret && self.keys[begin..index].iter().any(|key| key.is_secret);
            let pauses = key.at.since(before.at) > PAUSE && !(before.is_secret || key.is_secret);
            if pauses || after_secret || index == last_line || index - begin >= MOST_LINE_KEYS {
                lines.extend(self.line(begin, index));
                begin = index;
            }
        }
        lines
    }

    /// Where the keys begin that ended the program: a command with its Enter, or single keys that nothing answered in between.
    fn ending_begin(&self) -> usize {
        let Some(last) = self.keys.len().checked_sub(1) else { return 0 };
        if matches!(self.keys[last].press, Press::FieldEnd(_)) {
            let secrets = self.keys[..last].iter().rev().take_while(|key| key.is_secret).count();
            if secrets > 0 {
                return last - secrets;
            }
            let run = self.run_begin(last);
            // Commands that show nothing, such as `dd`, may stand before `:wq`.
            return self.keys[run..last].iter().position(|key| key.is_shown && key.is_proven).map_or(run, |shown| run + shown);
        }
        let key = &self.keys[last];
        let is_doubled = |before: &PressedKey| before.press == key.press && key.at.since(before.at) <= PAUSE;
        let is_one_command = matches!(key.press, Press::Character(_)) && last > 0 && is_doubled(&self.keys[last - 1]);
        last - usize::from(is_one_command) // `ZZ`
    }

    fn line(&self, begin: usize, end: usize) -> Option<KeysLine> {
        let keys = &self.keys[begin..end];
        let (first, last) = (keys.first()?, keys.last()?);
        let mut parts = Vec::new();
        for key in keys {
            match (&mut parts[..], key.is_secret) {
                ([.., KeysPart::Secret], true) => {}
                (_, true) => parts.push(KeysPart::Secret),
                ([.., KeysPart::Keys(text)], false) => text.push_str(&notation(&key.press)),
                (_, false) => parts.push(KeysPart::Keys(notation(&key.press))),
            }
        }
        let (count, settled) = (keys.len() as u32, first.settled);
        Some(KeysLine { parts, first_key: first.at, last_key: last.at, count, settled })
    }
}

fn notation(press: &Press) -> String {
    let of_character = |character: char| match character {
        '\r' | '\n' => "<Enter>".into(),
        '\t' => "<Tab>".into(),
        '<' => "<lt>".into(),
        character if character.is_control() => String::new(),
        character => character.to_string(),
    };
    match press {
        Press::Character(character) => of_character(*character),
        Press::Erase => "<BS>".into(),
        Press::FieldEnd(name) | Press::Edit(name) | Press::Named(name) => name.clone(),
        Press::Paste(text) => text.replace("\r\n", "\n").chars().map(of_character).collect(),
        Press::Answer | Press::Unknown => String::new(),
    }
}

#[cfg(test)]
mod tests;
