//! Keys typed to a program that fills the screen, as lines of a script. `typed_keys` judges which of them may be kept.

use super::presses::Press;
use super::typed_keys::{PressedKey, TypedKeys};
use loadgo_core::time::{Instant, Span};

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
    pub typed: TypedKeys,
    /// The last change of the screen before it settled, since the last key.
    settled: Option<Instant>,
    /// Keys that a script cannot type.
    left_out: u32,
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
        let settled = self.settled.take();
        self.typed.press(at, press, settled);
    }

    /// Takes the text left of the cursor after a change of the screen.
    pub(super) fn see(&mut self, at: Instant, left_of_cursor: String) {
        if self.settled.is_none_or(|settled| at.since(settled) <= SETTLE) {
            self.settled = Some(at);
        }
        self.typed.see(left_of_cursor);
    }

    /// Number of keys that a script cannot type.
    pub(super) fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Makes lines of all keys. If the program has `ended`, its last keys are a line of their own, since the shell answers them.
    pub(super) fn lines(&mut self, ended: bool) -> Vec<KeysLine> {
        self.typed.end(ended);
        let last_line = if ended { self.ending_begin() } else { self.typed.keys.len() };
        let mut lines = Vec::<KeysLine>::new();
        let mut begin = 0;
        for index in 1..=self.typed.keys.len() {
            let Some(key) = self.typed.keys.get(index) else {
                lines.extend(self.line(begin, index));
                break;
            };
            let before = &self.typed.keys[index - 1];
            let after_secret =
                !before.is_secret && !key.is_secret && self.typed.keys[begin..index].iter().any(|key| key.is_secret);
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
        let Some(last) = self.typed.keys.len().checked_sub(1) else { return 0 };
        if matches!(self.typed.keys[last].press, Press::FieldEnd(_)) {
            let secrets = self.typed.keys[..last].iter().rev().take_while(|key| key.is_secret).count();
            if secrets > 0 {
                return last - secrets;
            }
            let run = self.typed.run_begin(last);
            // Commands that show nothing, such as `dd`, may stand before `:wq`.
            return self.typed.keys[run..last]
                .iter()
                .position(|key| key.is_shown && key.is_proven)
                .map_or(run, |shown| run + shown);
        }
        let key = &self.typed.keys[last];
        let is_doubled = |before: &PressedKey| before.press == key.press && key.at.since(before.at) <= PAUSE;
        let is_one_command = matches!(key.press, Press::Character(_)) && last > 0 && is_doubled(&self.typed.keys[last - 1]);
        last - usize::from(is_one_command) // `ZZ`
    }

    fn line(&self, begin: usize, end: usize) -> Option<KeysLine> {
        let keys = &self.typed.keys[begin..end];
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
