//! Several prompts in one piece of a terminal's output.

/// Whether `piece`, which begins after a prompt, is the same prompt again, of `length` bytes. Readline draws a prompt twice where
/// the locale has single bytes (`C`) and the terminal cannot clear a line. Blanks and a carriage return are between the two.
pub(crate) fn is_redrawn_prompt(piece: &[u8], length: usize) -> bool {
    let between = piece.len().checked_sub(length).map(|length| &piece[..length]);
    between.is_some_and(|between| between.ends_with(b"\r") && between.iter().all(|byte| b" \r".contains(byte)))
}

#[cfg(test)]
mod tests {
    use crate::terminals::session::{Session, Stage, Watch};
    use loadgo_core::ready::{ReadyPatterns, nonce};
    use loadgo_core::time::Instant;

    fn prompt(took_us: u32) -> String {
        format!("$ \x1b]133;D;0;t={took_us};aid={}\x07", String::from_utf8_lossy(&nonce(1)))
    }

    #[test]
    fn the_times_of_several_prompts_add_up_and_one_that_is_drawn_twice_counts_once() {
        for (output, there_ns) in [
            (prompt(7), Some(7_000)),
            ([prompt(7), prompt(5)].concat(), Some(12_000)),
            ([prompt(7), "\r".into(), prompt(7)].concat(), Some(7_000)),
            ([prompt(7), "\r    \r".into(), prompt(7)].concat(), Some(7_000)),
            (prompt(0), None),
        ] {
            let mut session = Session::new(nonce(1), Watch::Mark, Instant(0));
            session.send(b"", Watch::Mark, Stage::Line);
            let status = session.feed(output.as_bytes(), Instant(5), &ReadyPatterns::default()).expect("ready");
            assert_eq!(session.answer(status, true).there_ns, there_ns, "{output:?}");
        }
    }
}
