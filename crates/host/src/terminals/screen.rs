//! A user's screen while keys are typed to a program that fills it: its text, its last change, and the terminal's answers to
//! the program.
//!
//! The model begins empty with the first keys, or with the line that starts the program. It is a terminal of the kind xterm with
//! the size of each session's terminal. A change is a change of its characters, their looks, or the cursor's place; output that
//! draws the same again is none.

use loadgo_core::screen_promise::ScreenPromise;
use loadgo_core::time::{Instant, Span};
use loadgo_sys::spawn::{TERMINAL_COLUMNS, TERMINAL_ROWS};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU16;

/// Shortest time without any change after which keys count as seen by nobody. A program that reads its keys late, or waits whether
/// more of an escape sequence comes, changes the screen by then.
const UNSEEN_PATIENCE: Span = Span::from_millis(1000);
/// Most bytes of answers that wait for the program. A program that asks without end and reads nothing gets no more.
const MOST_ANSWER_BYTES: usize = 4096;

/// Most looks that find the terminal between two programs before the answer is in doubt: a busy host is slow to hand it over.
const MOST_LOOKS_BETWEEN: u32 = 40;

/// The screen of a session, and when it changed.
pub(crate) struct ScreenWatch {
    parser: vt100::Parser<Answers>,
    /// A hash of what the screen shows.
    shown: u64,
    /// When the keys were sent.
    sent: Instant,
    /// When the screen changed last since then.
    changed: Option<Instant>,
    /// No look before this instant: the program was seen at work.
    next_look: Instant,
    /// Whether a look at the program told nothing since the last change.
    was_unknown: bool,
    /// Number of looks since the last change that found the terminal between two programs.
    looks_between: u32,
}

/// Answers of the terminal to what the program asked, in the order of the questions.
#[derive(Debug, Default)]
struct Answers(Vec<u8>);

impl ScreenWatch {
    pub(crate) fn new() -> ScreenWatch {
        let size = |value| NonZeroU16::new(value).expect("a terminal has rows and columns");
        let parser = vt100::Parser::new_with_callbacks(size(TERMINAL_ROWS), size(TERMINAL_COLUMNS), 0, Answers::default());
        let shown = hash_of(parser.screen());
        ScreenWatch {
            parser,
            shown,
            sent: Instant(0),
            changed: None,
            next_look: Instant(0),
            was_unknown: false,
            looks_between: 0,
        }
    }

    /// Notes that keys were sent at `sent`: changes count from there.
    pub(crate) fn begin(&mut self, sent: Instant) {
        (self.sent, self.changed, self.next_look, self.was_unknown, self.looks_between) = (sent, None, Instant(0), false, 0);
    }

    /// Takes output that came at `now`.
    pub(crate) fn print(&mut self, output: &[u8], now: Instant) {
        self.parser.process(output);
        let shown = hash_of(self.parser.screen());
        if shown != self.shown {
            (self.shown, self.changed, self.was_unknown, self.looks_between) = (shown, Some(now), false, 0);
        }
    }

