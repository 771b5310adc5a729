//! One user's session on a terminal: the event that it waits for, and how it interprets output.
//!
//! No system call is made here. Output is fed in pieces of any size. A session keeps only counts and the last few bytes, so a
//! program that prints without end costs no memory.

use loadgo_core::ready::{Echo, LastScreen, MarkSearch, Nonce, OutputTail, ReadyPatterns, SHELL_PROMPT};
use loadgo_core::script::ReadyRule;
use loadgo_core::system::Response;
use loadgo_core::time::{Instant, Span};

/// Time after which a log-in that prints nothing is sent the line that sets our prompt.
const SILENT_LOG_IN: Span = Span::from_millis(2000);
/// Time after its last output at which a log-in that shows another prompt is sent this line.
const QUIET_PROMPT: Span = Span::from_millis(150);
/// Longest time of a whole log-in.
const LOG_IN_LIMIT: Span = Span::from_secs(60);

/// The event that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first prompt; nothing has been typed yet.
    LogIn,
    /// The prompt, after a line of preparation. This number of such lines remains.
    Preparing(u16),
    /// The system, after a line.
    Line,
    /// Nothing: the user thinks or types.
    Idle,
    /// The session is over.
    Over,
}

/// How the present stage ends.
#[derive(Clone, Copy, Debug)]
pub enum Watch {
    /// By the mark.
    Mark,
    /// By the pattern of this number.
    Pattern(usize),
    /// By silence of this length.
    Silence(Span),
}

impl Watch {
    /// The watch for the rule `until`.
    pub fn of(until: &ReadyRule, patterns: &ReadyPatterns) -> Watch {
        match until {
            ReadyRule::Mark => Watch::Mark,
            ReadyRule::Pattern(text) => Watch::Pattern(patterns.index(text).expect("every pattern of the script was compiled")),
            ReadyRule::Silence(span) => Watch::Silence(*span),
        }
    }
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// The event that the session waits for.
    pub stage: Stage,
    /// When the log-in began.
    pub began: Instant,
    /// When the last output came.
    pub last_output: Instant,
    watch: Watch,
    search: MarkSearch,
    echo: Echo,
    tail: OutputTail,
    screen: LastScreen,
    first_output: Option<Instant>,
    bytes_out: u64,
    /// Number of unexpected prompts: after one, it is unknown which line the next prompt answers.
    surplus: u32,
}

impl Session {
    /// A session whose log-in begins now, and ends as `watch` says.
    pub fn new(nonce: Nonce, watch: Watch, now: Instant) -> Session {
        Session {
            stage: Stage::LogIn,
            began: now,
            last_output: now,
            watch,
            search: MarkSearch::new(nonce),
            echo: Echo::default(),
            tail: OutputTail::default(),
            screen: LastScreen::default(),
            first_output: None,
            bytes_out: 0,
            surplus: 0,
        }
    }

    /// The nonce of the session's marks.
    pub fn nonce(&self) -> &Nonce {
        self.search.nonce()
    }

