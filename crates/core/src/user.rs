//! One simulated user: the position in the script, the current state, and the instants of the current line.

use crate::random::{RandomStream, StreamPurpose};
use crate::record::Phase;
use crate::script::{PassWalk, ReadyRule, Script, ScriptLine, TypedForm};
use crate::system::UserId;
use crate::time::{Instant, Span};

/// The state of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserState {
    /// Has no session yet.
    Away,
    /// Waits for the first prompt.
    LoggingIn,
    /// Is logged in, and waits for the others.
    AtBarrier,
    /// Thinks about the next line.
    Thinking,
    /// Types the line, key by key.
    Typing,
    /// Waits for the system to be ready.
    Waiting,
    /// Has interrupted a command that took too long, and waits for the prompt.
    Interrupted,
    /// Has typed the log-out.
    LoggingOut,
    /// Has no session any more.
    Gone,
}

/// A user with the current line and its instants.
#[derive(Clone, Debug)]
pub struct User<'s> {
    /// The user's number.
    pub id: UserId,
    /// The state of the user.
    pub state: UserState,
    /// The pass through the script, from 1.
    pub pass: u32,
    /// The current line; `None` before the first and at the log-out.
    pub line: Option<&'s ScriptLine>,
    /// The line before the current one; `None` at the first.
    line_before: Option<&'s ScriptLine>,
    /// When the log-in was due.
    pub arrival: Instant,
    /// When the log-in was begun.
    pub started: Instant,
    /// When the first prompt was printed.
    pub logged_in: Option<Instant>,
    /// When the last prompt was printed, or the last output of a line that silence ends.
    pub prompt: Instant,
    /// When the user knew of the prompt. After a line that silence ends, it is the end of the silence.
    pub noticed: Instant,
    /// When the first key of the line is due.
    pub first_key_due: Instant,
    /// When the first key was typed.
    pub first_key: Instant,
    /// When the line is due to be sent.
    pub planned: Instant,
    /// When the line was sent.
    pub sent: Instant,
    /// The text of the line, with the final newline; of keys, the bytes of all keys.
    pub text: String,
    /// The offsets behind the keys in the text; empty for a line.
    pub key_ends: Vec<u32>,
    /// The indexes in `key_ends` of the present burst: its first key, and the first after it.
    pub burst: (usize, usize),
    /// Number of bytes of the text that are already typed.
    pub typed: usize,
    /// Whether the user has sent a line.
    pub has_typed: bool,
    /// The phase in which the line was sent.
    pub sent_in: Phase,
    walk: PassWalk<'s>,
    think: RandomStream,
    choice: RandomStream,
}

