//! Recognises in a terminal's output that the system is ready for the next line.
//!
//! A shell's prompt ends with a mark in the style of OSC 133, `ESC ] 133 ; D ; STATUS ; aid = NONCE BEL`. The nonce is drawn
//! for each session, so no program prints it by chance, and marks of another session in a file count for nothing. ESC
//! is only at the head of a mark, so one pass finds it without going back, wherever reads cut the output. A program
//! without such a prompt is ready after a pattern at the end of its output, or after silence.

use crate::osc133::{self, ESCAPE_BYTE, MarkRead};
use crate::screen_promise::{ScreenPromise, ScreenPromises};
use crate::script::{ReadyRule, ScreenRule};
use regex::bytes::Regex;
use regex_syntax::hir::{HirKind, Look};

/// Number of hexadecimal digits of a nonce.
pub(crate) const NONCE_DIGITS: usize = 16;

/// The text of a session's prompt before its mark.
pub const SHELL_PROMPT: &[u8] = b"$ ";

/// Largest length of a session's mark: its head, a status of three digits, a time with its sign, and the nonce.
const MOST_MARK_BYTES: usize = 33 + ";t=-".len() + osc133::MOST_TIME_DIGITS;
/// Number of bytes at the end of the output in which a pattern is searched. Chosen by hand: prompts are shorter.
const TAIL_BYTES: usize = 256;
/// Number of bytes at the end of the output of a log-in that are kept for a message. A screen of 24 lines has 1,920.
const LOG_IN_SCREEN_BYTES: usize = 1920;

/// A session's random id, in lower-case hexadecimal digits.
pub type Nonce = [u8; NONCE_DIGITS];

/// Makes a nonce of the hexadecimal digits of `bits`, the lowest first.
pub fn nonce(bits: u64) -> Nonce {
    let mut nonce = [0; NONCE_DIGITS];
    for (position, digit) in nonce.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(bits >> (4 * position) & 15) as usize];
    }
    nonce
}

/// A session's mark in a piece of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkMatch {
    /// The exit status of the command before the prompt.
    pub status: u8,
    /// The time that the session's shell measured from the reading of the command line to this prompt; `None` if it measured none.
    pub took_us: Option<u64>,
    /// Length of the mark in bytes.
    pub length: usize,
    /// Number of bytes of the piece up to the end of the mark.
    pub end: usize,
}

/// The state of the search for one session's mark.
#[derive(Clone, Copy, Debug)]
pub struct MarkSearch {
    nonce: Nonce,
    /// The beginning of a possible mark, from the end of the piece before.
    held: [u8; MOST_MARK_BYTES],
    length: u8,
}

impl MarkSearch {
    /// A search for marks with this nonce.
    pub fn new(nonce: Nonce) -> MarkSearch {
        MarkSearch { nonce, held: [0; MOST_MARK_BYTES], length: 0 }
    }

    /// The nonce of the session.
    pub fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// Reads the next piece of output, up to the first mark in it.
    pub fn feed(&mut self, piece: &[u8]) -> Option<MarkMatch> {
        let mut at = 0;
        if self.length > 0 {
            match self.continue_mark(piece) {
                Ok(mark) => return mark,
                Err(read) => at = read,
            }
        }
        while let Some(offset) = memchr::memchr(ESCAPE_BYTE, &piece[at..]) {
            at += offset;
            match osc133::read(&piece[at..], MOST_MARK_BYTES) {
                MarkRead::Mark(body, length) => {
                    at += length;
                    if let Some((status, took_us)) = self.own(body) {
                        return Some(MarkMatch { status, took_us, length, end: at });
                    }
                }
                MarkRead::Open => {
                    self.hold(&piece[at..]);
                    return None;
                }
                MarkRead::None => at += 1,
            }
        }
        None
    }

