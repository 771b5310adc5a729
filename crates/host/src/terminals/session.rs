//! One user's session on a terminal: the event that it waits for, and how it interprets output.
//!
//! No system call is made here. Output is fed in pieces of any size. A session keeps only counts and the last few bytes, so a
//! program that prints without end costs no memory.

use super::prompts::is_redrawn_prompt;
use super::unstarted::says_no_process;
use loadgo_core::echo::{Echo, QUOTE_KEY};
use loadgo_core::ready::{LastScreen, MarkSearch, Nonce, OutputTail, ReadyPatterns, SHELL_PROMPT};
use loadgo_core::script::ReadyRule;
use loadgo_core::system::Response;
use loadgo_core::time::{Instant, Span};
use std::borrow::Cow;

/// Time after which a log-in that prints nothing is sent the line that sets our prompt.
const SILENT_LOG_IN: Span = Span::from_millis(2000);
/// Time after its last output at which a log-in that shows another prompt is sent this line.
const QUIET_PROMPT: Span = Span::from_millis(150);
/// Longest time of a log-in until its first prompt, and of each line that prepares the session.
const LOG_IN_LIMIT: Span = Span::from_secs(60);
/// Time after its last output at which a log-in that shows a question is given up. A program that answers (`expect`) has done so
/// by then, and the host has judged its answer.
pub(crate) const QUESTION_PATIENCE: Span = Span::from_secs(4);

