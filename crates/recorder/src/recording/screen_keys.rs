//! Keys typed to a program that fills the screen, and the judgement which of them may be kept.
//!
//! Such a program shows what it likes. So a character counts as shown if it stands left of the cursor afterwards.
//! Three or more characters that were not shown, with Enter or Tab behind them, may be a password: they are not kept.

use super::presses::Press;
use loadgo_core::time::{Instant, Span};

/// Fewest characters in a row that may be a secret where the screen shows none of them.
const FEWEST_SECRET_CHARACTERS: usize = 3;
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
    /// Whether characters became a secret since the last call of [`ScreenKeys::take_secret_found`].
    has_new_secret: bool,
}

#[derive(Debug)]
struct PressedKey {
    press: Press,
    at: Instant,
    settled: Option<Instant>,
    is_shown: bool,
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
        self.judge_field();
        let settled = self.settled.take();
        self.keys.push(PressedKey { press, at, settled, is_shown: false, is_secret: false });
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
    }

    /// Takes what was typed into the present field as a secret: the terminal's echo is off.
    pub(super) fn hide_field(&mut self) {
        let from = self.field_begin(self.keys.len());
        self.make_secret(from, self.keys.len());
    }

    /// Whether it is not known yet if the last keys may be kept.
    pub(super) fn is_undecided(&self) -> bool {
        let end = self.keys.len() - usize::from(self.ends_a_field());
        self.unseen_before(end) > 0
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
        self.judge_field();
        if !ended && self.unseen_before(self.keys.len()) >= FEWEST_SECRET_CHARACTERS {
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

    /// Makes a secret of the characters before the last key if it ends a field and the screen did not show them.
    fn judge_field(&mut self) {
        if !self.ends_a_field() || self.keys.len() == self.pending {
            return;
        }
        let end = self.keys.len() - 1;
        if self.unseen_before(end) >= FEWEST_SECRET_CHARACTERS {
            self.make_secret(self.field_begin(end), end);
        }
        self.pending = self.keys.len();
    }

    fn ends_a_field(&self) -> bool {
        self.keys.last().is_some_and(|key| matches!(key.press, Press::FieldEnd(_)))
    }

    fn make_secret(&mut self, from: usize, end: usize) {
        for key in &mut self.keys[from..end] {
            (key.is_secret, self.has_new_secret) = (true, true);
            // Nothing keeps what it was.
            key.press = Press::Character('*');
        }
    }

    /// Where the characters and erased ones begin that end at `end`.
    fn field_begin(&self, end: usize) -> usize {
        let is_typed = |key: &PressedKey| matches!(key.press, Press::Character(_) | Press::Paste(_) | Press::Erase);
        end - self.keys[..end].iter().rev().take_while(|key| is_typed(key)).count()
    }

    /// Number of characters that were not shown and stand right before `end`.
    fn unseen_before(&self, end: usize) -> usize {
        let field = self.keys[self.field_begin(end)..end].iter().rev();
        let unseen = field.filter(|key| key.press != Press::Erase).take_while(|key| !key.is_shown && !key.is_secret);
        unseen.map(|key| if let Press::Paste(text) = &key.press { text.chars().count() } else { 1 }).sum()
    }

    /// Where the keys begin that ended the program: a command with its Enter, or a single key.
    fn ending_begin(&self) -> usize {
        let Some(last) = self.keys.len().checked_sub(1) else { return 0 };
        if !matches!(self.keys[last].press, Press::FieldEnd(_)) {
            return last;
        }
        // Commands that show nothing, such as `dd`, may stand before `:wq`.
        let field = self.field_begin(last);
        self.keys[field..last].iter().position(|key| key.is_shown).map_or(field, |shown| field + shown)
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

/// The range of `typed` that stands left of the cursor: the longest that ends last. Empty if none does.
fn longest_shown(typed: &[(usize, &str, char)], left_of_cursor: &str) -> std::ops::Range<usize> {
    for end in (1..=typed.len()).rev() {
        let mut rest = left_of_cursor;
        let mut begin = end;
        while begin > 0 {
            let (_, pasted, character) = typed[begin - 1];
            let last_row = pasted.rsplit(['\r', '\n']).next().unwrap_or("").trim_start();
            let shorter = if pasted.is_empty() { rest.strip_suffix(character) } else { rest.strip_suffix(last_row) };
            let Some(shorter) = shorter else { break };
            (rest, begin) = (shorter, begin - 1);
        }
        if begin < end {
            return begin..end;
        }
    }
    0..0
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
        Press::FieldEnd(name) | Press::Named(name) => name.clone(),
        Press::Paste(text) => text.replace("\r\n", "\n").chars().map(of_character).collect(),
        Press::Answer | Press::Unknown => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::presses::presses_of;
    use super::*;

    /// A program that shows each character left of the cursor, or none.
    struct Program {
        keys: ScreenKeys,
        left_of_cursor: String,
        now_ms: u64,
    }

    impl Program {
        fn new() -> Program {
            Program { keys: ScreenKeys::default(), left_of_cursor: String::new(), now_ms: 0 }
        }

        fn waits(&mut self, ms: u64) -> &mut Program {
            self.now_ms += ms;
            self
        }

        fn types(&mut self, typed: &str, shows: impl Fn(&mut String, char)) -> &mut Program {
            for press in presses_of(typed.as_bytes()) {
                self.now_ms += 100;
                if let Press::Character(character) = press {
                    shows(&mut self.left_of_cursor, character);
                }
                self.keys.press(Instant(self.now_ms * 1_000_000), press);
                self.keys.see(Instant((self.now_ms + 10) * 1_000_000), self.left_of_cursor.clone());
            }
            self
        }

        fn lines(&mut self, ended: bool) -> Vec<String> {
            let part = |part: &KeysPart| if let KeysPart::Keys(text) = part { text.clone() } else { "(secret)".into() };
            self.keys.lines(ended).iter().map(|line| line.parts.iter().map(part).collect()).collect()
        }
    }

    fn shown(left: &mut String, character: char) {
        left.push(character);
    }

    fn hidden(_: &mut String, _: char) {}

    fn masked(left: &mut String, _: char) {
        left.push('*');
    }

    #[test]
    fn a_pause_and_the_keys_that_end_the_program_begin_a_line() {
        let mut vim = Program::new();
        vim.types("i", hidden).types("a < b\x1b", shown).waits(1500).types("dd", hidden).types(":wq\r", shown);
        assert_eq!(vim.lines(true), ["ia <lt> b<Esc>", "dd", ":wq<Enter>"]);
    }

    #[test]
    fn a_key_that_ends_the_program_without_enter_is_a_line() {
        assert_eq!(Program::new().types("jjjq", hidden).lines(true), ["jjj", "q"]);
    }

    #[test]
    fn what_the_screen_does_not_show_before_enter_is_a_secret() {
        for shows in [hidden, masked] {
            let mut form = Program::new();
            form.types("ann\t", shown).types("hunter\x7fr2\r", shows).types("y", shown);
            assert_eq!(form.lines(true), ["ann<Tab>(secret)<Enter>", "y"]);
            assert!(form.keys.take_secret_found() && !format!("{:?}", form.keys).contains("'h'"));
        }
        assert_eq!(Program::new().types("hunter2", hidden).lines(false), ["(secret)"], "the session ended before Enter");
    }

    #[test]
    fn two_commands_that_are_not_shown_are_kept() {
        assert_eq!(Program::new().types("dd\r", hidden).lines(false), ["dd<Enter>"]);
    }

    #[test]
    fn what_a_slow_line_shows_late_was_shown() {
        let mut keys = ScreenKeys::default();
        for (ms, character) in [(1, 'a'), (2, 'b'), (3, 'c')] {
            keys.press(Instant(ms), Press::Character(character));
        }
        keys.see(Instant(4), "a".into());
        assert!(keys.is_undecided());
        keys.press(Instant(5), Press::FieldEnd("<Enter>".into()));
        keys.see(Instant(6), "abc".into());
        assert!(!keys.is_undecided());
        assert_eq!(keys.lines(true)[0].parts, [KeysPart::Keys("abc<Enter>".into())]);
    }

    #[test]
    fn a_paste_that_is_shown_is_typed() {
        let mut keys = ScreenKeys::default();
        keys.press(Instant(1), Press::Paste("one\r  two".into()));
        keys.see(Instant(2), "    two".into());
        keys.press(Instant(3), Press::FieldEnd("<Enter>".into()));
        assert_eq!(keys.lines(false)[0].parts, [KeysPart::Keys("one<Enter>  two<Enter>".into())]);
    }

    #[test]
    fn the_settled_screen_before_a_line_is_the_last_change_before_a_pause() {
        let mut keys = ScreenKeys::default();
        for ms in [0, 30, 60, 2000] {
            keys.see(Instant(ms * 1_000_000), format!("{ms}"));
        }
        keys.press(Instant(3_000_000_000), Press::Character('q'));
        assert_eq!(keys.lines(true)[0].settled, Some(Instant(60_000_000)));
    }
}