    /// Reads on in the possible mark that is held, with the beginning of `piece` after it.
    ///
    /// If that is no mark of this session, the error is the number of bytes of `piece` that were read.
    fn continue_mark(&mut self, piece: &[u8]) -> Result<Option<MarkMatch>, usize> {
        let before = usize::from(self.length);
        let taken = piece.len().min(MOST_MARK_BYTES - before);
        let mut all = self.held;
        all[before..before + taken].copy_from_slice(&piece[..taken]);
        let all = &all[..before + taken];
        self.length = 0;
        match osc133::read(all, MOST_MARK_BYTES) {
            MarkRead::Mark(body, length) => match self.own(body) {
                Some((status, took_us)) => Ok(Some(MarkMatch { status, took_us, length, end: length - before })),
                None => Err(length - before),
            },
            MarkRead::Open => {
                self.hold(all);
                Ok(None)
            }
            // The held bytes have one ESC at their head, and perhaps one as their last byte, which begins a mark if it ends none.
            MarkRead::None if before > 1 && self.held[before - 1] == ESCAPE_BYTE => {
                self.hold(&[ESCAPE_BYTE]);
                self.continue_mark(piece)
            }
            MarkRead::None => Err(0),
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.held[..bytes.len()].copy_from_slice(bytes);
        self.length = bytes.len() as u8;
    }

    /// The status and the time in the body of a mark of this session; `None` for any other mark.
    fn own(&self, body: &[u8]) -> Option<(u8, Option<u64>)> {
        osc133::read_prompt_body(body).filter(|read| read.id == self.nonce).map(|read| (read.status, read.took_us))
    }
}

/// The patterns of a script, compiled once and shared by all sessions. A pattern matches at the end of the output, or on the screen.
#[derive(Clone, Debug, Default)]
pub struct ReadyPatterns(Vec<ReadyPattern>, ScreenPromises);

#[derive(Clone, Debug)]
struct ReadyPattern {
    text: String,
    regex: Regex,
    /// The only string that the pattern matches, if there is only one: then no search is needed.
    literal: Option<Box<[u8]>>,
}

impl ReadyPatterns {
    /// Compiles every pattern among `rules`.
    ///
    /// # Panics
    /// If a pattern does not compile. The script's parser refuses such patterns.
    pub fn of<'a>(rules: impl IntoIterator<Item = &'a ReadyRule>) -> ReadyPatterns {
        let mut patterns = ReadyPatterns::default();
        for rule in rules {
            patterns.1.add(rule);
            if let ReadyRule::Pattern(text) = rule
                && patterns.index(text).is_none()
            {
                let regex = Regex::new(&format!("(?:{text})\\z")).expect("the parser accepts only patterns that compile");
                patterns.0.push(ReadyPattern { text: text.clone(), regex, literal: literal(text) });
            }
        }
        patterns
    }

    /// The number of a compiled pattern; `None` if the script has no such pattern.
    pub fn index(&self, text: &str) -> Option<usize> {
        self.0.iter().position(|pattern| pattern.text == text)
    }

    /// The number of what `rule` promises of the screen; `None` if the script has no such rule.
    pub fn screen_index(&self, rule: &ScreenRule) -> Option<usize> {
        self.1.index(rule)
    }

    /// The promise of the rule of this number.
    pub fn screen(&self, index: usize) -> &ScreenPromise {
        self.1.at(index)
    }

    /// Length of the match of pattern number `index` at the end of `tail`, in bytes; `None` if it does not match.
    pub fn ending(&self, index: usize, tail: &[u8]) -> Option<usize> {
        let pattern = &self.0[index];
        match &pattern.literal {
            Some(literal) => tail.ends_with(literal).then_some(literal.len()),
            None => pattern.regex.find(tail).map(|matched| matched.len()),
        }
    }
}

/// The only string that `pattern` matches, with or without a `$` at its end; `None` if it matches several.
fn literal(pattern: &str) -> Option<Box<[u8]>> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let literal = match parsed.kind() {
        HirKind::Literal(literal) => literal,
        HirKind::Concat(parts) => match [parts.first()?.kind(), parts.get(1)?.kind()] {
            [HirKind::Literal(literal), HirKind::Look(Look::End)] if parts.len() == 2 => literal,
            _ => return None,
        },
        _ => return None,
    };
    Some(literal.0.clone())
}

