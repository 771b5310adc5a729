//! The keys typed to a program that fills the screen, and the judgement what may be a secret among them.
//!
//! Such a program shows what it likes. A character counts as shown if it stands left of the cursor when the screen has
//! changed. A field is what a key such as Enter ends. Its last characters, two at least, must have been shown each, and stand
//! there together. Else it may be a password, and is not kept. In case of doubt, such as `jjj` and Enter, it is not kept either.

use super::presses::Press;
use loadgo_core::time::Instant;
use std::ops::Range;

/// Fewest characters that may be a secret before Enter, Tab or ^C.
pub(super) const FEWEST_FIELD_CHARACTERS: usize = 3;
/// Fewest characters that may be a secret before any other key that is none of editing. Commands such as `yyp` and an arrow are
/// frequent.
const FEWEST_OTHER_CHARACTERS: usize = 5;
/// Fewest characters that prove by standing together that a program shows what is typed.
const FEWEST_PROVING_CHARACTERS: usize = 2;
/// Fewest characters of a row that prove so where the beginning of what was typed stands in the row above.
const FEWEST_WRAPPED_CHARACTERS: usize = 3;

/// A key that was pressed, and the judgement on it so far.
#[derive(Debug)]
pub(super) struct PressedKey {
    pub press: Press,
    pub at: Instant,
    /// The last change of the screen before it settled, ahead of the key.
    pub settled: Option<Instant>,
    /// Whether the screen showed it when it was pressed, perhaps by chance.
    pub is_shown: bool,
    /// Whether it belongs to a run of characters that was shown together.
    pub is_proven: bool,
    pub is_secret: bool,
}

/// The keys that were typed to a program, and what the screen showed of them.
#[derive(Debug, Default)]
pub(super) struct TypedKeys {
    pub keys: Vec<PressedKey>,
    /// Index of the first key that the screen may still show.
    pending: usize,
    /// The text left of the cursor when the screen last stood still.
    left_of_cursor: String,
    /// The keys of a field that has ended and that nothing has shown yet.
    unproven: Option<Range<usize>>,
    /// Whether characters became a secret since the last call of [`TypedKeys::take_secret_found`].
    has_new_secret: bool,
}

impl TypedKeys {
    /// Takes a press of a key. `settled` is the last change of the screen before it.
    pub(super) fn press(&mut self, at: Instant, press: Press, settled: Option<Instant>) {
        self.hide_unproven();
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
    pub(super) fn see(&mut self, left_of_cursor: String) {
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

    /// Judges what was typed last. If the program has not `ended` but the session has, it may be half a secret.
    pub(super) fn end(&mut self, ended: bool) {
        self.hide_unproven();
        if !ended && !self.is_proven(self.keys.len()) {
            self.hide_field();
        }
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

    /// Judges the characters up to here, which `press` ends: a run of them is over, and often the field.
    fn end_run(&mut self, press: &Press) {
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

    /// Takes back the doubt about a field if its last run stands left of the cursor: a slow line shows it late.
    fn prove_late(&mut self) {
        let Some(field) = self.unproven.clone() else { return };
        let run = self.run_begin(field.end)..field.end;
        let text: String = self.text_of(run.clone()).into_iter().map(|(_, character)| character).collect();
        let is_whole = text.chars().count() >= FEWEST_FIELD_CHARACTERS && self.left_of_cursor.ends_with(&text);
        if is_whole && self.unseen(field.start..run.start) == 0 {
            self.unproven = None;
        }
    }

    /// Makes a secret of a field that has ended and that nothing has shown.
    fn hide_unproven(&mut self) {
        if let Some(field) = self.unproven.take() {
            self.make_secret(field);
        }
    }

    fn make_secret(&mut self, keys: Range<usize>) {
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
    fn field_begin(&self, end: usize) -> usize {
        let is_inside = |key: &PressedKey| (is_typed(&key.press) || matches!(key.press, Press::Edit(_))) && !key.is_secret;
        end - self.keys[..end].iter().rev().take_while(|key| is_inside(key)).count()
    }

    /// Number of characters among `keys` of which nothing proves that they were shown.
    fn unseen(&self, keys: Range<usize>) -> usize {
        let unseen = self.keys[keys].iter().filter(|key| !key.is_proven && !key.is_secret);
        let count = |press: &Press| match press {
            Press::Character(_) => 1,
            Press::Paste(text) => text.chars().count(),
            _ => 0,
        };
        unseen.map(|key| count(&key.press)).sum()
    }

    /// Whether the last characters before `end` were shown each, and stand left of the cursor together.
    fn is_proven(&self, end: usize) -> bool {
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

fn is_typed(press: &Press) -> bool {
    matches!(press, Press::Character(_) | Press::Paste(_) | Press::Erase)
}

fn last_row(pasted: &str) -> &str {
    pasted.rsplit(['\r', '\n']).next().unwrap_or("").trim_start()
}

/// The range of `typed` that stands left of the cursor: the longest that ends last. Empty if none does.
fn longest_shown(typed: &[(usize, &str, char)], left_of_cursor: &str) -> Range<usize> {
    for end in (1..=typed.len()).rev() {
        let mut remainder = left_of_cursor;
        let mut begin = end;
        while begin > 0 {
            let (_, pasted, character) = typed[begin - 1];
            let row = last_row(pasted);
            let shorter = match pasted.is_empty() {
                true => remainder.strip_suffix(character),
                false => remainder.strip_suffix(row).filter(|_| row.chars().count() >= FEWEST_FIELD_CHARACTERS),
            };
            let Some(shorter) = shorter else { break };
            (remainder, begin) = (shorter, begin - 1);
        }
        if begin < end {
            return begin..end;
        }
    }
    0..0
}