    /// The answers to the program's questions since the last call.
    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parser.callbacks_mut().0)
    }

    /// When the screen has settled, if nothing changes before. Where nothing has changed at all, the keys get more time.
    pub(crate) fn settles(&self, settle: Span) -> Instant {
        match self.changed {
            Some(changed) => (changed + settle).max(self.next_look),
            None => (self.sent + settle.max(UNSEEN_PATIENCE)).max(self.next_look),
        }
    }

    /// Notes that the program was at work at `now`: the next look comes a settle time later.
    pub(crate) fn look_again(&mut self, now: Instant, settle: Span) {
        self.next_look = now + settle;
    }

    /// Notes that a look found the terminal between two programs; true if many did.
    pub(crate) fn changes_hands_too_long(&mut self) -> bool {
        self.looks_between += 1;
        self.looks_between > MOST_LOOKS_BETWEEN
    }

    /// Notes that a look told nothing; true if one before told nothing either.
    pub(crate) fn is_unknown_again(&mut self) -> bool {
        std::mem::replace(&mut self.was_unknown, true)
    }

    /// When the screen changed last since the keys were sent.
    pub(crate) fn changed(&self) -> Option<Instant> {
        self.changed
    }

    /// When the keys were sent.
    pub(crate) fn sent(&self) -> Instant {
        self.sent
    }

    /// Whether the screen shows what the script promises.
    pub(crate) fn keeps(&self, promise: &ScreenPromise) -> bool {
        let (row, column) = self.parser.screen().cursor_position();
        let is_there = promise.cursor.is_none_or(|place| place == (row + 1, column + 1));
        is_there && promise.shows.as_ref().is_none_or(|pattern| pattern.is_match(&self.text()))
    }

    /// The text on the screen, a line for each row.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<_> = self.parser.screen().rows(0, TERMINAL_COLUMNS).map(|row| row.trim_end().to_string()).collect();
        rows.join("\n").trim_end().into()
    }

    /// `keys` as this terminal sends them: a program may have asked for other codes of the arrow keys.
    pub(crate) fn as_sent<'k>(&self, keys: &'k [u8]) -> Cow<'k, [u8]> {
        if !self.parser.screen().application_cursor() {
            return Cow::Borrowed(keys);
        }
        let mut sent = keys.to_vec();
        for at in 2..sent.len() {
            if sent[at - 2..at] == *b"\x1b[" && matches!(sent[at], b'A'..=b'D' | b'F' | b'H') {
                sent[at - 1] = b'O';
            }
        }
        Cow::Owned(sent)
    }
}

impl std::fmt::Debug for ScreenWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScreenWatch").field("sent", &self.sent).field("changed", &self.changed).finish_non_exhaustive()
    }
}

fn hash_of(screen: &vt100::Screen) -> u64 {
    let mut hasher = DefaultHasher::new();
    screen.cursor_position().hash(&mut hasher);
    screen.rows_formatted(0, TERMINAL_COLUMNS).for_each(|row| row.hash(&mut hasher));
    hasher.finish()
}

