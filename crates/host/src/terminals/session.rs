//! One user's session on a terminal: the event that it waits for, and how it interprets output.
//!
//! No system call is made here. Output is fed in pieces of any size. A session keeps only counts and the last few bytes, so a
//! program that prints without end costs no memory.

pub(crate) mod by_screen;
#[cfg(test)]
mod tests;

use super::prompts::is_redrawn_prompt;
use super::screen::ScreenWatch;
use super::unstarted::says_no_process;
use loadgo_core::echo::{Echo, QUOTE_KEY};
use loadgo_core::ready::{LastScreen, MarkSearch, Nonce, OutputTail, ReadyPatterns, SHELL_PROMPT};
use loadgo_core::script::{ReadyRule, TypedForm};
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
    /// By a screen that has stood still for `settle`, and keeps the promise of this number.
    Screen {
        /// The number of the promise; `None`: nothing is promised yet.
        promise: Option<usize>,
        /// Time without a change of the screen.
        settle: Span,
    },
}

impl Watch {
    /// The watch for the rule `until`.
    pub fn of(until: &ReadyRule, patterns: &ReadyPatterns) -> Watch {
        match until {
            ReadyRule::Mark => Watch::Mark,
            ReadyRule::Pattern(text) => Watch::Pattern(patterns.index(text).expect("every pattern of the script was compiled")),
            ReadyRule::Silence(span) => Watch::Silence(*span),
            ReadyRule::Screen(rule) => {
                let promise = patterns.screen_index(rule).expect("every rule of the script was compiled");
                Watch::Screen { promise: Some(promise), settle: rule.settle }
            }
        }
    }

    /// This watch, without what the screen is promised to show.
    pub(crate) fn without_promise(self) -> Watch {
        if let Watch::Screen { settle, .. } = self { Watch::Screen { promise: None, settle } } else { self }
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
    /// The screen, from the first line or keys that wait for it until a line waits for another sign.
    screen_watch: Option<Box<ScreenWatch>>,
    /// Whether the line was interrupted: then a settled screen is enough, whatever was promised.
    is_interrupted: bool,
    /// Whether keys are being typed, whose echo is output, and no line.
    types_keys: bool,
    /// Whether the screen settled while it was not known what its program did: a prompt may come that answers no later line.
    is_prompt_in_doubt: bool,
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
            screen_watch: None,
            is_interrupted: false,
            types_keys: false,
            is_prompt_in_doubt: false,
            is_short_of_processes: false,
        }
    }

    /// The nonce of the session's marks.
    pub fn nonce(&self) -> &Nonce {
        self.search.nonce()
    }

    /// Notes typed keys. The echo of a line does not count as output; that of keys for a program which fills the screen does.
    pub(crate) fn type_keys(&mut self, keys: &[u8], form: TypedForm) {
        if self.stage == Stage::Idle && self.bytes_out > 0 {
            self.begin_line();
        }
        self.types_keys = form == TypedForm::Keys;
        match form {
            TypedForm::Line => self.echo.expect(keys),
            TypedForm::Keys => self.echo.begin(),
        }
    }

    /// Notes that a line is sent. Output counts from here, until `watch` says that the system is ready.
    pub fn send(&mut self, keys: &[u8], watch: Watch, stage: Stage) {
        self.send_as(TypedForm::Line, keys, watch, stage);
    }

    /// Notes that a line or keys are sent, as `form` says.
    pub(crate) fn send_as(&mut self, form: TypedForm, keys: &[u8], watch: Watch, stage: Stage) {
        self.type_keys(keys, form);
        (self.types_keys, self.is_interrupted) = (false, false);
        self.watch = watch;
        self.stage = stage;
        if !self.awaits_screen() {
            self.screen_watch = None;
        }
        self.first_output = None;
        self.bytes_out = 0;
        self.took_us = None;
        self.tail.clear();
        self.screen.clear();
    }

    /// Notes that the line was interrupted, and returns its answer so far; the session waits for the prompt as before.
    pub(crate) fn wait_on(&mut self, now: Instant) -> Response {
        self.stage = Stage::Line;
        self.is_interrupted = true;
        if let Some(screen) = &mut self.screen_watch {
            screen.begin(now);
        }
        self.echo.begin();
        Response { first_output: self.first_output, bytes_out: self.bytes_out, ..Response::default() }
    }

    /// Takes a piece of output. Returns `Some` if the system is ready, with the exit status if a mark has it.
    pub fn feed(&mut self, piece: &[u8], now: Instant, patterns: &ReadyPatterns) -> Option<Option<u8>> {
        self.last_output = now;
        if self.stage == Stage::Line {
            self.screen.push(piece);
        }
        if let Some(screen) = &mut self.screen_watch {
            screen.print(piece, now);
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
        while let (Watch::Mark | Watch::Screen { .. }, Some(found)) = (self.watch, self.search.feed(&piece[at..])) {
            at += found.end;
            // Keys may begin and end programs; and a shell may draw its prompt again while they are typed.
            self.is_prompt_in_doubt = false;
            if !self.types_keys && matches!(self.watch, Watch::Mark) {
                self.surplus += 1;
            }
        }
    }

    fn is_ready(&mut self, piece: &[u8], patterns: &ReadyPatterns) -> Option<Option<u8>> {
        match self.watch {
            Watch::Mark | Watch::Screen { .. } => {
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
    pub(crate) fn as_typed<'k>(&self, keys: &'k [u8], form: TypedForm) -> Cow<'k, [u8]> {
        if form == TypedForm::Keys {
            return self.screen_watch.as_ref().map_or(Cow::Borrowed(keys), |screen| screen.as_sent(keys));
        }
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
            (Stage::Line, Watch::Screen { settle, .. }) => self.screen_watch.as_ref().map(|screen| screen.settles(settle)),
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
        let by_screen = self.awaits_screen() && exit_status.is_none() && self.stage == Stage::Line;
        let is_unseen = by_screen && self.screen_watch.as_ref().is_some_and(|screen| screen.changed().is_none());
        let is_in_doubt = self.is_prompt_in_doubt && exit_status.is_some();
        let confirmed = confirmed && self.surplus == 0 && !is_unseen && !is_in_doubt;
        self.is_prompt_in_doubt = by_screen && !confirmed;
        let none_but_prompt = self.bytes_out == 0;
        let first_output = if none_but_prompt { None } else { self.first_output };
        let is_unstarted = self.is_short_of_processes && matches!(self.watch, Watch::Pattern(_));
        let bytes_out = self.bytes_out;
        let there_ns = self.took_us.map(|took_us| took_us * 1000);
        let so_far = Response { first_output, bytes_out, ..Response::default() };
        let response = Response { exit_status, confirmed, is_unseen, is_unstarted, there_ns, ..so_far };
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

    /// The last output since the line was sent, with its echo; where the screen is watched, what it shows.
    pub(crate) fn last_screen(&self) -> String {
        self.screen_watch.as_ref().map_or_else(|| self.screen.text(), |screen| screen.text())
    }

    /// The last output as printable text, for a message.
    pub(crate) fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(self.tail.bytes());
        let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        printable.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
