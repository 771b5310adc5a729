//! Makes texts of the other end safe to print: without control characters, and of bounded length.

use serde::{Deserialize, Deserializer};

/// Largest number of characters of a text.
const MOST_TEXT_CHARS: usize = 1000;

/// Escapes control and invisible characters of `text`, and cuts it after [`MOST_TEXT_CHARS`].
pub fn escape_for_terminal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len().min(MOST_TEXT_CHARS));
    for character in text.chars().take(MOST_TEXT_CHARS) {
        match character {
            '\'' | '"' | '\\' => escaped.push(character),
            _ => escaped.extend(character.escape_debug()),
        }
    }
    if text.chars().nth(MOST_TEXT_CHARS).is_some() {
        escaped.push('…');
    }
    escaped
}

/// Deserializes a text of the other end, escaped.
///
/// # Errors
/// The value is no text.
pub fn deserialize_text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|text| escape_for_terminal(&text))
}

/// Deserializes an optional text of the other end, escaped.
///
/// # Errors
/// The value is no text.
pub(crate) fn deserialize_optional_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(from).map(|text| text.as_deref().map(escape_for_terminal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_stays_and_control_characters_are_escaped() {
        assert_eq!(escape_for_terminal("it's \"größer\" than C:\\x: 5 %"), "it's \"größer\" than C:\\x: 5 %");
        assert_eq!(escape_for_terminal("a\x1b[2Jb\u{202e}c\r\n\u{9b}"), "a\\u{1b}[2Jb\\u{202e}c\\r\\n\\u{9b}");
    }

    #[test]
    fn a_long_text_is_cut() {
        let escaped = escape_for_terminal(&"x".repeat(60_000));
        assert_eq!((escaped.chars().count(), escaped.ends_with("x…")), (MOST_TEXT_CHARS + 1, true));
        assert_eq!(escape_for_terminal(&"x".repeat(MOST_TEXT_CHARS)).chars().count(), MOST_TEXT_CHARS);
    }
}
