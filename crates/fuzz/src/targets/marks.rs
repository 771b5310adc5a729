//! Ready marks: those of a session are found in its output, and no others, wherever reads cut it.

use super::cuts::in_pieces;
use loadgo_core::ready::{MarkSearch, nonce};
use loadgo_recorder::recording::{MarkCutter, OutputPiece, PromptMark};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The bits of the nonce of the session under test. It is `7777777777777777`.
const NONCE_BITS: u64 = 0x7777_7777_7777_7777;

/// Largest length of a mark: one with a status of three digits and the largest negative time, ended by BEL.
const MOST_MARK_BYTES: usize = 53;

/// The marks of that session, by a pattern.
static MARK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\x1b\]133;D;(?-u:([0-9]{1,3}))(?:;t=-?[0-9]{1,16})?;aid=7777777777777777(?:\x07|\x1b\\)";
    Regex::new(pattern).expect("a pattern")
});

/// The status and the end of each mark in the output.
fn found(pieces: &[&[u8]]) -> Vec<(u8, usize)> {
    let (mut search, mut marks, mut before) = (MarkSearch::new(nonce(NONCE_BITS)), Vec::new(), 0);
    for piece in pieces {
        let mut at = 0;
        while let Some(mark) = search.feed(&piece[at..]) {
            at += mark.end;
            marks.push((mark.status, before + at));
        }
        before += piece.len();
    }
    marks
}

/// Output of a session.
pub(crate) fn feed_marks(bytes: &[u8]) {
    let (pieces, whole) = in_pieces(bytes);
    let by_pattern: Vec<(u8, usize)> = MARK
        .captures_iter(whole)
        .filter_map(|mark| {
            let whole = mark.get(0).expect("the whole");
            let status = std::str::from_utf8(&mark[1]).expect("digits").parse().ok()?;
            (whole.len() <= MOST_MARK_BYTES).then_some((status, whole.end()))
        })
        .collect();
    assert_eq!(found(&[whole]), by_pattern, "as a whole");
    assert_eq!(found(&pieces), by_pattern, "in pieces");
    assert_eq!(cut(&pieces), cut(&[whole]));
}

/// The recorder's view: the text without marks, and each mark with its place in the text.
fn cut(pieces: &[&[u8]]) -> (Vec<u8>, Vec<(usize, PromptMark)>) {
    let (mut cutter, mut text, mut marks) = (MarkCutter::of_session("7777777777777777"), Vec::new(), Vec::new());
    for piece in pieces {
        for part in cutter.feed(piece) {
            match part {
                OutputPiece::Text(bytes) => text.extend(bytes),
                OutputPiece::Mark(mark) => marks.push((text.len(), mark)),
            }
        }
    }
    text.extend(cutter.release());
    (text, marks)
}
