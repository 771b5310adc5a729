//! A deck of cards for the batch host, and the print file that it asks for: no input, no output, only what they say.
//!
//! A card is a line of at most [`LONGEST_CARD`] bytes. `//PRINT 700` asks for so many lines of a printer, `//PUNCH 900` for so
//! many cards; without either the deck itself is listed. What is printed is the deck over and over, each line with its number.

use loadgo_transfer::moving::records::RECORD;

/// A deck is no longer than this, in bytes: they were small.
pub const LONGEST_DECK: u64 = 512 << 10;
/// No card is longer.
pub(crate) const LONGEST_CARD: usize = 1024;
/// A card that is punched, its newline with it.
const CARD: usize = 80;
/// So many cards of a deck are kept for its print file.
const KEPT: usize = 100;
/// So many lines are made; a longer print file begins again with the first.
const LINES_MADE: u64 = 1024;
/// Before the card on a line: its number and two blanks.
const NUMBER: usize = 8;
/// So much of a card stands on the longest line, before its newline; no more of it is kept.
const SHOWN: usize = RECORD - NUMBER - 1;

/// What a deck asks for: a file of lines that are all as long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    cards: Vec<Vec<u8>>,
    lines: u64,
    line: usize,
}

/// Reads what the deck `text` asks for.
///
/// # Errors
/// In words, with the number of the card that is wrong.
pub fn read(text: &[u8]) -> Result<Output, String> {
    let (mut cards, mut asked, mut count) = (Vec::new(), None, 0);
    for card in text.split_inclusive(|byte| *byte == b'\n') {
        count += 1;
        let card = card.strip_suffix(b"\n").unwrap_or(card);
        if card.len() > LONGEST_CARD {
            return Err(format!("card {count} has {} bytes: a card has at most {LONGEST_CARD}", card.len()));
        }
        asked = asked_for(card).map_err(|why| format!("card {count}: {why}"))?.or(asked);
        if cards.len() < KEPT {
            let shown = card.trim_ascii_end().iter().take(SHOWN);
            cards.push(shown.map(|byte| if byte.is_ascii_graphic() { *byte } else { b' ' }).collect());
        }
    }
    if cards.is_empty() {
        return Err("the deck has no cards: the first line of a deck is its first card".into());
    }
    let (lines, line) = asked.unwrap_or((count, RECORD));
    Ok(Output { cards, lines, line })
}

/// How many lines and how long, where this card asks for some.
fn asked_for(card: &[u8]) -> Result<Option<(u64, usize)>, String> {
    let words = String::from_utf8_lossy(card);
    let mut words = words.split_ascii_whitespace();
    let line = match words.next() {
        Some("//PRINT") => RECORD,
        Some("//PUNCH") => CARD,
        _ => return Ok(None),
    };
    let number = words.next().and_then(|word| word.parse().ok()).filter(|number| (1..=u64::MAX >> 16).contains(number));
    let wrong = || "how many lines? write //PRINT 700, or //PUNCH 900 for cards".to_owned();
    number.map(|number| Some((number, line))).ok_or_else(wrong)
}

impl Output {
    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.lines * self.line as u64
    }

    /// Its first lines: all of them, or as many as are made before it begins again.
    pub fn beginning(&self) -> Vec<u8> {
        let made = self.lines.min(LINES_MADE);
        let mut text = Vec::with_capacity(made as usize * self.line);
        for (at, card) in (1..=made).zip(self.cards.iter().cycle()) {
            let end = text.len() + self.line;
            text.extend_from_slice(format!("{at:>width$}  ", width = NUMBER - 2).as_bytes());
            text.extend(card.iter().take(self.line - NUMBER - 1));
            text.resize(end - 1, b' ');
            text.push(b'\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deck_gets_as_many_lines_of_a_printer_as_it_asks_for() {
        let output = read(b"//JOB\n//PRINT 3\nX = 1\n").expect("a deck");
        assert_eq!(output.size(), 3 * 132);
        let text = String::from_utf8(output.beginning()).expect("text");
        assert_eq!(text.len(), 3 * 132);
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["     1  //JOB", "     2  //PRINT 3", "     3  X = 1"]);
    }

    #[test]
    fn a_deck_that_asks_for_nothing_is_listed_and_cards_are_punched_as_cards() {
        assert_eq!(read(b"a\nb").expect("a deck").size(), 2 * 132);
        assert_eq!(read(b"//PUNCH 5920").expect("a deck").size(), 473_600);
    }

    #[test]
    fn a_massive_print_file_begins_again_instead_of_being_made_whole() {
        let output = read(b"//PRINT 1000000\n").expect("a deck");
        assert_eq!(output.size(), 132_000_000);
        assert_eq!(output.beginning().len() as u64, LINES_MADE * 132);
    }

    #[test]
    fn what_is_no_deck_is_refused_with_its_card() {
        for (deck, told) in [
            (&b""[..], "no cards"),
            (b"a\n//PRINT\n", "card 2"),
            (b"//PRINT -1", "card 1"),
            (b"//PUNCH 0", "card 1"),
            (b"//PRINT 99999999999999999999", "card 1"),
        ] {
            assert!(read(deck).expect_err("it is refused").contains(told), "{told}");
        }
        assert!(read(&[b'x'; LONGEST_CARD + 1]).expect_err("it is refused").contains("at most"));
    }

    #[test]
    fn of_a_card_no_more_is_kept_than_it_has_and_a_line_shows() {
        let kept = |card: &str| read(format!("{card}\n").as_bytes()).expect("a deck").cards[0].len();
        assert_eq!([kept("X = 1"), kept("X = 1   "), kept(&"x".repeat(LONGEST_CARD))], [5, 5, 123]);
        let line = read("x".repeat(LONGEST_CARD).as_bytes()).expect("a deck").beginning();
        assert_eq!(line, format!("     1  {}\n", "x".repeat(123)).as_bytes());
    }

    #[test]
    fn bytes_that_are_no_text_come_out_as_blanks() {
        let output = read(b"\x1b[2J\xff\n").expect("a deck").beginning();
        assert!(output.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == b'\n'));
    }
}
