//! Cuts the bytes of a keyboard into strokes, and computes the text that plain strokes type.

/// A key that was pressed, as far as a recorder needs to tell keys apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// A character.
    Char(char),
    /// The end of the line.
    Enter,
    /// The interrupt or suspend key (^C, ^\, ^Z).
    Interrupt,
    /// End of file (^D).
    EndOfFile,
    /// Any other key: an arrow, Tab, ^R, …
    Edit(u8),
    /// Text that was pasted in one piece, as terminals mark it.
    Paste(String),
}

/// Bytes that a terminal sends before a paste.
pub(super) const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// Cuts the bytes that were read from a keyboard into strokes.
pub(crate) fn strokes_of(bytes: &[u8]) -> Vec<Stroke> {
    let (mut strokes, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (stroke, length) = first_stroke(rest);
        strokes.push(stroke);
        rest = &rest[length..];
    }
    strokes
}

fn first_stroke(bytes: &[u8]) -> (Stroke, usize) {
    match bytes[0] {
        b'\r' | b'\n' => (Stroke::Enter, 1),
        3 | 0x1a | 0x1c => (Stroke::Interrupt, 1),
        4 => (Stroke::EndOfFile, 1),
        0x1b if bytes.starts_with(PASTE_BEGIN) => {
            let (text, length) = paste(bytes);
            (Stroke::Paste(text.replace("\r\n", "\n").replace('\r', "\n")), length)
        }
        0x1b => (Stroke::Edit(0x1b), escape_length(bytes)),
        control @ (..0x20 | 0x7f) => (Stroke::Edit(control), 1),
        _ => first_character(bytes)
            .map_or((Stroke::Char(char::REPLACEMENT_CHARACTER), 1), |(character, length)| (Stroke::Char(character), length)),
    }
}

/// The first character of `bytes`, and its length; `None` where they begin with none.
pub(super) fn first_character(bytes: &[u8]) -> Option<(char, usize)> {
    let chunk = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(chunk) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&chunk[..error.valid_up_to()]).expect("checked up to here"),
    };
    valid.chars().next().map(|character| (character, character.len_utf8()))
}

/// The pasted text that `bytes` begin with, and the length with its marks.
pub(super) fn paste(bytes: &[u8]) -> (String, usize) {
    let body = &bytes[PASTE_BEGIN.len()..];
    let end = memchr::memmem::find(body, PASTE_END).unwrap_or(body.len());
    (String::from_utf8_lossy(&body[..end]).into(), (PASTE_BEGIN.len() + end + PASTE_END.len()).min(bytes.len()))
}

/// Length of the key's escape sequence: `ESC [ … letter`, `ESC O letter`, or ESC with one key (Meta).
fn escape_length(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        Some(b'[') => match bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) {
            Some(last) => last + 3,
            None => bytes.len(),
        },
        Some(b'O') => bytes.len().min(3),
        Some(_) => 2,
        None => 1,
    }
}

/// The text that strokes type in a terminal's line mode: characters, erase, erase word, erase line.
pub(crate) fn plain_text(strokes: &[Stroke]) -> String {
    let mut text = String::new();
    for stroke in strokes {
        match stroke {
            Stroke::Char(char) => text.push(*char),
            Stroke::Paste(pasted) => text.push_str(pasted),
            Stroke::Edit(b'\t') => text.push('\t'),
            Stroke::Edit(8 | 0x7f) => drop(text.pop()),
            Stroke::Edit(0x15) => text.clear(),
            Stroke::Edit(0x17) => {
                let kept = text.trim_end();
                text.truncate(kept.rfind(char::is_whitespace).map_or(0, |blank| blank + 1));
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_is_one_stroke() {
        assert_eq!(strokes_of(b"a\x1b[A\x1bOB\x1b[1;5C\x1bb\r").len(), 6);
    }

    #[test]
    fn plain_editing_is_followed() {
        assert_eq!(plain_text(&strokes_of("ls -x\x7fl".as_bytes())), "ls -l");
        assert_eq!(plain_text(&strokes_of("make all\x17clean".as_bytes())), "make clean");
        assert_eq!(plain_text(&strokes_of("oops\x15é".as_bytes())), "é");
    }

    #[test]
    fn a_newline_inside_a_paste_is_not_enter() {
        assert_eq!(strokes_of(b"\x1b[200~a\rb\x1b[201~\r"), [Stroke::Paste("a\nb".into()), Stroke::Enter]);
    }
}
