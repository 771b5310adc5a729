//! Words from the other end, made safe to print: no control characters, and a bounded length.

use serde::{Deserialize, Deserializer};

/// So many characters of it are told.
const LONGEST: usize = 1000;

/// `said`, cut where it is too long, with escapes for what a terminal would obey or nobody can see.
pub fn plain(said: &str) -> String {
    let mut told = String::with_capacity(said.len().min(LONGEST));
    for sign in said.chars().take(LONGEST) {
        match sign {
            '\'' | '"' | '\\' => told.push(sign),
            _ => told.extend(sign.escape_debug()),
        }
    }
    if said.chars().nth(LONGEST).is_some() {
        told.push('…');
    }
    told
}

/// Words as they are heard.
///
/// # Errors
/// Those of the format: it is no text.
pub fn heard<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(|said| plain(&said))
}

/// Words as they are heard, if there are any.
///
/// # Errors
/// As with [`heard`].
pub(crate) fn heard_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(from).map(|said| said.as_deref().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_as_they_are_and_orders_to_a_terminal_are_seen() {
        assert_eq!(plain("it's \"größer\" than C:\\x: 5 %"), "it's \"größer\" than C:\\x: 5 %");
        assert_eq!(plain("a\x1b[2Jb\u{202e}c\r\n\u{9b}"), "a\\u{1b}[2Jb\\u{202e}c\\r\\n\\u{9b}");
    }

    #[test]
    fn a_long_speech_is_cut() {
        let told = plain(&"x".repeat(60_000));
        assert_eq!((told.chars().count(), told.ends_with("x…")), (LONGEST + 1, true));
        assert_eq!(plain(&"x".repeat(LONGEST)).chars().count(), LONGEST);
    }
}
