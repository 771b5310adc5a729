//! Keys as vim writes them: `ihello<Esc>:wq<Enter>`, with the bytes that a terminal of the kind xterm sends for each.

use super::{Template, TemplatePart};
use crate::notation::mistakes::{SyntaxMistake, nearest};
use crate::random::RandomStream;
use std::collections::BTreeMap;

/// Most keys of one line. Chosen by hand: a text of a few pages.
pub(super) const MOST_KEYS: usize = 65_536;

/// Named keys that send fixed bytes, by their names in small letters.
const PLAIN_KEYS: [(&str, &str); 14] = [
    ("esc", "\x1b"),
    ("enter", "\r"),
    ("cr", "\r"),
    ("return", "\r"),
    ("tab", "\t"),
    ("s-tab", "\x1b[Z"),
    ("bs", "\x7f"),
    ("space", " "),
    ("lt", "<"),
    ("gt", ">"),
    ("bar", "|"),
    ("bslash", "\\"),
    ("nul", "\0"),
    ("nl", "\n"),
];
/// Keys that send `ESC [ LETTER`, by their names in small letters.
const LETTER_KEYS: [(&str, char); 6] = [("up", 'A'), ("down", 'B'), ("right", 'C'), ("left", 'D'), ("end", 'F'), ("home", 'H')];
/// Keys that send `ESC [ NUMBER ~`, by their names in small letters.
const NUMBER_KEYS: [(&str, u8); 12] = [
    ("insert", 2),
    ("del", 3),
    ("pageup", 5),
    ("pagedown", 6),
    ("f5", 15),
    ("f6", 17),
    ("f7", 18),
    ("f8", 19),
    ("f9", 20),
    ("f10", 21),
    ("f11", 23),
    ("f12", 24),
];
/// Keys that send `ESC O LETTER`, by their names in small letters.
const FUNCTION_KEYS: [(&str, char); 4] = [("f1", 'P'), ("f2", 'Q'), ("f3", 'R'), ("f4", 'S')];

/// The keys of a line with all placeholders filled in.
#[derive(Clone, Debug, Default)]
pub struct KeyStrokes {
    /// The bytes of all keys.
    pub bytes: String,
    /// The offset behind each key.
    pub ends: Vec<u32>,
}

impl KeyStrokes {
    fn push(&mut self, key: &str) {
        self.bytes.push_str(key);
        self.ends.push(self.bytes.len() as u32);
    }

    /// Adds each character of `text` as a key.
    fn push_text(&mut self, text: &str) {
        let mut buffer = [0; 4];
        text.chars().for_each(|key| self.push(key.encode_utf8(&mut buffer)));
    }
}

impl Template {
    /// The keys that `user` types in `pass`, where this text is in the notation of keys. Words are drawn from `choice`, and typed
    /// character by character.
    ///
    /// # Panics
    /// If the text has a mistake. The script's parser has checked it.
    pub fn strokes(&self, user: u32, pass: u32, words: &BTreeMap<String, Vec<String>>, choice: &mut RandomStream) -> KeyStrokes {
        let mut strokes = KeyStrokes::default();
        for part in &self.0 {
            match part {
                TemplatePart::Text(text) => read(text, |key| strokes.push(key)).expect("the parser has checked the keys"),
                TemplatePart::User => strokes.push_text(&user.to_string()),
                TemplatePart::Pass => strokes.push_text(&pass.to_string()),
                TemplatePart::Random(list) => strokes.push_text(&words[list][choice.index(words[list].len())]),
            }
        }
        strokes
    }
}

/// Checks `notation` as keys, and returns their number. The offset of a mistake is in `notation`.
pub(super) fn check(notation: &str) -> Result<usize, SyntaxMistake> {
    let mut count = 0;
    read(notation, |_| count += 1)?;
    Ok(count)
}

/// Calls `take` with the bytes of each key in `notation`.
fn read(notation: &str, mut take: impl FnMut(&str)) -> Result<(), SyntaxMistake> {
    let mut at = 0;
    while let Some(character) = notation[at..].chars().next() {
        if character.is_control() {
            return Err(SyntaxMistake::new(at, control_character(character)));
        }
        let end = if character == '<' { name_end(notation, at)? } else { at + character.len_utf8() };
        match character {
            '<' => take(&named(&notation[at + 1..end - 1]).ok_or_else(|| unknown(&notation[at + 1..end - 1], at))?),
            _ => take(&notation[at..end]),
        }
        at = end;
    }
    Ok(())
}

