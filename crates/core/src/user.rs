//! One simulated user: where they are in the script, what they do now, and when each step of it happened.

use crate::random::{RandomStream, StreamPurpose};
use crate::record::Phase;
use crate::script::{PassWalk, ReadyRule, Script, ScriptLine};
use crate::system::UserId;
use crate::time::{Instant, Span};

/// What a user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserState {
    /// Has not been logged in yet.
    Away,
    /// Waits for the first prompt.
    LoggingIn,
    /// Waits for the others to be logged in.
    AtBarrier,
    /// Thinks about the next line.
    Thinking,
    /// Types it, key by key.
    Typing,
    /// Waits for the system to be ready.
    Waiting,
    /// Has interrupted a command that took too long, and waits for the prompt.
    Interrupted,
    /// Has typed the log-out.
    LeavingOff,
    /// Is gone.
    Gone,
}

/// A user and the instants of the line in hand.
#[derive(Clone, Debug)]
pub struct User<'s> {
    /// The user's number.
    pub id: UserId,
    /// What the user does.
    pub state: UserState,
    /// The pass through the script, from 1.
    pub pass: u32,
    /// The line in hand; `None` before the first and at the log-out.
    pub line: Option<&'s ScriptLine>,
    /// When the log-in was due.
    pub arrival: Instant,
    /// When it was begun.
    pub started: Instant,
    /// When the first prompt was there.
    pub logged_in: Option<Instant>,
    /// When the last prompt was shown.
    pub prompt: Instant,
    /// When the first key of the line is due.
    pub first_key_due: Instant,
    /// When it was typed.
    pub first_key: Instant,
    /// When the line is due to be sent.
    pub planned: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// What is typed, with the final newline.
    pub text: String,
    /// Bytes of it already typed.
    pub typed: usize,
    /// Whether a line was ever sent.
    pub has_typed: bool,
    /// The part of the run in which the line was sent.
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
            arrival: Instant::default(),
            started: Instant::default(),
            logged_in: None,
            prompt: Instant::default(),
            first_key_due: Instant::default(),
            first_key: Instant::default(),
            planned: Instant::default(),
            sent: Instant::default(),
            text: String::new(),
            typed: 0,
            has_typed: false,
            sent_in: Phase::WarmUp,
            walk: PassWalk::new(script),
            think: RandomStream::new(seed, id, StreamPurpose::Think),
            choice: RandomStream::new(seed, id, StreamPurpose::Choice),
        }
    }

    /// Takes the next line in hand; false when the last of `passes` is over.
    pub(crate) fn next_line(&mut self, script: &'s Script, passes: Option<u32>) -> bool {
        self.line = self.walk.next(&mut self.choice);
        while self.line.is_none() && passes.is_none_or(|passes| self.pass < passes) {
            self.pass += 1;
            self.walk = PassWalk::new(script);
            self.line = self.walk.next(&mut self.choice);
        }
        self.text.clear();
        self.typed = 0;
        let Some(line) = self.line else { return false };
        line.text.fill(self.id, self.pass, &script.words, &mut self.choice, &mut self.text);
        self.text.push('\n');
        true
    }

    /// A think time for the line in hand.
    pub(crate) fn draw_think(&mut self, script: &Script) -> Span {
        let law = self.line.and_then(|line| line.think.as_ref()).unwrap_or(&script.think);
        law.draw(&mut self.think)
    }

    /// How the system says that it is ready after the line in hand.
    pub fn until(&self, script: &'s Script) -> &'s ReadyRule {
        self.line.and_then(|line| line.until.as_ref()).unwrap_or(&script.until)
    }

    /// How long the system may take over the line in hand.
    pub fn timeout(&self, script: &Script) -> Span {
        self.line.and_then(|line| line.timeout).unwrap_or(script.timeout)
    }
}
