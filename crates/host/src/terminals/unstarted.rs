//! The words of shells that the system lets start no further process.

/// The words of dash and ksh, busybox, zsh, and bash, in small letters.
const WORDS: [&str; 5] = ["cannot fork", "can't fork", "fork failed", "fork: retry:", "fork: resource temporarily"];

/// Whether a shell says in `screen` that it cannot start a process.
pub(crate) fn says_no_process(screen: &str) -> bool {
    let screen = screen.to_lowercase();
    WORDS.iter().any(|words| screen.contains(words))
}

#[cfg(test)]
mod tests {
    use crate::terminals::session::{Session, Stage, Watch};
    use loadgo_core::ready::{ReadyPatterns, nonce};
    use loadgo_core::script::ReadyRule;
    use loadgo_core::time::Instant;

    fn answers(session: &mut Session, patterns: &ReadyPatterns, output: &str) -> Option<bool> {
        let mark = format!("$ \x1b]133;D;2;aid={}\x07", String::from_utf8_lossy(session.nonce()));
        session.send(b"program\r", Watch::of(&ReadyRule::Pattern("ready> ".into()), patterns), Stage::Line);
        let piece = format!("program\r\n{output}{mark}");
        let status = session.feed(piece.as_bytes(), Instant(1), patterns)?;
        Some(session.answer(status, true).is_unstarted)
    }

    #[test]
    fn a_program_for_which_there_was_no_process_is_not_waited_for() {
        let patterns = ReadyPatterns::of([&ReadyRule::Pattern("ready> ".into())]);
        let mut session = Session::new(nonce(7), Watch::Mark, Instant(0));
        assert_eq!(answers(&mut session, &patterns, "a job in the background\r\n"), None, "the program may come yet");
        assert_eq!(answers(&mut session, &patterns, "sh: 1: Cannot fork\r\n"), Some(true));
        assert_eq!(answers(&mut session, &patterns, "sh: 2: 1+1: not found\r\n"), Some(true), "a line to the same program");
        session.send(b"program\r", Watch::of(&ReadyRule::Pattern("ready> ".into()), &patterns), Stage::Line);
        let started = session.feed(b"program\r\nready> ", Instant(2), &patterns);
        assert_eq!(started.map(|status| session.answer(status, true).is_unstarted), Some(false));
        assert_eq!(answers(&mut session, &patterns, "hello\r\n"), None, "the shortage is over");
    }
}