    /// Notes typed keys, so that their echo does not count as output.
    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        if self.stage == Stage::Idle && self.bytes_out > 0 {
            self.begin_line();
        }
        self.echo.expect(keys);
    }

    /// Notes that a line is sent. Output counts from here, until `watch` says that the system is ready.
    pub fn send(&mut self, keys: &[u8], watch: Watch, stage: Stage) {
        self.type_keys(keys);
        self.watch = watch;
        self.stage = stage;
        self.first_output = None;
        self.bytes_out = 0;
        self.tail.clear();
        self.screen.clear();
    }

    /// Notes that the line was interrupted, and returns its answer so far; the session waits for the prompt as before.
    pub(crate) fn wait_on(&mut self) -> Response {
        self.stage = Stage::Line;
        self.echo.begin();
        Response { first_output: self.first_output, bytes_out: self.bytes_out, ..Response::default() }
    }

    /// Takes a piece of output. Returns `Some` if the system is ready, with the exit status if a mark has it.
    pub fn feed(&mut self, piece: &[u8], now: Instant, patterns: &ReadyPatterns) -> Option<Option<u8>> {
        self.last_output = now;
        if self.stage == Stage::Line {
            self.screen.push(piece);
        }
        let piece = &piece[self.echo.strip(piece)..];
        if piece.is_empty() || self.stage == Stage::Over {
            return None;
        }
        self.first_output.get_or_insert(now);
        self.bytes_out += piece.len() as u64;
        if self.keeps_tail() {
            self.tail.push(piece);
        }
        if self.stage == Stage::Idle {
            self.count_surplus(piece);
            return None;
        }
        self.is_ready(piece, patterns)
    }

    fn count_surplus(&mut self, piece: &[u8]) {
        let mut at = 0;
        while let (Watch::Mark, Some(found)) = (self.watch, self.search.feed(&piece[at..])) {
            at += found.end;
            self.surplus += 1;
        }
    }

    fn is_ready(&mut self, piece: &[u8], patterns: &ReadyPatterns) -> Option<Option<u8>> {
        match self.watch {
            Watch::Mark => {
                // Of several marks in one piece the last counts: a script's line may hold more than one command line.
                let (mut status, mut at) = (None, 0);
                while let Some(found) = self.search.feed(&piece[at..]) {
                    (status, at) = (Some(found.status), at + found.end);
                }
                let status = status?;
                self.bytes_out = self.bytes_out.saturating_sub((MarkSearch::length(status) + SHELL_PROMPT.len()) as u64);
                Some(Some(status))
            }
            Watch::Pattern(pattern) => {
                let prompt = patterns.ending(pattern, self.tail.bytes())?;
                self.bytes_out = self.bytes_out.saturating_sub(prompt as u64);
                Some(None)
            }
            Watch::Silence(_) => None,
        }
    }

    fn keeps_tail(&self) -> bool {
        matches!(self.watch, Watch::Pattern(_)) || matches!(self.stage, Stage::LogIn | Stage::Preparing(_))
    }

    /// When silence ends the present stage, or makes an action necessary, if no output comes before.
    pub(crate) fn quiet_deadline(&self) -> Option<Instant> {
        let limit = self.began + LOG_IN_LIMIT;
        match (self.stage, self.watch) {
            (Stage::LogIn | Stage::Line | Stage::Preparing(_), Watch::Silence(span)) => Some(self.last_output + span),
            (Stage::LogIn, Watch::Mark) if self.first_output.is_some() => Some(self.last_output + QUIET_PROMPT),
            (Stage::LogIn, Watch::Mark) => Some(self.began + SILENT_LOG_IN),
            (Stage::LogIn | Stage::Preparing(_), _) => Some(limit),
            _ => None,
        }
    }

    /// Whether silence ends the stage. Otherwise it is a reason to set the prompt, or to give up.
    pub(crate) fn ends_with_silence(&self) -> bool {
        matches!(self.watch, Watch::Silence(_))
    }

    /// Returns the system's answer to the line, and makes the session idle. The system must be ready.
    pub fn answer(&mut self, exit_status: Option<u8>, confirmed: bool) -> Response {
        let confirmed = confirmed && self.surplus == 0;
        let none_but_prompt = self.bytes_out == 0;
        let first_output = if none_but_prompt { None } else { self.first_output };
        let response = Response { first_output, bytes_out: self.bytes_out, exit_status, confirmed, ..Response::default() };
        if self.stage != Stage::Line {
            self.tail.release();
        }
        self.stage = Stage::Idle;
        self.begin_line();
        response
    }

    fn begin_line(&mut self) {
        self.echo.begin();
        self.first_output = None;
        self.bytes_out = 0;
    }

    /// The last output since the line was sent, with its echo.
    pub(crate) fn last_screen(&self) -> String {
        self.screen.text()
    }

    /// The last output as printable text, for a message.
    pub(crate) fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(self.tail.bytes());
        let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        printable.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::ready::nonce;

    fn session() -> Session {
        let mut session = Session::new(nonce(1), Watch::Mark, Instant(0));
        session.stage = Stage::Idle;
        session
    }

    fn mark(status: u8) -> String {
        format!("$ \x1b]133;D;{status};aid={}\x07", String::from_utf8_lossy(&nonce(1)))
    }

    #[test]
    fn output_is_counted_without_echo_prompt_and_mark() {
        let mut session = session();
        session.send(b"ls\n", Watch::Mark, Stage::Line);
        let patterns = ReadyPatterns::default();
        assert_eq!(session.feed(b"ls\r\n", Instant(5), &patterns), None);
        assert_eq!(session.feed(b"abc\r\n", Instant(7), &patterns), None);
        assert_eq!(session.feed(mark(3).as_bytes(), Instant(9), &patterns), Some(Some(3)));
        let response = session.answer(Some(3), true);
        assert_eq!((response.bytes_out, response.first_output), (5, Some(Instant(7))));
    }

    #[test]
    fn a_line_that_is_interrupted_has_the_output_so_far() {
        let mut session = session();
        session.send(b"watch\n", Watch::Mark, Stage::Line);
        let patterns = ReadyPatterns::default();
        assert_eq!(session.feed(b"watch\r\nhalf of it", Instant(7), &patterns), None);
        let so_far = session.wait_on();
        assert_eq!((so_far.bytes_out, so_far.first_output), (10, Some(Instant(7))));
    }

    #[test]
    fn a_command_without_output_has_no_first_output() {
        let mut session = session();
        session.send(b"true\n", Watch::Mark, Stage::Line);
        let piece = format!("true\r\n{}", mark(0));
        assert_eq!(session.feed(piece.as_bytes(), Instant(7), &ReadyPatterns::default()), Some(Some(0)));
        let response = session.answer(Some(0), true);
        assert_eq!((response.bytes_out, response.first_output), (0, None));
    }

    #[test]
    fn a_prompt_while_the_user_thinks_makes_the_next_answer_unconfirmed() {
        let mut session = session();
        assert_eq!(session.feed(mark(0).as_bytes(), Instant(1), &ReadyPatterns::default()), None);
        session.send(b"ls\n", Watch::Mark, Stage::Line);
        assert_eq!(session.feed(mark(0).as_bytes(), Instant(2), &ReadyPatterns::default()), Some(Some(0)));
        assert!(!session.answer(Some(0), true).confirmed, "it is unknown which line the second prompt answers");
    }

    #[test]
    fn a_log_in_that_shows_no_mark_is_asked_and_then_given_up() {
        let mut session = Session::new(nonce(1), Watch::Mark, Instant(0));
        assert_eq!(session.quiet_deadline(), Some(Instant(0) + SILENT_LOG_IN));
        session.feed(b"login motd\r\n# ", Instant(1000), &ReadyPatterns::default());
        assert_eq!(session.quiet_deadline(), Some(Instant(1000) + QUIET_PROMPT));
        session.send(b"PS1=...\n", Watch::Mark, Stage::Preparing(0));
        assert_eq!(session.quiet_deadline(), Some(Instant(0) + LOG_IN_LIMIT));
        session.feed(b"sh: no\r\n", Instant(2000), &ReadyPatterns::default());
        assert_eq!(session.last_words(), "sh: no");
    }
}
