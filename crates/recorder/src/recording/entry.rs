//! A line as the person typed it, and the judgement of what of it may be kept.
//!
//! The text of a line always comes from what the screen showed; the keys only confirm it. Keys that the screen never
//! showed are a secret, also where nobody switched the terminal's echo off (a remote host, a program in raw mode).

use super::strokes::{Stroke, plain_text};
use loadgo_core::time::Instant;

/// The kind of prompt that asked for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// The log-in shell, by its marked prompt.
    Shell,
    /// The shell, for the rest of an unfinished command.
    Continuation,
    /// A program, or a shell without marks.
    Program,
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
}

/// The evidence that the system was ready after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyEvidence {
    /// Instant at which the next prompt was shown.
    pub at: Instant,
    /// Whether the evidence is a mark.
    pub marked: bool,
    /// The exit status that the mark told.
    pub status: Option<u8>,
}

/// A line that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The entered line.
    pub entered: EnteredText,
    /// The kind of prompt that asked for the line.
    pub place: PromptKind,
    /// The text of the prompt, as shown.
    pub prompt: String,
    /// The last bytes of output before the first key, from the beginning of their line.
    pub prompt_bytes: Vec<u8>,
    /// Instant at which the prompt was shown; `None` when the line was typed ahead of it.
    pub prompted: Option<Instant>,
    /// Instant of the first key.
    pub first_key: Instant,
    /// Instant at which the line was ended.
    pub sent: Instant,
    /// Keys before the end of the line; `None` when they came in one burst (a paste, a program that types) or are unknown.
    pub keys: Option<u32>,
    /// Instant at which the person interrupted the command.
    pub interrupted: Option<Instant>,
    /// The evidence that the system was ready again.
    pub ready: Option<ReadyEvidence>,
    /// Whether the text, which comes from the screen, lacks some of the keys: the screen may have been disturbed.
    pub doubtful: bool,
}

/// A line that is being typed, or waits for its echo.
#[derive(Clone, Debug)]
pub(super) struct TypedLine {
    pub place: PromptKind,
    pub prompt: String,
    pub prompt_bytes: Vec<u8>,
    pub prompted: Option<Instant>,
    pub first_key: Instant,
    pub last_key: Instant,
    pub sent: Instant,
    pub strokes: Vec<Stroke>,
    pub hidden: bool,
    /// The line on the screen when it was ended.
    pub shown_at_enter: String,
}

/// Judgement of a line when a newline follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineJudgement {
    Shown { text: String, doubtful: bool },
    Secret,
    NotYet,
}

impl TypedLine {
    /// Whether the line may have been typed ahead of its prompt.
    pub(crate) fn is_ahead(&self) -> bool {
        self.place == PromptKind::Program && self.prompt.is_empty()
    }

    /// Whether the end of the line came with its keys, so that no echo can have come before it.
    pub(crate) fn is_burst(&self) -> bool {
        self.last_key == self.sent
    }

    /// Judges the line, when the screen shows `shown` as a newline comes.
    pub fn judge(&self, shown: &str) -> LineJudgement {
        let plain = plain_text(&self.strokes);
        let same = plain.split_whitespace().eq(shown.split_whitespace());
        let shown_text = |doubtful| LineJudgement::Shown { text: shown.into(), doubtful };
        if same {
            return LineJudgement::Shown { text: plain, doubtful: false };
        }
        if self.is_ahead() {
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
            () if holds_all(shown, &plain) => shown_text(false),
            () if edits => shown_text(true),
            () => LineJudgement::Secret,
        }
    }

    /// Whether the line has keys that nobody has seen.
    pub(crate) fn has_unseen_keys(&self) -> bool {
        self.hidden || !plain_text(&self.strokes).is_empty()
    }

    pub fn entry(self, entered: EnteredText, doubtful: bool) -> Entry {
        let pasted = self.strokes.iter().any(|stroke| matches!(stroke, Stroke::Paste(_)));
        let keys = (!self.hidden && !pasted && !self.is_burst()).then_some(self.strokes.len() as u32);
        Entry {
            entered,
            place: self.place,
            prompt: self.prompt,
            prompt_bytes: self.prompt_bytes,
            prompted: self.prompted,
            first_key: self.first_key,
            sent: self.sent,
            keys,
            interrupted: None,
            ready: None,
            doubtful,
        }
    }
}

/// Whether a program showed one and the same character for every key, as for a password.
fn is_masked(shown: &str) -> bool {
    let mut chars = shown.chars();
    chars.next().is_some_and(|first| "*•●·#".contains(first) && chars.all(|char| char == first))
}

/// Whether each visible character of `keys` stands in `shown`, as often as it was typed; completion may change its case.
fn holds_all(shown: &str, keys: &str) -> bool {
    let mut left: Vec<char> = shown.to_lowercase().chars().collect();
    keys.to_lowercase()
        .chars()
        .filter(|key| !key.is_whitespace())
        .all(|key| left.iter().position(|char| *char == key).map(|place| left.swap_remove(place)).is_some())
}

/// Whether the visible characters of `part` stand in `whole` in this order.
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
            place: PromptKind::Shell,
            prompt: "$ ".into(),
            prompt_bytes: vec![],
            prompted: None,
            first_key: Instant(1),
            last_key: Instant(2),
            sent: Instant(3),
            strokes: strokes_of(keys.as_bytes()),
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
    fn what_completion_and_history_made_is_read_from_the_screen() {
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