impl<'s> User<'s> {
    /// User `id`, before the log-in.
    pub fn new(id: UserId, script: &'s Script, seed: u64) -> User<'s> {
        User {
            id,
            state: UserState::Away,
            pass: 1,
            line: None,
            line_before: None,
            arrival: Instant::default(),
            started: Instant::default(),
            logged_in: None,
            prompt: Instant::default(),
            noticed: Instant::default(),
            first_key_due: Instant::default(),
            first_key: Instant::default(),
            planned: Instant::default(),
            sent: Instant::default(),
            text: String::new(),
            key_ends: Vec::new(),
            burst: (0, 0),
            typed: 0,
            has_typed: false,
            sent_in: Phase::WarmUp,
            walk: PassWalk::new(script),
            think: RandomStream::new(seed, id, StreamPurpose::Think),
            choice: RandomStream::new(seed, id, StreamPurpose::Choice),
        }
    }

    /// Goes on to the next line; false after the last of `passes`.
    pub(crate) fn next_line(&mut self, script: &'s Script, passes: Option<u32>) -> bool {
        self.line_before = self.line;
        self.line = self.walk.next(&mut self.choice);
        while self.line.is_none() && passes.is_none_or(|passes| self.pass < passes) {
            self.pass += 1;
            self.walk = PassWalk::new(script);
            self.line = self.walk.next(&mut self.choice);
        }
        self.text.clear();
        self.key_ends.clear();
        self.typed = 0;
        let Some(line) = self.line else { return false };
        match line.form {
            TypedForm::Line => {
                line.text.fill(self.id, self.pass, &script.words, &mut self.choice, &mut self.text);
                self.text.push('\n');
            }
            TypedForm::Keys => {
                let strokes = line.text.strokes(self.id, self.pass, &script.words, &mut self.choice);
                (self.text, self.key_ends) = (strokes.bytes, strokes.ends);
                self.burst = (0, self.burst_end(script, 0));
            }
        }
        true
    }

    /// Goes on to the next burst of the present keys; false if there is none.
    pub(crate) fn next_burst(&mut self, script: &'s Script) -> bool {
        let first = self.burst.1;
        if !self.has_more_keys() {
            return false;
        }
        self.burst = (first, self.burst_end(script, first));
        true
    }

    /// Whether keys of the line follow after the present burst.
    pub(crate) fn has_more_keys(&self) -> bool {
        self.burst.1 < self.key_ends.len()
    }

    /// The index behind the burst that begins with the key `first`. Keys are apart if the screen can settle between two of them.
    fn burst_end(&self, script: &'s Script, first: usize) -> usize {
        let is_apart = match (self.until(script), script.key_gap()) {
            (ReadyRule::Screen(rule), Some(gap)) => gap >= rule.settle,
            _ => false,
        };
        if is_apart { first + 1 } else { self.key_ends.len() }
    }

    /// The offset in the text behind what is typed as one: the line, or the present burst.
    pub(crate) fn end(&self) -> usize {
        match self.key_ends.get(self.burst.1.wrapping_sub(1)) {
            Some(&end) => end as usize,
            None => self.text.len(),
        }
    }

    /// The number of strokes that are typed as one: bytes of a line, or keys of a burst.
    pub(crate) fn strokes(&self) -> usize {
        if self.key_ends.is_empty() { self.text.len() } else { self.burst.1 - self.burst.0 }
    }

    /// The offset in the text behind `strokes` strokes of the line or the burst; at least one more than is typed.
    pub(crate) fn end_of_strokes(&self, strokes: usize) -> usize {
        if self.key_ends.is_empty() {
            let end = strokes.max(self.typed + 1).min(self.text.len());
            return (end..self.text.len()).find(|&end| self.text.is_char_boundary(end)).unwrap_or(self.text.len());
        }
        let typed = self.key_ends.partition_point(|&end| end as usize <= self.typed);
        let key = (self.burst.0 + strokes).max(typed + 1).min(self.burst.1);
        self.key_ends[key - 1] as usize
    }

    /// The number of strokes up to the offset `end`.
    pub(crate) fn strokes_to(&self, end: usize) -> usize {
        if self.key_ends.is_empty() {
            return end;
        }
        self.key_ends.partition_point(|&key_end| key_end as usize <= end) - self.burst.0
    }

    /// Draws a think time for the current line: by what the line before says, by its own law, or by the script's.
    pub(crate) fn draw_think(&mut self, script: &Script) -> Span {
        let own = self.line.and_then(|line| line.think.as_ref());
        let before = self.line_before.and_then(|line| line.think_after.as_ref());
        let law = before.or(own).unwrap_or(&script.think);
        law.draw(&mut self.think)
    }

    /// The rule by which the system is ready after the current line.
    pub fn until(&self, script: &'s Script) -> &'s ReadyRule {
        self.line.and_then(|line| line.until.as_ref()).unwrap_or(&script.until)
    }

    /// When the user knows of the prompt at `prompt`, which answered the current line: at once, or after the silence of the rule.
    pub(crate) fn notices(&self, script: &'s Script, prompt: Instant, is_confirmed: bool) -> Instant {
        match self.until(script) {
            ReadyRule::Silence(span) if !is_confirmed => prompt + *span,
            _ => prompt,
        }
    }

    /// The time limit of the current line.
    pub fn timeout(&self, script: &Script) -> Span {
        self.line.and_then(|line| line.timeout).unwrap_or(script.timeout)
    }
}
