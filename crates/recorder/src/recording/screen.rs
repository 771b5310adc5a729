//! A model of the person's screen, from which an entered line is read.
//!
//! Editing keys, history and completion change a line in ways that only the echo shows. So the line is read from the screen:
//! the text from where typing began to the end. At each prompt the model starts anew with room above and below, so that
//! nothing scrolls out of it while a line is edited.

use std::num::NonZeroU16;

/// Height of the model, with room above and below the prompt.
const ROWS: u16 = 300;
/// Row of each prompt in the model, from 0.
const PROMPT_ROW_INDEX: u16 = 100;

/// A model of the person's screen.
pub(crate) struct Screen {
    parser: vt100::Parser,
    columns: u16,
    /// Row and column at which typing began.
    origin: (u16, u16),
    /// The cursor before a carriage return that moved it to the beginning of its row.
    before_return: Option<(u16, u16)>,
}

impl Screen {
    /// An empty screen of `columns` columns.
    pub fn new(columns: u16) -> Screen {
        Screen { parser: parser(columns), columns, origin: (0, 0), before_return: None }
    }

    /// Prints bytes.
    pub fn print(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Prints the bytes before the first newline, and returns their number. Without a newline, prints all and returns `None`.
    pub(crate) fn print_to_newline(&mut self, bytes: &[u8]) -> Option<usize> {
        let newline = memchr::memchr(b'\n', bytes);
        for piece in bytes[..newline.unwrap_or(bytes.len())].split_inclusive(|byte| *byte == b'\r') {
            let (body, returns) = piece.split_at(piece.len() - usize::from(piece.ends_with(b"\r")));
            self.print(body);
            let cursor = self.cursor();
            if cursor.1 != 0 {
                self.before_return = (!returns.is_empty()).then_some(cursor);
            }
            self.print(returns);
        }
        newline
    }

    /// Whether a full-screen program uses the screen.
    pub(crate) fn is_full_screen(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// The text left of the cursor, in its row.
    pub(crate) fn left_of_cursor(&self) -> String {
        let (row, column) = self.cursor();
        self.parser.screen().contents_between(row, 0, row, column)
    }

    /// Sets the beginning of typing to the cursor, after the shell has drawn its prompt again. The screen's text stays.
    pub(crate) fn set_typing_start(&mut self) {
        self.origin = self.cursor();
        self.before_return = None;
    }

    /// Starts a new line on an empty screen, and keeps the text left of the cursor as its prompt.
    pub(crate) fn begin_typing(&mut self) {
        let (prompt, column) = (self.left_of_cursor(), self.cursor().1);
        self.parser = parser(self.columns);
        self.print(format!("\x1b[{};1H{prompt}\x1b[{};{}H", PROMPT_ROW_INDEX + 1, PROMPT_ROW_INDEX + 1, column + 1).as_bytes());
        self.origin = (PROMPT_ROW_INDEX, column);
        self.before_return = None;
    }

    /// Text from where typing began to the end of the cursor's row, without blanks at its end.
    pub fn typed(&self) -> String {
        let cursor = self.cursor();
        let end = if cursor.1 == 0 { self.before_return.unwrap_or(cursor) } else { cursor };
        let screen = self.parser.screen();
        let left = screen.contents_between(self.origin.0, self.origin.1, end.0, end.1);
        let right = screen.contents_between(end.0, end.1, end.0, self.columns);
        let right = if self.is_right_prompt(&right, end.1) { "" } else { right.trim_end() };
        format!("{left}{right}").trim_end().into()
    }

    /// Gives the screen a new width.
    pub fn resize(&mut self, columns: u16) {
        self.columns = columns.max(2);
        self.parser.screen_mut().set_size(non_zero(ROWS), non_zero(self.columns));
        self.origin.1 = self.origin.1.min(self.columns);
        self.before_return = None;
    }

    fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// Whether `right`, the text from `column` on, is a prompt at the right edge: blanks, then text up to the last columns.
    fn is_right_prompt(&self, right: &str, column: u16) -> bool {
        let width = u16::try_from(right.trim_end().chars().count()).unwrap_or(u16::MAX);
        right.starts_with("  ") && column.saturating_add(width) + 2 >= self.columns
    }
}

fn parser(columns: u16) -> vt100::Parser {
    vt100::Parser::new(non_zero(ROWS), non_zero(columns.max(2)), 0)
}

fn non_zero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).expect("a screen has rows and columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(columns: u16, prompt: &str, echo: &str) -> String {
        let mut screen = Screen::new(columns);
        screen.print(prompt.as_bytes());
        screen.begin_typing();
        screen.print_to_newline(echo.as_bytes());
        screen.typed()
    }

    #[test]
    fn the_line_is_what_the_screen_shows_after_editing() {
        assert_eq!(typed(80, "old\r\n$ ", "lz\x08s -l\r\n"), "ls -l");
        assert_eq!(typed(80, "$ ", "make\r\x1b[C\x1b[Cls\x1b[K\r\n"), "ls");
        assert_eq!(typed(80, "$ ", "cat x\x08\x08\x08\r\n"), "cat x");
    }

    #[test]
    fn a_line_longer_than_the_screen_is_wide_is_one_line() {
        assert_eq!(typed(10, "$ ", "echo 0123456789 0123456789\r\n"), "echo 0123456789 0123456789");
    }

    #[test]
    fn a_prompt_at_the_right_edge_is_not_part_of_the_line() {
        assert_eq!(typed(30, "% ", "ls\x1b[1;28H\x1b[101;25H12:34\x1b[101;5H\r\r\n"), "ls");
    }

    #[test]
    fn the_prompt_keeps_its_last_blank() {
        let mut screen = Screen::new(80);
        screen.print(b"1\r\n\x1b[32m>>>\x1b[0m ");
        assert_eq!(screen.left_of_cursor(), ">>> ");
    }
}