fn control_character(character: char) -> String {
    let name = match character {
        '\n' | '\r' => "<Enter>",
        '\t' => "<Tab>",
        '\x1b' => "<Esc>",
        _ => "it by its name, such as <C-x>",
    };
    format!("a key is a plain character or a name: write {name} instead of this control character")
}

/// The offset behind the name that `<` begins at `at`.
fn name_end(notation: &str, at: usize) -> Result<usize, SyntaxMistake> {
    let name = &notation[at + 1..];
    // `<C->>` is control and `>`, which no name holds elsewhere.
    let end = name.find('>').map(|end| end + usize::from(name[..end].ends_with('-') && name[end + 1..].starts_with('>')));
    match end {
        Some(end) if !name[..end].contains(['<', ' ']) || name.starts_with("C- ") => Ok(at + 1 + end + 1),
        Some(_) => {
            Err(SyntaxMistake::new(at, "`<` begins the name of a key, such as <Esc>: write <lt> for the character itself"))
        }
        None => Err(SyntaxMistake::new(
            at,
            "`<` begins the name of a key, and no `>` ends it: write it as in <Esc>, or write <lt> for the character itself",
        )),
    }
}

fn unknown(name: &str, at: usize) -> SyntaxMistake {
    let lower = name.to_ascii_lowercase();
    if let Some(character) = shifted_character(&lower, name) {
        let message = format!("<{name}> is a character of its own: write {character}. Write <lt> for the character `<`");
        return SyntaxMistake::new(at, message);
    }
    if let Some(character) = control_in_words(&lower) {
        return SyntaxMistake::new(at, format!("there is no key <{name}>; {character} with control is written <C-{character}>"));
    }
    let known = PLAIN_KEYS.map(|(name, _)| name).into_iter().chain(LETTER_KEYS.map(|(name, _)| name));
    let known = known.chain(NUMBER_KEYS.map(|(name, _)| name)).chain(FUNCTION_KEYS.map(|(name, _)| name));
    let longer = known.clone().find(|known| known.len() > 2 && lower.starts_with(known));
    let right = match longer.or_else(|| nearest(&lower, known)) {
        Some(near) if !name.is_empty() => format!("did you mean <{}>?", capitalised(near)),
        _ => "names are <Esc>, <Enter>, <Tab>, <BS>, <Space>, <Up>, <PageDown>, <F1>, <C-x> (control), <M-x> (alt).".into(),
    };
    SyntaxMistake::new(at, format!("there is no key <{name}>; {right} Write <lt> for the character `<`"))
}

/// The character of a key such as `<Ctrl-c>` or `<C+c>`, as other programs write it.
fn control_in_words(lower: &str) -> Option<char> {
    let words = ["control-", "control+", "ctrl-", "ctrl+", "c+", "^"];
    let mut rest = words.iter().find_map(|word| lower.strip_prefix(word))?.chars();
    let (Some(character), None) = (rest.next(), rest.next()) else { return None };
    control(character).map(|_| character)
}

/// The character that shift makes of a letter, where `name` is the letter with shift alone.
fn shifted_character(lower: &str, name: &str) -> Option<char> {
    let mut letter = lower.strip_prefix("s-")?.chars();
    let (Some(first), None) = (letter.next(), letter.next()) else { return None };
    first.is_ascii_alphabetic().then(|| name.chars().next_back().expect("it has a letter").to_ascii_uppercase())
}

fn capitalised(name: &str) -> String {
    name.char_indices().map(|(at, letter)| if at == 0 { letter.to_ascii_uppercase() } else { letter }).collect()
}

/// The bytes of the key called `name`; `None` if there is none.
fn named(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if let Some((_, bytes)) = PLAIN_KEYS.iter().find(|(known, _)| *known == lower) {
        return Some((*bytes).into());
    }
    let (modifiers, key) = modifiers_of(&lower);
    if let Some(sequence) = sequence(key, modifiers) {
        return Some(sequence);
    }
    let key = &name[name.len() - key.len()..];
    let plain = PLAIN_KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map_or(key, |(_, bytes)| *bytes);
    let mut characters = plain.chars();
    let is_modified = modifiers != 0 && modifiers & SHIFT_BIT == 0;
    let (Some(character), None, true) = (characters.next(), characters.next(), is_modified) else { return None };
    let character = if modifiers & CONTROL_BIT != 0 { control(character)? } else { character };
    Some(if modifiers & ALT_BIT != 0 { format!("\x1b{character}") } else { character.into() })
}

