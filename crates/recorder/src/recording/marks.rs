//! Takes prompt marks in the style of OSC 133 out of a session's output.
//!
//! A mark is `ESC ] 133 ; LETTER [; FIELD]… BEL` (or `ESC \` at its end). In a live session only marks with the session's
//! own id count, and other marks stay in the output. In an imported file, marks with any id count.

use loadgo_core::osc133::{self, ESCAPE_BYTE, MarkRead};

/// Longest mark; a longer sequence is passed on as text, because no shell writes such marks.
const MOST_MARK_BYTES: usize = 256;

/// Content of a prompt mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptMark {
    /// The mark's place in the prompt.
    pub place: MarkPlace,
    /// The exit status of the command before the prompt, if the mark has it.
    pub status: Option<u8>,
}

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkPlace {
    /// Before the prompt's text.
    PromptStart,
    /// After the prompt's text: what follows is typed.
    PromptEnd,
    /// After the text of a prompt that asks for the rest of an unfinished command.
    Continuation,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPiece {
    /// Text that the person sees.
    Text(Vec<u8>),
    /// A mark, which was taken out.
    Mark(PromptMark),
}

/// The mark that a live session's continuation prompt ends with.
pub fn continuation_mark(id: &str) -> String {
    format!("\x1b]133;A;k=s;aid={id}\x07")
}

/// Cuts output, as it is read, into text and marks.
#[derive(Clone, Debug)]
pub struct MarkCutter {
    id: Option<String>,
    held: Vec<u8>,
}

impl MarkCutter {
    /// Takes out the marks with this id.
    pub fn of_session(id: &str) -> MarkCutter {
        MarkCutter { id: Some(id.into()), held: Vec::new() }
    }

    /// Takes out all marks, whatever their id.
    pub(crate) fn of_any_session() -> MarkCutter {
        MarkCutter { id: None, held: Vec::new() }
    }

    /// Whether bytes are held back because they may be the head of a mark.
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Returns the bytes that were held back. They are text, because the end of a mark has not come.
    pub fn release(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<OutputPiece> {
        let mut all = self.release();
        all.extend_from_slice(bytes);
        let (mut pieces, mut text, mut at) = (Vec::new(), 0, 0);
        while let Some(found) = memchr::memchr(ESCAPE_BYTE, &all[at..]) {
            let start = at + found;
            match osc133::read(&all[start..], MOST_MARK_BYTES) {
                MarkRead::Mark(body, length) => {
                    at = start + length;
                    if let Some(mark) = self.mark(body) {
                        push_text(&mut pieces, &all[text..start]);
                        pieces.push(OutputPiece::Mark(mark));
                        text = at;
                    }
                }
                MarkRead::Open => {
                    self.held = all.split_off(start);
                    break;
                }
                MarkRead::None => at = start + 1,
            }
        }
        push_text(&mut pieces, &all[text..]);
        pieces
    }

    fn mark(&self, body: &[u8]) -> Option<PromptMark> {
        let mut fields = std::str::from_utf8(body).ok()?.split(';');
        let letter = fields.next()?;
        let fields: Vec<&str> = fields.collect();
        let value = |key: &str| fields.iter().find_map(|field| field.strip_prefix(key));
        if self.id.is_some() && value("aid=") != self.id.as_deref() {
            return None;
        }
        let place = match letter {
            "A" | "B" | "P" if value("k=") == Some("s") => MarkPlace::Continuation,
            "D" if value("aid=").is_some() => MarkPlace::PromptEnd,
            "A" | "D" => MarkPlace::PromptStart,
            "B" => MarkPlace::PromptEnd,
            _ => return None,
        };
        Some(PromptMark { place, status: (letter == "D").then(|| fields.first()?.parse().ok()).flatten() })
    }
}

fn push_text(pieces: &mut Vec<OutputPiece>, text: &[u8]) {
    if !text.is_empty() {
        pieces.push(OutputPiece::Text(text.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::osc133::prompt_mark;

    fn text(piece: &str) -> OutputPiece {
        OutputPiece::Text(piece.into())
    }

    #[test]
    fn a_mark_is_taken_out_over_any_cut_of_the_output() {
        let whole = format!("a\x1b[1mb$ {}c", prompt_mark("77", "3"));
        for cut in 0..=whole.len() {
            let mut cutter = MarkCutter::of_session("77");
            let mut pieces = cutter.feed(&whole.as_bytes()[..cut]);
            pieces.extend(cutter.feed(&whole.as_bytes()[cut..]));
            let marks: Vec<_> = pieces.iter().filter(|piece| matches!(piece, OutputPiece::Mark(_))).collect();
            assert_eq!(marks, [&OutputPiece::Mark(PromptMark { place: MarkPlace::PromptEnd, status: Some(3) })]);
            let shown: Vec<u8> =
                pieces.iter().flat_map(|piece| if let OutputPiece::Text(text) = piece { text.clone() } else { vec![] }).collect();
            assert_eq!(shown, b"a\x1b[1mb$ c");
        }
    }

    #[test]
    fn a_forged_mark_stays_in_the_output() {
        let forged = prompt_mark("78", "0");
        assert_eq!(MarkCutter::of_session("77").feed(forged.as_bytes()), [text(&forged)]);
    }

    #[test]
    fn marks_of_any_session_say_where_the_prompt_begins_and_ends() {
        let pieces = MarkCutter::of_any_session().feed(b"\x1b]133;D;1\x1b\\\x1b]133;A\x07% \x1b]133;B\x07\x1b]133;C\x07");
        let mark = |place, status| OutputPiece::Mark(PromptMark { place, status });
        let expected = [
            mark(MarkPlace::PromptStart, Some(1)),
            mark(MarkPlace::PromptStart, None),
            text("% "),
            mark(MarkPlace::PromptEnd, None),
            text("\x1b]133;C\x07"),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn an_escape_at_the_end_is_held_and_released_as_it_was() {
        let mut cutter = MarkCutter::of_any_session();
        assert_eq!(cutter.feed(b"x\x1b"), [text("x")]);
        assert!(cutter.holds());
        assert_eq!(cutter.release(), b"\x1b");
    }
}