impl Answers {
    fn add(&mut self, answer: &str) {
        if self.0.len() + answer.len() <= MOST_ANSWER_BYTES {
            self.0.extend_from_slice(answer.as_bytes());
        }
    }
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(&mut self, screen: &mut vt100::Screen, first: Option<u8>, _: Option<u8>, values: &[&[u16]], letter: char) {
        let value = values.first().and_then(|value| value.first()).copied().unwrap_or(0);
        let (row, column) = screen.cursor_position();
        match (first, letter, value) {
            (None, 'n', 5) => self.add("\x1b[0n"),
            (None, 'n', 6) => self.add(&format!("\x1b[{};{}R", row + 1, column + 1)),
            (Some(b'?'), 'n', 6) => self.add(&format!("\x1b[?{};{}R", row + 1, column + 1)),
            (None, 'c', 0) => self.add("\x1b[?6c"),
            (Some(b'>'), 'c', 0) => self.add("\x1b[>0;95;0c"),
            (None, 't', 18) => self.add(&format!("\x1b[8;{TERMINAL_ROWS};{TERMINAL_COLUMNS}t")),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, values: &[&[u8]]) {
        match values {
            [b"10", b"?"] => self.add("\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
            [b"11", b"?"] => self.add("\x1b]11;rgb:0000/0000/0000\x1b\\"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::random::{RandomStream, StreamPurpose};
    use loadgo_core::script::{SCREEN_COLUMNS, SCREEN_ROWS, ScreenRule};

    const SETTLE: Span = Span::from_millis(50);

    #[test]
    fn a_script_knows_the_size_of_the_terminal() {
        assert_eq!((SCREEN_ROWS, SCREEN_COLUMNS), (TERMINAL_ROWS, TERMINAL_COLUMNS));
    }

    fn printed(pieces: &[(&str, u64)]) -> ScreenWatch {
        let mut watch = ScreenWatch::new();
        watch.begin(Instant(0));
        pieces.iter().for_each(|(piece, at)| watch.print(piece.as_bytes(), Instant(*at)));
        watch
    }

    #[test]
    fn drawing_the_same_again_is_no_change_and_a_moved_cursor_is_one() {
        let watch = printed(&[("\x1b[H\x1b[2Jabc", 5), ("\x1b[Habc", 9), ("\x1b[?25l\x1b]2;title\x07\x1b[?25h", 11)]);
        assert_eq!(watch.changed(), Some(Instant(5)));
        assert_eq!(printed(&[("abc", 5), ("\x1b[D", 9)]).changed(), Some(Instant(9)));
        assert_eq!(printed(&[("abc", 5), ("\r\x1b[7mabc", 9)]).changed(), Some(Instant(9)), "other looks");
    }

    #[test]
    fn a_screen_has_settled_after_its_last_change_and_later_if_nothing_changed() {
        assert_eq!(printed(&[("abc", 5)]).settles(SETTLE), Instant(5) + SETTLE);
        assert_eq!(printed(&[]).settles(SETTLE), Instant(0) + UNSEEN_PATIENCE);
        let mut watch = printed(&[("abc", 5)]);
        watch.look_again(Instant(0) + SETTLE, SETTLE);
        assert_eq!(watch.settles(SETTLE), Instant(0) + SETTLE + SETTLE);
    }

    #[test]
    fn a_program_that_asks_its_terminal_gets_answers() {
        let mut watch = printed(&[("\x1b[3;7H\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[18t\x1b]11;?\x07", 1)]);
        let answers = String::from_utf8(watch.take_answers()).expect("text");
        assert_eq!(answers, "\x1b[3;7R\x1b[?6c\x1b[>0;95;0c\x1b[0n\x1b[8;24;80t\x1b]11;rgb:0000/0000/0000\x1b\\");
        assert!(watch.take_answers().is_empty());
        watch.print("\x1b[6n".repeat(10_000).as_bytes(), Instant(2));
        assert!(watch.take_answers().len() <= MOST_ANSWER_BYTES);
    }

    #[test]
    fn arrow_keys_are_sent_as_the_program_asked() {
        let watch = printed(&[("\x1b[?1h", 1)]);
        assert_eq!(&*watch.as_sent(b"a\x1b[A\x1b[5~\x1b[1;2B"), b"a\x1bOA\x1b[5~\x1b[1;2B");
        assert_eq!(&*ScreenWatch::new().as_sent(b"\x1b[A"), b"\x1b[A");
    }

    #[test]
    fn a_promise_is_about_the_text_and_the_cursor() {
        let watch = printed(&[("\x1b[2J\x1b[2;1Hdone\x1b[2;3H", 1)]);
        let keeps = |shows: &str, cursor| {
            let rule = ScreenRule { settle: SETTLE, shows: Some(shows.into()), cursor };
            watch.keeps(&ScreenPromise::of(&rule))
        };
        assert!(keeps("(?m)^done$", Some((2, 3))) && keeps("done", None));
        assert!(!keeps("(?m)^done$", Some((3, 2))) && !keeps("gone", None));
    }

    #[test]
    fn any_bytes_can_be_printed_however_they_are_cut() {
        let mut random = RandomStream::new(5, 1, StreamPurpose::Work);
        let alphabet: [&[u8]; 16] = [
            b"\x1b[",
            b"\x1b]",
            b"\x1bP",
            b"?",
            b";",
            b"65535",
            b"9",
            b"H",
            b"r",
            b"\xe4\xb8\x96",
            b"\xff",
            b"\xcc\x81",
            b"\x1bM",
            b"L",
            b"\x1b[?1049h",
            b"\n",
        ];
        let letters = b"@ABCDEFGHIJKLMPSTXZ`abcdefghlmnqrstu\x07\r\t\x08";
        for _ in 0..300 {
            let mut watch = ScreenWatch::new();
            for at in 0..60 {
                let mut piece = Vec::new();
                for _ in 0..random.index(20) {
                    match random.index(3) {
                        0 => piece.push(letters[random.index(letters.len())]),
                        1 => piece.push(random.index(256) as u8),
                        _ => piece.extend_from_slice(alphabet[random.index(alphabet.len())]),
                    }
                }
                watch.print(&piece, Instant(at));
                watch.text();
            }
        }
    }
}
