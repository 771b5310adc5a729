//! A deck of cards for the batch host, and the print file that the deck asks for.
//!
//! A card is a line of at most [`MOST_CARD_BYTES`]. `//PRINT 700` asks for 700 lines of a printer and `//PUNCH 900` for 900 punched
//! cards; a deck without either is listed once. The print file repeats the deck, with a number before each line.

use std::error::Error;
use std::fmt;

use loadgo_transfer::moving::records::MOST_RECORD_BYTES;

/// Largest size of a deck: decks of RFC 392 were small.
pub const MOST_DECK_BYTES: u64 = 512 << 10;
/// Largest size of a card.
pub(crate) const MOST_CARD_BYTES: usize = 1024;
/// Size of a punched card with its newline.
const PUNCHED_CARD_BYTES: usize = 80;
/// Number of a deck's cards that are kept for its print file.
const MOST_KEPT_CARDS: usize = 100;
/// Number of different lines in a print file; a longer one repeats them.
const MOST_DIFFERENT_LINES: u64 = 1024;
/// Bytes before the card on a line: the line's number and two blanks.
const LINE_NUMBER_BYTES: usize = 8;
/// Bytes of a card that the longest line shows before its newline; the rest of a card is not kept.
const SHOWN_CARD_BYTES: usize = MOST_RECORD_BYTES - LINE_NUMBER_BYTES - 1;

/// The print file of a deck: `lines` lines of `line_bytes` each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeckOutput {
    cards: Vec<Vec<u8>>,
    lines: u64,
    line_bytes: usize,
}

/// A mistake in a deck. Cards are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeckMistake {
    /// The deck is empty.
    NoCards,
    /// The card with this number has too many bytes.
    LongCard(u64, usize),
    /// The order on the card with this number lacks a number of lines.
    NoLineCount(u64),
}

impl Error for DeckMistake {}

impl fmt::Display for DeckMistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeckMistake::NoCards => out.write_str("the deck has no cards: the first line of a deck is its first card"),
            DeckMistake::LongCard(card, bytes) => {
                write!(out, "card {card} has {bytes} bytes: a card has at most {MOST_CARD_BYTES}")
            }
            DeckMistake::NoLineCount(card) => {
                write!(out, "card {card}: how many lines? write //PRINT 700, or //PUNCH 900 for cards")
            }
        }
    }
}

/// Parses the deck in `text`.
///
/// # Errors
/// The first mistake.
pub fn read(text: &[u8]) -> Result<DeckOutput, DeckMistake> {
    let (mut cards, mut order, mut count) = (Vec::new(), None, 0);
    for card in text.split_inclusive(|byte| *byte == b'\n') {
        count += 1;
        let card = card.strip_suffix(b"\n").unwrap_or(card);
        if card.len() > MOST_CARD_BYTES {
            return Err(DeckMistake::LongCard(count, card.len()));
        }
        order = parse_order(card, count)?.or(order);
        if cards.len() < MOST_KEPT_CARDS {
            let shown = card.trim_ascii_end().iter().take(SHOWN_CARD_BYTES);
            cards.push(shown.map(|byte| if byte.is_ascii_graphic() { *byte } else { b' ' }).collect());
        }
    }
    if cards.is_empty() {
        return Err(DeckMistake::NoCards);
    }
    let (lines, line_bytes) = order.unwrap_or((count, MOST_RECORD_BYTES));
    Ok(DeckOutput { cards, lines, line_bytes })
}

/// The number of lines, and of bytes in each line, that the card with this `number` orders, if any.
fn parse_order(card: &[u8], number: u64) -> Result<Option<(u64, usize)>, DeckMistake> {
    let words = String::from_utf8_lossy(card);
    let mut words = words.split_ascii_whitespace();
    let line_bytes = match words.next() {
        Some("//PRINT") => MOST_RECORD_BYTES,
        Some("//PUNCH") => PUNCHED_CARD_BYTES,
        _ => return Ok(None),
    };
    let lines = words.next().and_then(|word| word.parse().ok()).filter(|lines| (1..=u64::MAX >> 16).contains(lines));
    lines.map(|lines| Some((lines, line_bytes))).ok_or(DeckMistake::NoLineCount(number))
}

impl DeckOutput {
    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.lines * self.line_bytes as u64
    }

    /// The file's different lines, which a longer file repeats.
    pub fn beginning(&self) -> Vec<u8> {
        let count = self.lines.min(MOST_DIFFERENT_LINES);
        let mut text = Vec::with_capacity(count as usize * self.line_bytes);
        for (number, card) in (1..=count).zip(self.cards.iter().cycle()) {
            let end = text.len() + self.line_bytes;
            text.extend_from_slice(format!("{number:>width$}  ", width = LINE_NUMBER_BYTES - 2).as_bytes());
            text.extend(card.iter().take(self.line_bytes - LINE_NUMBER_BYTES - 1));
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
    fn a_deck_without_an_order_is_listed_and_a_punched_card_has_80_bytes() {
        assert_eq!(read(b"a\nb").expect("a deck").size(), 2 * 132);
        assert_eq!(read(b"//PUNCH 5920").expect("a deck").size(), 473_600);
    }

    #[test]
    fn a_long_print_file_repeats_its_first_lines() {
        let output = read(b"//PRINT 1000000\n").expect("a deck");
        assert_eq!(output.size(), 132_000_000);
        assert_eq!(output.beginning().len() as u64, MOST_DIFFERENT_LINES * 132);
    }

    #[test]
    fn a_mistake_in_a_deck_is_refused_with_its_card() {
        for (deck, words) in [
            (&b""[..], "no cards"),
            (b"a\n//PRINT\n", "card 2"),
            (b"//PRINT -1", "card 1"),
            (b"//PUNCH 0", "card 1"),
            (b"//PRINT 99999999999999999999", "card 1"),
        ] {
            assert!(read(deck).expect_err("it is refused").to_string().contains(words), "{words}");
        }
        assert_eq!(read(&[b'x'; MOST_CARD_BYTES + 1]), Err(DeckMistake::LongCard(1, MOST_CARD_BYTES + 1)));
    }

    #[test]
    fn only_the_bytes_that_a_line_shows_are_kept_of_a_card() {
        let kept = |card: &str| read(format!("{card}\n").as_bytes()).expect("a deck").cards[0].len();
        assert_eq!([kept("X = 1"), kept("X = 1   "), kept(&"x".repeat(MOST_CARD_BYTES))], [5, 5, 123]);
        let line = read("x".repeat(MOST_CARD_BYTES).as_bytes()).expect("a deck").beginning();
        assert_eq!(line, format!("     1  {}\n", "x".repeat(123)).as_bytes());
    }

    #[test]
    fn bytes_that_are_no_text_become_blanks() {
        let output = read(b"\x1b[2J\xff\n").expect("a deck").beginning();
        assert!(output.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == b'\n'));
    }
}