/// The event that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first prompt; nothing has been typed yet.
    LogIn,
    /// The prompt, after a line of preparation. This number of such lines remains.
    Preparing(u32),
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
    /// When the log-in began, or the last line that prepares the session was typed.
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
    /// Time that the shell measured from the reading of the line to its last prompt, in microseconds.
    took_us: Option<u64>,
    /// Number of unexpected prompts: after one, it is unknown which line the next prompt answers.
    surplus: u32,
    /// Whether the shell said that it cannot start a process, and no awaited program has answered since.
    is_short_of_processes: bool,
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
            took_us: None,
            surplus: 0,
            is_short_of_processes: false,
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
        self.took_us = None;
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
        if self.is_logging_in() {
            self.tail.push_for_message(piece);
        } else if matches!(self.watch, Watch::Pattern(_)) {
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
                // Their times add up; a prompt that is drawn again has the same one.
                let (mut status, mut at, mut prompt_bytes) = (None, 0, 0);
                while let Some(found) = self.search.feed(&piece[at..]) {
                    let length = found.length + SHELL_PROMPT.len();
                    let is_redrawn = status.is_some() && is_redrawn_prompt(&piece[at..at + found.end], length);
                    prompt_bytes = if is_redrawn { prompt_bytes + found.end } else { length };
                    if let (Some(took_us), false) = (found.took_us, is_redrawn) {
                        self.took_us = Some(self.took_us.unwrap_or(0) + took_us);
                    }
                    (status, at) = (Some(found.status), at + found.end);
                }
                self.bytes_out = self.bytes_out.saturating_sub(prompt_bytes as u64);
                status.map(Some)
            }
            Watch::Pattern(pattern) => match patterns.ending(pattern, self.tail.bytes()) {
                Some(prompt) => {
                    self.is_short_of_processes = false;
                    self.bytes_out = self.bytes_out.saturating_sub(prompt as u64);
                    Some(None)
                }
                None => self.unstarted(piece),
            },
            Watch::Silence(_) => None,
        }
    }

    /// The exit status at the shell's own prompt, if that came in place of a program for which there was no process.
    fn unstarted(&mut self, piece: &[u8]) -> Option<Option<u8>> {
        let found = self.search.feed(piece)?;
        self.is_short_of_processes |= says_no_process(&self.screen.text());
        self.is_short_of_processes.then_some(Some(found.status))
    }

    /// Whether the session is not ready for its first line yet.
    pub(crate) fn is_logging_in(&self) -> bool {
        matches!(self.stage, Stage::LogIn | Stage::Preparing(_))
    }

    /// Whether a mark ends the present stage.
    pub(crate) fn awaits_mark(&self) -> bool {
        matches!(self.watch, Watch::Mark)
    }

    /// `keys` as they are typed now. At a shell's prompt a tab is quoted, because line editors complete words at a tab.
    pub(crate) fn as_typed<'k>(&self, keys: &'k [u8]) -> Cow<'k, [u8]> {
        let at_shell = self.stage == Stage::Idle && matches!(self.watch, Watch::Mark);
        if !at_shell || !keys.contains(&b'\t') {
            return Cow::Borrowed(keys);
        }
        let quoted = |&key: &u8| [QUOTE_KEY, key].into_iter().skip(usize::from(key != b'\t'));
        Cow::Owned(keys.iter().flat_map(quoted).collect())
    }

    /// Notes that a line that prepares the session is typed at `now`.
    pub(crate) fn send_preparation(&mut self, keys: &[u8], watch: Watch, left: u32, now: Instant) {
        self.send(keys, watch, Stage::Preparing(left));
        (self.began, self.last_output) = (now, now);
    }

    /// When silence ends the present stage, or makes an action necessary, if no output comes before.
    ///
    /// A log-in that prints without end has its time limit too.
    pub(crate) fn quiet_deadline(&self) -> Option<Instant> {
        match (self.stage, self.watch) {
            (Stage::Line, Watch::Silence(span)) => Some(self.last_output + span),
            (Stage::LogIn | Stage::Preparing(_), Watch::Silence(span)) => Some(self.limit().min(self.last_output + span)),
            (Stage::LogIn, Watch::Mark) if self.first_output.is_some() => Some(self.limit().min(self.last_output + QUIET_PROMPT)),
            (Stage::LogIn, Watch::Mark) => Some(self.began + SILENT_LOG_IN),
            (Stage::LogIn | Stage::Preparing(_), _) => Some(self.limit().min(self.last_output + QUESTION_PATIENCE)),
            _ => None,
        }
    }

    /// When a log-in, or a line that prepares the session, has taken too long.
    pub(crate) fn limit(&self) -> Instant {
        self.began + LOG_IN_LIMIT
    }

    /// The output since the last line, or its end.
    pub(crate) fn screen(&self) -> &[u8] {
        self.tail.bytes()
    }

    /// Forgets the output so far, which no message should show.
    pub(crate) fn forget_screen(&mut self) {
        self.tail.clear();
    }

    /// Whether the log-in has taken too long. If silence ends it, and that silence has come, it has not.
    pub(crate) fn is_log_in_over_its_limit(&self, now: Instant) -> bool {
        let is_silent = matches!(self.watch, Watch::Silence(span) if self.last_output + span <= now);
        self.is_logging_in() && !is_silent && self.limit() <= now
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
        let is_unstarted = self.is_short_of_processes && matches!(self.watch, Watch::Pattern(_));
        let bytes_out = self.bytes_out;
        let there_ns = self.took_us.map(|took_us| took_us * 1000);
        let response =
            Response { first_output, bytes_out, exit_status, confirmed, is_unstarted, there_ns, ..Response::default() };
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
    fn a_prompt_that_is_drawn_twice_is_no_output() {
        let mut session = session();
        session.send(b"cat\n", Watch::Mark, Stage::Line);
        let patterns = ReadyPatterns::default();
        let piece = format!("cat\r\nabc\r\n{0}{1}\r{0}", mark(0), " ".repeat(77));
        assert_eq!(session.feed(piece.as_bytes(), Instant(5), &patterns), Some(Some(0)));
        let response = session.answer(Some(0), true);
        assert_eq!((response.bytes_out, response.confirmed), (5, true));
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
        session.send_preparation(b"PS1=...\n", Watch::Mark, 0, Instant(1500));
        assert_eq!(session.limit(), Instant(1500) + LOG_IN_LIMIT);
        session.feed(b"sh: no\r\n", Instant(2000), &ReadyPatterns::default());
        assert_eq!(session.quiet_deadline(), Some(Instant(2000) + QUESTION_PATIENCE), "then it may show a question");
        assert_eq!(session.last_words(), "sh: no");
    }

    #[test]
    fn a_tab_is_quoted_at_a_shells_prompt_and_nowhere_else() {
        let mut session = session();
        assert_eq!(*session.as_typed(b"a\tb\n"), *b"a\x16\tb\n");
        session.send(b"cat\n", Watch::Silence(Span(5)), Stage::Line);
        session.answer(None, true);
        assert_eq!(*session.as_typed(b"a\tb\n"), *b"a\tb\n", "no shell may read this");
    }
}
