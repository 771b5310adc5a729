//! A line that the person typed, and the judgement whether its text may be kept.
//!
//! The text of a line always comes from the screen; the keys only confirm it. Keys that were never shown are a
//! secret, even if the echo was on, as with a remote host or a program in raw mode.

use super::screen_keys::KeysPart;
use super::strokes::{Stroke, plain_text};
use loadgo_core::time::Instant;

/// The kind of prompt that asked for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// The log-in shell, by its marked prompt.
    Shell,
    /// The continuation prompt of the shell, which asks for the rest of an unfinished command.
    Continuation,
    /// A program, or a shell without marks.
    Program,
    /// A program that fills the screen, and has no prompt.
    Screen,
}

/// The content of an entered line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnteredText {
    /// A line of text.
    Text(String),
    /// A line that was never shown, and is not kept.
    Secret,
    /// The end-of-file key on an empty line.
    EndOfFile,
    /// Keys typed to a program that fills the screen.
    Keys(Vec<KeysPart>),
}

/// The evidence that the system was ready after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyEvidence {
    /// Instant at which the next prompt was shown.
    pub at: Instant,
    /// Whether the evidence is a mark.
    pub marked: bool,
    /// The exit status in the mark.
    pub status: Option<u8>,
}

/// A line that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The entered line.
    pub entered: EnteredText,
    /// The kind of prompt that asked for the line.
    pub prompt_kind: PromptKind,
    /// The text of the prompt, as shown.
    pub prompt: String,
    /// The last bytes of output before the first key, from the beginning of their line.
    pub prompt_bytes: Vec<u8>,
    /// Instant at which the prompt was shown; `None` when the line was typed ahead of it.
    pub prompt_shown: Option<Instant>,
    /// Instant of the first key.
    pub first_key: Instant,
    /// Instant at which the line was ended.
    pub sent: Instant,
    /// Number of keys before the end of the line. `None` if they came in one burst (a paste, a program that types), or are
    /// unknown.
    pub keys: Option<u32>,
    /// Instant at which the person interrupted the command.
    pub interrupted: Option<Instant>,
    /// The evidence that the system was ready again.
    pub ready: Option<ReadyEvidence>,
    /// Whether some typed characters are missing in the text from the screen, because other output may have disturbed it.
    pub doubtful: bool,
}

/// A line that is being typed, or waits for its echo.
#[derive(Clone, Debug)]
pub(super) struct TypedLine {
    pub prompt_kind: PromptKind,
    pub prompt: String,
    pub prompt_bytes: Vec<u8>,
    pub prompt_shown: Option<Instant>,
    pub first_key: Instant,
    pub last_key: Instant,
    pub sent: Instant,
    pub strokes: Vec<Stroke>,
    /// Whether a character of the line stood left of the cursor after it was typed.
    pub is_echoed: bool,
    pub hidden: bool,
    /// The line on the screen when the person pressed Enter.
    pub shown_at_enter: String,
}

/// Judgement of an entered line when a newline is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineJudgement {
    /// The screen showed this line.
    Shown { text: String, doubtful: bool },
    /// The screen never showed the keys.
    Secret,
    /// The newline belongs to other output: the line was typed ahead, and its echo is still to come.
    NotYet,
}

impl TypedLine {
    /// Whether the line may have been typed ahead of its prompt.
    pub(crate) fn may_be_typed_ahead(&self) -> bool {
        self.prompt_kind == PromptKind::Program && self.prompt.is_empty()
    }

    /// Whether Enter came in one reading with the last keys, so that their echo could not come before it.
    pub(crate) fn is_burst(&self) -> bool {
        self.last_key == self.sent
    }