/// The last bytes of a session's output, at most twice what is asked for.
#[derive(Clone, Debug, Default)]
pub struct OutputTail(Vec<u8>);

impl OutputTail {
    /// Adds a piece of output, in which a pattern is searched.
    pub fn push(&mut self, piece: &[u8]) {
        self.push_keeping(piece, TAIL_BYTES);
    }

    /// Adds a piece of output that a message may show.
    pub fn push_for_message(&mut self, piece: &[u8]) {
        self.push_keeping(piece, LOG_IN_SCREEN_BYTES);
    }

    fn push_keeping(&mut self, piece: &[u8], bytes: usize) {
        let kept = &piece[piece.len().saturating_sub(bytes)..];
        if self.0.len() + kept.len() > 2 * bytes {
            self.0.drain(..self.0.len() - bytes.min(self.0.len()));
        }
        self.0.extend_from_slice(kept);
    }

    /// The last bytes of the output.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Removes all bytes, and keeps the memory for the next line.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes all bytes, and frees the memory.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }
}

/// Number of bytes that a [`LastScreen`] keeps: more than a full screen of prompts and messages needs.
pub const SCREEN_BYTES: usize = 2048;

/// The last bytes that a terminal printed since a line was sent, at most [`SCREEN_BYTES`].
#[derive(Clone, Debug, Default)]
pub struct LastScreen(Vec<u8>);

impl LastScreen {
    /// Adds a piece of output.
    pub fn push(&mut self, piece: &[u8]) {
        let kept = &piece[piece.len().saturating_sub(SCREEN_BYTES)..];
        let too_many = (self.0.len() + kept.len()).saturating_sub(SCREEN_BYTES);
        if too_many > 0 {
            self.0.drain(..too_many);
        }
        self.0.extend_from_slice(kept);
    }