const SHIFT_BIT: u8 = 1;
const ALT_BIT: u8 = 2;
const CONTROL_BIT: u8 = 4;

/// The modifiers at the beginning of `name`, and the rest.
fn modifiers_of(mut name: &str) -> (u8, &str) {
    let mut modifiers = 0;
    while let [letter @ (b's' | b'm' | b'a' | b'c'), b'-', _, ..] = name.as_bytes() {
        modifiers |= match letter {
            b's' => SHIFT_BIT,
            b'c' => CONTROL_BIT,
            _ => ALT_BIT,
        };
        name = &name[2..];
    }
    (modifiers, name)
}

/// The bytes of a key that is no character; xterm puts the modifiers into a second number.
fn sequence(key: &str, modifiers: u8) -> Option<String> {
    if let Some((_, letter)) = LETTER_KEYS.iter().find(|(known, _)| *known == key) {
        return Some(if modifiers == 0 { format!("\x1b[{letter}") } else { format!("\x1b[1;{}{letter}", 1 + modifiers) });
    }
    if let Some((_, letter)) = FUNCTION_KEYS.iter().find(|(known, _)| *known == key) {
        return Some(if modifiers == 0 { format!("\x1bO{letter}") } else { format!("\x1b[1;{}{letter}", 1 + modifiers) });
    }
    let (_, number) = NUMBER_KEYS.iter().find(|(known, _)| *known == key)?;
    Some(if modifiers == 0 { format!("\x1b[{number}~") } else { format!("\x1b[{number};{}~", 1 + modifiers) })
}

/// The name of the key that sends `bytes`, as scripts write it; `None` if no key of an xterm does.
///
/// `ESC O A` is an arrow, too: a terminal sends it where the program has asked for it.
pub fn name_of_key(bytes: &str) -> Option<String> {
    let mut characters = bytes.chars();
    let (first, single) = (characters.next()?, characters.next().is_none());
    if single && !first.is_control() && first != '<' {
        return Some(first.into());
    }
    if let Some((name, _)) = PLAIN_KEYS.iter().find(|(_, sent)| *sent == bytes) {
        return Some(in_brackets(name));
    }
    if single && first.is_ascii() {
        return Some(format!("<C-{}>", (first as u8 | 0x40) as char));
    }
    let ordinary = bytes.strip_prefix("\x1bO").filter(|rest| LETTER_KEYS.iter().any(|(_, letter)| rest.chars().eq([*letter])));
    let ordinary = ordinary.map_or_else(|| bytes.to_string(), |letter| format!("\x1b[{letter}"));
    let keys = LETTER_KEYS.map(|(name, _)| name).into_iter().chain(NUMBER_KEYS.map(|(name, _)| name));
    for key in keys.chain(FUNCTION_KEYS.map(|(name, _)| name)) {
        if let Some(modifiers) = (0..8).find(|modifiers| sequence(key, *modifiers).as_deref() == Some(&ordinary)) {
            let letters = [(SHIFT_BIT, "S-"), (CONTROL_BIT, "C-"), (ALT_BIT, "M-")];
            let held: String = letters.iter().filter(|(bit, _)| modifiers & bit != 0).map(|(_, letter)| *letter).collect();
            return Some(format!("<{held}{}>", capitalised(key)));
        }
    }
    let mut with_alt = bytes.strip_prefix('\x1b')?.chars();
    let (Some(character), None) = (with_alt.next(), with_alt.next()) else { return None };
    match character {
        ' ' => Some("<M-Space>".into()),
        character if !character.is_control() => Some(format!("<M-{character}>")).filter(|name| check(name).is_ok()),
        _ => Some(format!("<M-{}", name_of_key(&character.to_string())?.strip_prefix('<')?)),
    }
}

fn in_brackets(name: &str) -> String {
    match name {
        "bs" | "s-tab" => format!("<{}>", if name == "bs" { "BS" } else { "S-Tab" }),
        "nl" => "<NL>".into(),
        "lt" => "<lt>".into(),
        name => format!("<{}>", capitalised(name)),
    }
}