    /// Judges the line, where `shown` stands on the screen before a newline is printed.
    pub fn judge(&self, shown: &str) -> LineJudgement {
        let plain = plain_text(&self.strokes);
        let same = plain.split_whitespace().eq(shown.split_whitespace());
        let shown_text = |doubtful| LineJudgement::Shown { text: shown.into(), doubtful };
        if same {
            return LineJudgement::Shown { text: plain, doubtful: false };
        }
        if self.may_be_typed_ahead() {
            return LineJudgement::NotYet;
        }
        if is_masked(shown) {
            return LineJudgement::Secret;
        }
        let edits = self.strokes.iter().any(|stroke| matches!(stroke, Stroke::Edit(_) | Stroke::Paste(_)));
        match () {
            () if plain.is_empty() => shown_text(false),
            () if self.is_burst() && is_subsequence(&plain, shown) => shown_text(false),
            () if self.is_burst() || self.shown_at_enter.is_empty() => LineJudgement::Secret,
            () if contains_all(shown, &plain) => shown_text(false),
            () if edits => shown_text(true),
            () => LineJudgement::Secret,
        }
    }

    /// Whether the line has keys that the screen may not have shown.
    pub(crate) fn has_unseen_keys(&self) -> bool {
        self.hidden || !plain_text(&self.strokes).is_empty()
    }

    pub fn entry(self, entered: EnteredText, doubtful: bool) -> Entry {
        let pasted = self.strokes.iter().any(|stroke| matches!(stroke, Stroke::Paste(_)));
        let keys = (!self.hidden && !pasted && !self.is_burst()).then_some(self.strokes.len() as u32);
        Entry {
            entered,
            prompt_kind: self.prompt_kind,
            prompt: self.prompt,
            prompt_bytes: self.prompt_bytes,
            prompt_shown: self.prompt_shown,
            first_key: self.first_key,
            sent: self.sent,
            keys,
            interrupted: None,
            ready: None,
            doubtful,
        }
    }
}

/// Whether a program showed the same character for every key, as for a password.
fn is_masked(shown: &str) -> bool {
    let mut chars = shown.chars();
    chars.next().is_some_and(|first| "*•●·#".contains(first) && chars.all(|char| char == first))
}

/// Whether `shown` contains each visible character of `keys` at least as often. Completion may change its case.
fn contains_all(shown: &str, keys: &str) -> bool {
    let mut left: Vec<char> = shown.to_lowercase().chars().collect();
    keys.to_lowercase()
        .chars()
        .filter(|key| !key.is_whitespace())
        .all(|key| left.iter().position(|char| *char == key).map(|index| left.swap_remove(index)).is_some())
}

/// Whether `whole` contains the visible characters of `part` in their order.
fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.split_whitespace().flat_map(str::chars).all(|wanted| rest.any(|char| char == wanted))
}

#[cfg(test)]
mod tests {
    use super::super::strokes::strokes_of;
    use super::*;

    fn judge(keys: &str, shown_at_enter: &str, shown: &str) -> LineJudgement {
        let line = TypedLine {
            prompt_kind: PromptKind::Shell,
            prompt: "$ ".into(),
            prompt_bytes: vec![],
            prompt_shown: None,
            first_key: Instant(1),
            last_key: Instant(2),
            sent: Instant(3),
            strokes: strokes_of(keys.as_bytes()),
            is_echoed: true,
            hidden: false,
            shown_at_enter: shown_at_enter.into(),
        };
        line.judge(shown)
    }

    fn shown(text: &str) -> LineJudgement {
        LineJudgement::Shown { text: text.into(), doubtful: false }
    }

    #[test]
    fn keys_that_the_screen_showed_are_the_line_with_their_blanks() {
        assert_eq!(judge("echo  a ", "echo  a", "echo  a"), shown("echo  a "));
    }

    #[test]
    fn the_result_of_completion_and_history_is_read_from_the_screen() {
        assert_eq!(judge("cat re\t", "cat README", "cat README"), shown("cat README"));
        assert_eq!(judge("\x1b[A", "make", "make"), shown("make"));
        assert_eq!(judge("makeall\x1b[D\x1b[D\x1b[D ", "make all", "make all"), shown("make all"));
    }

    #[test]
    fn keys_that_were_never_shown_are_a_secret() {
        assert_eq!(judge("hunter2", "", ""), LineJudgement::Secret);
        assert_eq!(judge("hunter2", "", "Welcome to host"), LineJudgement::Secret);
        assert_eq!(judge("hunter2", "*******", "*******"), LineJudgement::Secret);
        assert_eq!(judge("hunter2", "Password:", "Password:"), LineJudgement::Secret);
    }
}