    /// Removes all bytes, and keeps the memory for the next line.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The bytes as text. What is no UTF-8 is replaced, a character that is cut at the beginning too.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(status: &str, nonce: &Nonce) -> Vec<u8> {
        osc133::prompt_mark(std::str::from_utf8(nonce).expect("digits"), status).into_bytes()
    }

    #[test]
    fn a_screen_keeps_the_last_bytes_however_the_output_is_cut() {
        let output: Vec<u8> = (0..3 * SCREEN_BYTES).map(|number| b'a' + (number % 26) as u8).collect();
        for cut in [1, 7, SCREEN_BYTES - 1, SCREEN_BYTES, SCREEN_BYTES + 1, output.len()] {
            let mut screen = LastScreen::default();
            output.chunks(cut).for_each(|piece| screen.push(piece));
            assert_eq!(screen.text().as_bytes(), &output[output.len() - SCREEN_BYTES..], "{cut}");
        }
    }

    #[test]
    fn a_screen_of_any_bytes_is_text() {
        let mut screen = LastScreen::default();
        screen.push(b"caf\xc3\xa9 \xff\x1b[2J");
        assert_eq!(screen.text(), "caf\u{e9} \u{fffd}\u{1b}[2J");
        screen.clear();
        assert_eq!(screen.text(), "");
    }

    #[test]
    fn a_mark_is_found_however_the_output_is_cut() {
        let id = nonce(0x0123_4567_89ab_cdef);
        let output = [b"text \x1b[1m\x1b]133;D;\x1b".as_slice(), &mark("17", &id), b"rest"].concat();
        let end = output.len() - 4;
        for cut in 0..output.len() {
            let mut search = MarkSearch::new(id);
            let mark = match search.feed(&output[..cut]) {
                Some(mark) => mark,
                None => search.feed(&output[cut..]).map(|mark| MarkMatch { end: mark.end + cut, ..mark }).expect("found"),
            };
            assert_eq!(mark, MarkMatch { status: 17, took_us: None, length: 32, end });
        }
    }

    #[test]
    fn the_time_in_a_mark_is_found_however_the_output_is_cut() {
        let id = nonce(0x0123_4567_89ab_cdef);
        let output =
            [b"text ".as_slice(), &mark("255;t=-999999999999999", &id), b"x", &mark("255;t=9999999999999999", &id)].concat();
        for cut in 0..output.len() {
            let mut search = MarkSearch::new(id);
            let mut found = Vec::new();
            for piece in [&output[..cut], &output[cut..]] {
                let mut at = 0;
                while let Some(mark) = search.feed(&piece[at..]) {
                    at += mark.end;
                    found.push((mark.status, mark.took_us, mark.length));
                }
            }
            assert_eq!(found, [(255, None, 52), (255, Some(9_999_999_999_999_999), 52)], "cut at {cut}");
        }
    }

    #[test]
    fn a_mark_of_another_session_or_without_a_status_is_no_mark() {
        let id = nonce(1);
        for forged in [mark("0", &nonce(2)), mark("", &id), mark("256", &id), mark("1234", &id), mark("$?", &id), mark("-1", &id)]
        {
            assert_eq!(MarkSearch::new(id).feed(&forged), None, "{:?}", String::from_utf8_lossy(&forged));
        }
        assert!(MarkSearch::new(id).feed(&mark("255", &id)).is_some());
    }

    #[test]
    fn random_bytes_neither_stop_the_search_nor_look_like_a_mark() {
        use crate::random::{RandomStream, StreamPurpose};
        let id = nonce(0xfeed_beef);
        let alphabet = [&b"\x1b]133;D;"[..], b";aid=", &id, b"0129", b"\x07"].concat();
        let mut random = RandomStream::new(3, 1, StreamPurpose::Work);
        let mut search = MarkSearch::new(id);
        for _ in 0..2_000 {
            let noise: Vec<u8> = (0..random.index(60)).map(|_| alphabet[random.index(alphabet.len())]).collect();
            assert_eq!(search.feed(&noise), None);
            assert_eq!(search.feed(&mark("0", &id)).map(|mark| mark.status), Some(0));
        }
    }

    #[test]
    fn the_length_of_a_mark_is_what_a_shell_prints() {
        for status in ["0", "10", "255", "0;t=1", "255;t=1234567"] {
            let printed = mark(status, &nonce(5));
            assert_eq!(MarkSearch::new(nonce(5)).feed(&printed).map(|mark| mark.length), Some(printed.len()));
        }
    }

    #[test]
    fn a_pattern_counts_at_the_end_of_the_output_only() {
        let until = ReadyRule::Pattern(r"\? ".into());
        let patterns = ReadyPatterns::of([&until]);
        assert_eq!(patterns.ending(0, b"12\r\n? "), Some(2));
        assert_eq!(patterns.ending(0, b"? 12\r\n"), None);
        for text in [r"\? $", r"\? \z"] {
            let patterns = ReadyPatterns::of([&ReadyRule::Pattern(text.into())]);
            assert!(patterns.0[0].literal.is_some(), "{text}");
            assert_eq!((patterns.ending(0, b"12\r\n? "), patterns.ending(0, b"? 12\r\n")), (Some(2), None), "{text}");
        }
        assert_eq!(literal(r"(?m)\? $"), None, "it also matches before a newline");
        let one_of = ReadyRule::Pattern(r"[>?] ".into());
        assert_eq!(ReadyPatterns::of([&one_of]).ending(0, b"12\r\n> "), Some(2));
    }

    #[test]
    fn a_tail_keeps_the_end_in_bounded_memory() {
        let mut tail = OutputTail::default();
        for number in 0..10_000 {
            tail.push(format!("{number} ").as_bytes());
        }
        tail.push(&[b'x'; 100_000]);
        assert!(tail.bytes().len() <= 2 * TAIL_BYTES && tail.bytes().ends_with(&[b'x'; TAIL_BYTES]));
    }
}
