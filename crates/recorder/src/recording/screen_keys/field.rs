//! The judgement of what was typed into a field of a program that fills the screen: was it shown, or may it be a secret?

use super::super::presses::Press;
use super::{PressedKey, ScreenKeys};
use std::ops::Range;

/// Fewest characters that may be a secret before Enter, Tab or ^C.
pub(in super::super) const FEWEST_FIELD_CHARACTERS: usize = 3;
/// Fewest characters that may be a secret before any other key that is none of editing: commands such as `yyp` and an arrow are
/// frequent, and shorter passwords are not.
const FEWEST_OTHER_CHARACTERS: usize = 5;
/// Fewest characters that prove by standing together that a program shows what is typed.
const FEWEST_PROVING_CHARACTERS: usize = 2;
/// Fewest characters of a row that prove so where the beginning of what was typed stands in the row above.
const FEWEST_WRAPPED_CHARACTERS: usize = 3;
impl ScreenKeys {
    /// Judges the characters up to here, which `press` ends: a run of them is over, and often the field.
    pub(super) fn end_run(&mut self, press: &Press) {
        let end = self.keys.len();
        let run = self.run_begin(end)..end;
        let is_proven = self.is_proven(end);
        for key in &mut self.keys[run.clone()] {
            key.is_proven = is_proven;
        }
        let fewest = match press {
            Press::Edit(_) => return,
            Press::FieldEnd(_) => FEWEST_FIELD_CHARACTERS,
            _ => FEWEST_OTHER_CHARACTERS,
        };
        let field = self.field_begin(end)..end;
        if self.unseen(field.clone()) >= fewest {
            self.unproven = Some(field);
        }
    }

    /// Takes back the doubt about a field if all that was typed last into it stands left of the cursor: a slow line shows it late.
    pub(super) fn prove_late(&mut self) {
        let Some(field) = self.unproven.clone() else { return };
        let run = self.run_begin(field.end)..field.end;
        let text: String = self.text_of(run.clone()).into_iter().map(|(_, character)| character).collect();
        let is_whole = text.chars().count() >= FEWEST_FIELD_CHARACTERS && self.left_of_cursor.ends_with(&text);
        if is_whole && self.unseen(field.start..run.start) == 0 {
            self.unproven = None;
        }
    }

    /// Makes a secret of a field that has ended and that nothing has shown.
    pub(super) fn hide_unproven(&mut self) {
        if let Some(field) = self.unproven.take() {
            self.make_secret(field);
        }
    }

    pub(super) fn make_secret(&mut self, keys: Range<usize>) {
        for key in &mut self.keys[keys] {
            (key.is_secret, self.has_new_secret) = (true, true);
            // Nothing keeps what it was.
            key.press = Press::Character('*');
        }
    }

    /// Where the run of typed and erased characters begins that ends at `end`.
    pub(super) fn run_begin(&self, end: usize) -> usize {
        end - self.keys[..end].iter().rev().take_while(|key| is_typed(&key.press) && !key.is_secret).count()
    }

    /// Where the field begins that ends at `end`: runs of characters with keys of editing between them.
    pub(super) fn field_begin(&self, end: usize) -> usize {
        let is_inside = |key: &PressedKey| (is_typed(&key.press) || matches!(key.press, Press::Edit(_))) && !key.is_secret;
        end - self.keys[..end].iter().rev().take_while(|key| is_inside(key)).count()
    }

    /// Number of characters among `keys` of which nothing proves that they were shown.
    pub(super) fn unseen(&self, keys: Range<usize>) -> usize {
        let unseen = self.keys[keys].iter().filter(|key| !key.is_proven && !key.is_secret);
        let count = |press: &Press| match press {
            Press::Character(_) => 1,
            Press::Paste(text) => text.chars().count(),
            _ => 0,
        };
        unseen.map(|key| count(&key.press)).sum()
    }

    /// Whether the last characters before `end` were shown each, and stand left of the cursor together.
    pub(super) fn is_proven(&self, end: usize) -> bool {
        let run = self.run_begin(end)..end;
        let text = self.text_of(run.clone());
        if text.is_empty() {
            return run.is_empty() || self.unseen(run) == 0;
        }
        let shown = text.iter().rev().take_while(|(index, _)| self.keys[*index].is_shown).count();
        let together: String = text[text.len() - shown..].iter().map(|(_, character)| *character).collect();
        let row = self.left_of_cursor.trim_start();
        let is_wrapped = row.chars().count() >= FEWEST_WRAPPED_CHARACTERS && together.ends_with(row);
        shown >= FEWEST_PROVING_CHARACTERS.min(text.len()) && (self.left_of_cursor.ends_with(&together) || is_wrapped)
    }

    /// The characters that a run leaves, each with the index of its key. Of a paste it is the last row.
    fn text_of(&self, run: Range<usize>) -> Vec<(usize, char)> {
        let mut text = Vec::new();
        for index in run {
            match &self.keys[index].press {
                Press::Character(character) => text.push((index, *character)),
                Press::Paste(pasted) => text.extend(last_row(pasted).chars().map(|character| (index, character))),
                _ => drop(text.pop()),
            }
        }
        text
    }
}

pub(super) fn is_typed(press: &Press) -> bool {
    matches!(press, Press::Character(_) | Press::Paste(_) | Press::Erase)
}

fn last_row(pasted: &str) -> &str {
    pasted.rsplit(['\r', '\n']).next().unwrap_or("").trim_start()
}

/// The range of `typed` that stands left of the cursor: the longest that ends last. Empty if none does.
pub(super) fn longest_shown(typed: &[(usize, &str, char)], left_of_cursor: &str) -> std::ops::Range<usize> {
    for end in (1..=typed.len()).rev() {
        let mut rest = left_of_cursor;
        let mut begin = end;
        while begin > 0 {
            let (_, pasted, character) = typed[begin - 1];
            let row = last_row(pasted);
            let shorter = match pasted.is_empty() {
                true => rest.strip_suffix(character),
                false => rest.strip_suffix(row).filter(|_| row.chars().count() >= FEWEST_FIELD_CHARACTERS),
            };
            let Some(shorter) = shorter else { break };
            (rest, begin) = (shorter, begin - 1);
        }
        if begin < end {
            return begin..end;
        }
    }
    0..0
}
