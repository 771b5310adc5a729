//! Cuts the bytes of a keyboard into presses of keys for a program that fills the screen, and leaves out what the terminal itself answers.

use super::strokes::{PASTE_BEGIN, first_character, paste};
use loadgo_core::script::name_of_key;

/// A press of a key, as a recorder of full-screen programs tells keys apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Press {
    /// A character.
    Character(char),
    /// The erase key.
    Erase,
    /// Enter, Tab or ^C, which end what was typed into a field.
    FieldEnd(String),
    /// A key that moves within a field or changes it: an arrow, ^U.
    Edit(String),
    /// Any other key, by its name in the notation of scripts.
    Named(String),
    /// Text that was pasted in one piece, as terminals mark it.
    Paste(String),
    /// An answer of the terminal to the program, which nobody pressed.
    Answer,
    /// Bytes that no key of a script sends: the mouse, a cut character.
    Unknown,
}

/// Keys that move within a field or change it.
const EDITING_KEYS: [&str; 10] =
    ["<Left>", "<Right>", "<Home>", "<End>", "<Insert>", "<Del>", "<C-A>", "<C-K>", "<C-U>", "<C-W>"];
/// Length of a mouse report of the oldest kind: `ESC [ M` and three bytes.
const MOUSE_REPORT_BYTES: usize = 6;

/// Cuts the bytes that were read from a keyboard into presses.
pub(super) fn presses_of(bytes: &[u8]) -> Vec<Press> {
    let (mut presses, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (press, length) = first_press(rest);
        match press {
            // Password managers copy the newline, too.
            Press::Paste(text) if text.ends_with(['\r', '\n']) => {
                let body = text.trim_end_matches(['\r', '\n']);
                if !body.is_empty() {
                    presses.push(Press::Paste(body.into()));
                }
                presses.push(Press::FieldEnd("<Enter>".into()));
            }
            press => presses.push(press),
        }
        rest = &rest[length..];
    }
    presses
}

fn first_press(bytes: &[u8]) -> (Press, usize) {
    match bytes {
        [0x1b, b'[', ..] if bytes.starts_with(PASTE_BEGIN) => {
            let (text, length) = paste(bytes);
            (Press::Paste(text), length)
        }
        [0x1b, b'[', b'M', ..] => (Press::Unknown, bytes.len().min(MOUSE_REPORT_BYTES)),
        [0x1b, b'[', ..] => control_sequence(bytes),
        [0x1b, b']' | b'P' | b'_' | b'^', _, ..] => control_string(bytes),
        [0x1b, b'O', letter, ..] if letter.is_ascii_uppercase() => named(bytes, 3),
        // Escape and a character in one reading are what the alt key sends.
        [0x1b, next, ..] if *next != 0x1b => match first_character(&bytes[1..]) {
            Some((_, length)) => named(bytes, 1 + length),
            None => named(bytes, 1),
        },
        [b'\r' | b'\n' | b'\t' | 3, ..] => (Press::FieldEnd(name(&bytes[..1]).expect("these keys have names")), 1),
        [8 | 0x7f, ..] => (Press::Erase, 1),
        _ => match first_character(bytes) {
            Some((character, length)) if !character.is_control() => (Press::Character(character), length),
            Some((_, length)) => named(bytes, length),
            None => (Press::Unknown, 1),
        },
    }
}

fn named(bytes: &[u8], length: usize) -> (Press, usize) {
    let press = match name(&bytes[..length]) {
        Some(name) if EDITING_KEYS.contains(&name.as_str()) => Press::Edit(name),
        Some(name) => Press::Named(name),
        None => Press::Unknown,
    };
    (press, length)
}

fn name(bytes: &[u8]) -> Option<String> {
    name_of_key(std::str::from_utf8(bytes).ok()?)
}

/// `ESC [ PARAMETERS LETTER`: a key, the mouse, or an answer to what the program asked of the terminal.
fn control_sequence(bytes: &[u8]) -> (Press, usize) {
    let Some(end) = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return (Press::Unknown, bytes.len());
    };
    let (parameters, last, length) = (&bytes[2..2 + end], bytes[2 + end], end + 3);
    let is_answer = match parameters.first() {
        Some(b'?' | b'>' | b'=') => true,
        Some(b'<') => return (Press::Unknown, length),
        first => match last {
            b'c' | b'n' | b't' | b'y' => true,
            // The cursor's place, or F3 with a modifier, which send the same.
            b'R' => parameters.contains(&b';'),
            // The window gained or lost the focus.
            b'I' | b'O' => first.is_none(),
            _ => false,
        },
    };
    if is_answer { (Press::Answer, length) } else { named(bytes, length) }
}

/// A string of the terminal up to its end, `BEL` or `ESC \`. Colours are answered so.
fn control_string(bytes: &[u8]) -> (Press, usize) {
    let bell = memchr::memchr(7, bytes).map(|at| at + 1);
    let string_end = memchr::memmem::find(&bytes[2..], b"\x1b\\").map(|at| at + 4);
    match [bell, string_end].into_iter().flatten().min() {
        Some(length) => (Press::Answer, length),
        None => named(bytes, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Press {
        Press::Named(name.into())
    }

    #[test]
    fn keys_are_told_from_what_the_terminal_answers() {
        assert_eq!(
            presses_of("é\x1b[A\x1bOB\x1bx\x03\x1b\r".as_bytes()),
            [
                Press::Character('é'),
                named("<Up>"),
                named("<Down>"),
                named("<M-x>"),
                Press::FieldEnd("<C-C>".into()),
                named("<M-Enter>")
            ]
        );
        assert_eq!(
            presses_of(b"\x1b[>41;330;0c\x1b[24;80R\x1b]11;rgb:00/00/00\x07\x1bP1$r0m\x1b\\\x1b[I"),
            [Press::Answer, Press::Answer, Press::Answer, Press::Answer, Press::Answer]
        );
        assert_eq!(presses_of(b"\x1b[<0;1;1M\x1b[M !!\xc3"), [Press::Unknown, Press::Unknown, Press::Unknown]);
        assert_eq!(presses_of(b"\x1b[200~a\rb\x1b[201~\r"), [Press::Paste("a\rb".into()), Press::FieldEnd("<Enter>".into())]);
        assert_eq!(presses_of(b"\x1b[200~one\n\n\x1b[201~"), [Press::Paste("one".into()), Press::FieldEnd("<Enter>".into())]);
        assert_eq!(presses_of(b"\x15\x1b[D"), [Press::Edit("<C-U>".into()), Press::Edit("<Left>".into())]);
        assert_eq!(presses_of(b"\x1b\x1b"), [named("<Esc>"), named("<Esc>")]);
    }

    #[test]
    fn any_bytes_are_cut_to_their_end() {
        let mut random = loadgo_core::random::RandomStream::new(7, 1, loadgo_core::random::StreamPurpose::Work);
        let alphabet = [0x1b, b'[', b'O', b']', b'M', b'<', b'?', 7, b'\\', b';', b'1', b'~', 0xc3, 0xa9, b'a', b'\r', 0xff];
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..random.index(10)).map(|_| alphabet[random.index(alphabet.len())]).collect();
            assert_eq!(presses_of(&bytes).is_empty(), bytes.is_empty());
        }
    }
}
