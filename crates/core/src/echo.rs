//! The echo of typed keys, which is no output of the system.

use crate::ready::SHELL_PROMPT;

/// The key (control-V) after which terminals and line editors take the next key as it is.
pub const QUOTE_KEY: u8 = 0x16;
/// Columns between two tab stops.
const TAB_COLUMNS: usize = 8;

/// Most bytes for which an echo keeps memory. The line that sets a session's prompt is longer than what users type.
const MOST_KEPT_BYTES: usize = 128;

/// The echo that a terminal prints for the typed keys: the same bytes, with a carriage return before each newline.
///
/// A tab has several echoes. A line editor shows it as blanks up to the next stop, and a terminal shows it as a tab. Where
/// [`QUOTE_KEY`] was typed before it, a terminal shows a caret under the cursor first.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    expected: Vec<u8>,
    echoed: usize,
    /// Blanks that the present tab has been shown as so far.
    tab_blanks: usize,
}

impl Echo {
    /// Begins a new line, and expects no echo of earlier lines any more.
    pub fn begin(&mut self) {
        if self.expected.capacity() > MOST_KEPT_BYTES {
            self.expected = Vec::new();
        }
        self.expected.clear();
        self.echoed = 0;
        self.tab_blanks = 0;
    }

    /// Adds typed keys, whose echo is expected.
    pub fn expect(&mut self, mut keys: &[u8]) {
        while let Some(plain) = memchr::memchr2(QUOTE_KEY, b'\n', keys) {
            self.expected.extend_from_slice(&keys[..plain]);
            if keys[plain] == b'\n' {
                self.expected.extend_from_slice(b"\r\n");
            }
            keys = &keys[plain + 1..];
        }
        self.expected.extend_from_slice(keys);
    }

    /// Number of bytes of echo at the beginning of `piece`. The first other byte ends the echo of this line.
    pub fn strip(&mut self, piece: &[u8]) -> usize {
        let mut at = 0;
        loop {
            let expected = &self.expected[self.echoed..];
            let same = common_prefix(expected, &piece[at..]);
            self.echoed += same;
            at += same;
            match (self.expected.get(self.echoed), piece.get(at)) {
                (_, None) => return at,
                (Some(b'\t'), Some(b'^' | b'\x08')) => at += 1,
                (Some(b'\n'), Some(b'\r')) => at += 1, // zsh's line editor returns the carriage, and then the terminal does
                (Some(b'\t'), Some(b' ')) => {
                    at += 1;
                    self.show_blank_of_tab();
                }
                _ => {
                    self.echoed = self.expected.len();
                    return at;
                }
            }
        }
    }

    /// Counts a blank that stands for the expected tab. The tab is complete at the next stop.
    fn show_blank_of_tab(&mut self) {
        self.tab_blanks += 1;
        if (self.column() + self.tab_blanks).is_multiple_of(TAB_COLUMNS) {
            self.echoed += 1;
            self.tab_blanks = 0;
        }
    }

    /// The column behind the prompt and the echo so far, from 0.
    fn column(&self) -> usize {
        let line = self.expected[..self.echoed].rsplit(|&key| key == b'\n').next().unwrap_or_default();
        line.iter().fold(SHELL_PROMPT.len(), |column, &key| match key {
            b'\t' => column + TAB_COLUMNS - column % TAB_COLUMNS,
            0x80..=0xbf => column, // a further byte of a character
            _ => column + 1,
        })
    }
}

/// Length of the common beginning of `expected` and `printed`. Most output begins with the whole echo.
fn common_prefix(expected: &[u8], printed: &[u8]) -> usize {
    if printed.starts_with(expected) {
        return expected.len();
    }
    expected.iter().zip(printed).take_while(|(expected, printed)| expected == printed).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_tab_is_echoed_as_a_line_editor_or_as_a_terminal_shows_it() {
        // After the prompt of two columns the tabs end in the columns 8, 16 and 24.
        let typed = b"echo a\x16\t\x16\tb \x16\tc\n";
        for shown in ["echo a                b       c\r\n", "echo a^\x08\t^\x08\tb ^\x08\tc\r\n", "echo a\t\tb \tc\r\n"] {
            for cut in 0..shown.len() {
                let mut echo = Echo::default();
                echo.expect(typed);
                assert_eq!(echo.strip(&shown.as_bytes()[..cut]), cut, "{shown:?}");
                let rest = [&shown.as_bytes()[cut..], b" out"].concat();
                assert_eq!(echo.strip(&rest), shown.len() - cut, "{shown:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn the_echo_is_distinguished_from_the_output_however_it_is_cut() {
        let mut echo = Echo::default();
        echo.expect(b"ls\n");
        assert_eq!(echo.strip(b"l"), 1);
        assert_eq!(echo.strip(b"s\r\nls\r\n"), 3);
        assert_eq!(echo.strip(b"ls"), 0);
        echo.begin();
        echo.expect(b"ls\n");
        assert_eq!(echo.strip(b"other"), 0, "a program that does not echo");
        assert_eq!(echo.strip(b"ls\r\n"), 0, "what comes later is output");
    }

    #[test]
    fn a_carriage_that_a_line_editor_and_the_terminal_return_is_no_output() {
        let mut echo = Echo::default();
        echo.expect(b"ls\n");
        assert_eq!(echo.strip(b"ls\r"), 3);
        assert_eq!(echo.strip(b"\r\nabc"), 2);
    }
}