/// The character that the control key makes of `character`.
fn control(character: char) -> Option<char> {
    match character.to_ascii_uppercase() {
        '?' => Some('\x7f'),
        ' ' => Some('\0'),
        letter @ '@'..='_' => Some((letter as u8 & 0x1f) as char),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(notation: &str) -> Vec<String> {
        let mut all = Vec::new();
        read(notation, |key| all.push(key.to_string())).expect("right keys");
        all
    }

    #[test]
    fn names_are_the_bytes_that_an_xterm_sends() {
        assert_eq!(keys("ih\u{e9}<Esc>:wq<Enter>"), ["i", "h", "\u{e9}", "\x1b", ":", "w", "q", "\r"]);
        assert_eq!(keys("<lt>b><C-x><c-X><C-[><C-@><C-Space><C-?>"), ["<", "b", ">", "\x18", "\x18", "\x1b", "\0", "\0", "\x7f"]);
        assert_eq!(keys("<M-x><A-X><C-M-a><M-Enter>"), ["\x1bx", "\x1bX", "\x1b\x01", "\x1b\r"]);
        assert_eq!(
            keys("<Up><S-Left><C-Home><PageDown><C-Del><F1><S-F2><F12>"),
            ["\x1b[A", "\x1b[1;2D", "\x1b[1;5H", "\x1b[6~", "\x1b[3;5~", "\x1bOP", "\x1b[1;2Q", "\x1b[24~"]
        );
        assert_eq!(keys("<S-Tab><BS><Bar><Bslash><Nul>"), ["\x1b[Z", "\x7f", "|", "\\", "\0"]);
    }

    #[test]
    fn the_name_of_a_key_is_read_back_as_the_key() {
        let characters = (0..0x250_u32).filter_map(char::from_u32).map(String::from);
        let alt = (0..0x80_u8).map(|byte| format!("\x1b{}", byte as char));
        let names = ["<Up>", "<S-Left>", "<C-M-Home>", "<PageDown>", "<C-Del>", "<F1>", "<S-F2>", "<F12>", "<S-Tab>"];
        let sequences = names.iter().flat_map(|name| keys(name));
        let mut named_keys = 0;
        for sent in characters.chain(alt).chain(sequences) {
            let Some(name) = name_of_key(&sent) else { continue };
            assert_eq!(keys(&name), [sent], "{name}");
            named_keys += 1;
        }
        assert!(named_keys > 0x80 + 0x60 + names.len(), "{named_keys}");
        assert_eq!(name_of_key("\x1bOA").as_deref(), Some("<Up>"));
        assert_eq!(["\x1b[99x", "\x1b[200~", ""].map(name_of_key), [None, None, None]);
    }

    #[test]
    fn a_mistake_has_its_place_and_what_would_be_right() {
        for (notation, at, words) in [
            ("ab<Escape>", 2, "did you mean <Esc>?"),
            ("<Dwn>", 0, "did you mean <Down>?"),
            ("a < b", 2, "write <lt>"),
            ("<Esc", 0, "no `>` ends it"),
            ("<>", 0, "names are <Esc>"),
            ("<C-1>", 0, "there is no key <C-1>"),
            ("<S-x>", 0, "<S-x> is a character of its own: write X"),
            ("<Ctrl-C>", 0, "c with control is written <C-c>"),
            ("<^c>", 0, "c with control is written <C-c>"),
            ("<C-S-x>", 0, "there is no key <C-S-x>"),
            ("a\nb", 1, "write <Enter>"),
        ] {
            let mistake = check(notation).expect_err(notation);
            assert!(mistake.at == at && mistake.message.contains(words), "{notation}: {mistake:?}");
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_inside_it() {
        let mut random = RandomStream::new(7, 1, crate::random::StreamPurpose::Work);
        let alphabet = ["<", ">", "C-", "M-", "esc", "up", "\u{e9}", "a", " ", "-", "\n", "S-"];
        for _ in 0..20_000 {
            let text: String = (0..random.index(8)).map(|_| alphabet[random.index(alphabet.len())]).collect();
            if let Err(mistake) = check(&text) {
                assert!(text.is_char_boundary(mistake.at) && mistake.at < text.len(), "{text:?}: {mistake:?}");
            }
        }
    }
}
