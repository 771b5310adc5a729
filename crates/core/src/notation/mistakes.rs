//! Mistakes in files, with byte offsets that become lines and columns, and names that are near to a misspelt one.

use std::ops::Range;

/// A mistake in a file, with its line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptMistake {
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the line, from 1, in characters.
    pub column: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl std::fmt::Display for ScriptMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ScriptMistake {}

/// A mistake at an offset in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxMistake {
    /// Offset in the text, in bytes.
    pub at: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl SyntaxMistake {
    /// A mistake at the offset `at`.
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake { at, message: message.into() }
    }

    /// The mistake in a larger text, which has `before` bytes more in front.
    pub fn behind(self, before: usize) -> SyntaxMistake {
        SyntaxMistake { at: before + self.at, ..self }
    }

    /// The mistake, followed by an example of what would be right.
    pub fn with_example(self, example: &str) -> SyntaxMistake {
        SyntaxMistake { message: format!("{}, as in {example}", self.message), ..self }
    }

    /// The mistake with its line and column in `text`.
    pub fn in_text(self, text: &str) -> ScriptMistake {
        let at = (0..=self.at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let before = &text[..at];
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        ScriptMistake {
            line: before.matches('\n').count() + 1,
            column: before[begin..].chars().count() + 1,
            message: self.message,
        }
    }
}

/// The offset in `text` of the byte `at` of a string value whose source is `span`.
///
/// If escapes before that byte change the length, it is the offset of the opening quote.
pub fn offset_in_string(text: &str, span: &Range<usize>, string: &str, at: usize) -> usize {
    let source = text.get(span.clone()).unwrap_or("");
    let quotes = ["\"\"\"\r\n", "'''\r\n", "\"\"\"\n", "'''\n", "\"\"\"", "'''", "\"", "'"];
    let Some(quote) = quotes.iter().find(|quote| source.starts_with(**quote)) else { return span.start };
    let body = source.as_bytes().get(quote.len()..quote.len() + at).unwrap_or(&[]);
    if body.len() == at && string.as_bytes().get(..at) == Some(body) { span.start + quote.len() + at } else { span.start }
}

/// The mistake alone: who gave only this text needs no place.
impl std::fmt::Display for SyntaxMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxMistake {}

/// The name nearest to `name`; `None` if no name is near enough to have been meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, candidate) = known.into_iter().map(|candidate| (strsim::osa_distance(name, candidate), candidate)).min()?;
    (distance <= candidate.len().div_ceil(3)).then_some(candidate)
}

/// Lists names in words: `a, b and c`.
pub fn list_names(names: &[&str]) -> String {
    match names {
        [] => "none".into(),
        [name] => (*name).into(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}
