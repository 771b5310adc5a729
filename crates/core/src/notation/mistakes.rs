//! Mistakes with their place: an offset in bytes becomes line and column. Names near to a misspelt one.

use std::ops::Range;

/// A mistake in a file: where it is, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptMistake {
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in the line, from 1, in characters.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl std::fmt::Display for ScriptMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ScriptMistake {}

/// What could not be read, at an offset in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxMistake {
    /// Offset in the text that was read.
    pub at: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl SyntaxMistake {
    /// Something wrong at `at`.
    pub fn new(at: usize, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake { at, message: message.into() }
    }

    /// The same of a text in which what was read stands behind `before` bytes.
    pub fn behind(self, before: usize) -> SyntaxMistake {
        SyntaxMistake { at: before + self.at, ..self }
    }

    /// The same in lines and columns of `text`.
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

/// The offset in `text` of the byte `at` of a string value whose source is `span`; its opening quote when escapes make the two differ.
pub fn inside(text: &str, span: &Range<usize>, value: &str, at: usize) -> usize {
    let source = text.get(span.clone()).unwrap_or("");
    let quotes = ["\"\"\"\r\n", "'''\r\n", "\"\"\"\n", "'''\n", "\"\"\"", "'''", "\"", "'"];
    let Some(quote) = quotes.iter().find(|quote| source.starts_with(**quote)) else { return span.start };
    let body = source.as_bytes().get(quote.len()..quote.len() + at).unwrap_or(&[]);
    if body.len() == at && value.as_bytes().get(..at) == Some(body) { span.start + quote.len() + at } else { span.start }
}

/// The name nearest to `name`, if one is near enough to have been meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|candidate| (strsim::osa_distance(name, candidate), candidate)).min()?;
    (near.0 <= near.1.len().div_ceil(3)).then_some(near.1)
}

/// Names in words: `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".into(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
