//! Follows a session event by event, and makes an entry of each line: its prompt, the instant of its first key, and its text.
//!
//! A marked prompt proves when the system was ready. Without a mark, the text left of the cursor at the first key is the
//! prompt, shown at the instant of the last output. A line is read from the screen when the newline after
//! it is echoed.
//!
//! A line may be typed ahead, while a command still runs. Either that command reads it, or the shell reads it at its next
//! prompt. The second case is recognised by a second echo (in shells that edit lines), or by a second prompt without a key
//! in between. Until then, the line is in `maybe_ahead`.

mod full_screen;
mod retention;

use super::entry::{EnteredText, Entry, LineJudgement, PromptKind, ReadyEvidence, TypedLine};
use super::event::{SessionEnding, SessionEvent};
use super::marks::{MarkPlace, PromptMark};
use super::screen::Screen;
use super::screen_keys::ScreenKeys;
use super::strokes::{Stroke, strokes_of};
use loadgo_core::time::Instant;
pub use retention::KeyRetention;
use std::collections::VecDeque;

/// Number of the latest output bytes that are kept for the pattern of the next prompt.
const MOST_TAIL_BYTES: usize = 512;

/// A session, followed event by event.
pub struct Dialogue {
    /// The lines, in the order in which they were entered.
    pub entries: Vec<Entry>,
    /// How the session ended, once it has.
    pub ending: Option<SessionEnding>,
    /// Number of keys typed to full-screen programs that a script cannot type: the mouse, keys without a name.
    pub left_out_keys: u32,
    /// Number of places where a cast has no keys, since they may be a secret.
    pub left_out_places: u32,
    /// Number of marks seen.
    pub marks: u32,
    screen: Screen,
    tail: Vec<u8>,
    last_output: Instant,
    prompt: Option<MarkedPrompt>,
    /// The line that is being typed.
    line: Option<TypedLine>,
    /// Lines that were ended with Enter, and whose echoed newline has not come.
    awaiting_echo: VecDeque<TypedLine>,
    /// Indices in `entries` of lines that were typed while a command ran: input of that command, or typed ahead to the shell.
    maybe_ahead: Vec<usize>,
    /// The first prompt after these lines, until it is known which line it follows.
    unassigned_ready: Option<ReadyEvidence>,
    /// Whether the screen did not show some keys since the last call of [`Dialogue::key_retention`].
    has_unseen_keys: bool,
    /// The keys since a program filled the screen; `None` while none does.
    screen_keys: Option<ScreenKeys>,
}

/// A marked prompt at which nothing has been typed yet.
struct MarkedPrompt {
    at: Instant,
    prompt_kind: PromptKind,
    status: Option<u8>,
    is_complete: bool,
}

impl Dialogue {
    /// A session before its first event, on a screen of `columns` columns.
    pub fn new(columns: u16) -> Dialogue {
        Dialogue {
            entries: Vec::new(),
            ending: None,
            left_out_keys: 0,
            left_out_places: 0,
            marks: 0,
            screen: Screen::new(columns),
            tail: Vec::new(),
            last_output: Instant(0),
            prompt: None,
            line: None,
            awaiting_echo: VecDeque::new(),
            maybe_ahead: Vec::new(),
            unassigned_ready: None,
            has_unseen_keys: false,
            screen_keys: None,
        }
    }

    /// Takes the next event.
    pub fn feed(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Keys { at, bytes } => self.on_keys(*at, bytes),
            SessionEvent::Hidden { at, entered } => self.on_hidden(*at, *entered),
            SessionEvent::EchoOff { .. } => self.hide_typed_ahead(),
            SessionEvent::LeftOut { .. } => self.left_out_places += 1,
            SessionEvent::Output { at, bytes } => self.on_output(*at, bytes),
            SessionEvent::Mark { at, mark } => self.on_mark(*at, *mark),
            SessionEvent::Resize { columns, .. } => self.screen.resize(*columns),
            SessionEvent::End { ending, .. } => self.on_end(*ending),
        }
    }

    fn on_keys(&mut self, at: Instant, bytes: &[u8]) {
        if self.screen.is_full_screen() {
            return self.on_screen_keys(at, bytes);
        }
        for stroke in strokes_of(bytes) {
            match stroke {
                Stroke::Enter => self.on_enter(at),
                Stroke::Interrupt => self.on_interrupt(at),
                Stroke::EndOfFile if self.line.is_none() => self.on_end_of_file(at),
                stroke => {
                    let line = self.line_at(at);
                    line.strokes.push(stroke);
                    line.last_key = at;
                }
            }
        }
    }

    fn on_hidden(&mut self, at: Instant, entered: bool) {
        self.hide_screen_keys();
        self.line_at(at).hidden = true;
        self.has_unseen_keys = true;
        if entered {
            let line = self.line.take().expect("a hidden line has just begun");
            self.push(TypedLine { sent: at, ..line }.entry(EnteredText::Secret, false));
        }
    }

    /// Makes secrets of the lines that were typed while the command ran which has now turned the echo off.
    fn hide_typed_ahead(&mut self) {
        self.hide_screen_keys();
        for index in std::mem::take(&mut self.maybe_ahead) {
            self.entries[index].entered = EnteredText::Secret;
            self.has_unseen_keys = true;
        }
        for line in std::mem::take(&mut self.awaiting_echo) {
            let is_ahead = line.may_be_typed_ahead();
            self.has_unseen_keys |= is_ahead;
            if is_ahead {
                self.entries.push(line.entry(EnteredText::Secret, false));
            } else {
                self.awaiting_echo.push_back(line);
            }
        }
        if let Some(line) = self.line.as_mut().filter(|line| line.may_be_typed_ahead()) {
            line.hidden = true;
            self.has_unseen_keys = true;
        }
        if self.has_unseen_keys {
            self.tail.clear();
            self.screen.begin_typing();
        }
    }

    fn on_output(&mut self, at: Instant, bytes: &[u8]) {
        self.last_output = at;
        self.keep_tail(bytes);
        self.print(bytes);
        self.follow_screen(at);
    }

    fn print(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.awaits_echo() {
            let Some(newline) = self.screen.print_to_newline(rest) else { return };
            self.on_newline();
            self.screen.print(b"\r\n");
            self.screen.begin_typing();
            rest = &rest[newline + 1..];
        }
        self.screen.print(rest);
    }

    /// Whether an echoed newline may come: of a line that was ended, or the shell's second echo of a line that was typed ahead.
    fn awaits_echo(&self) -> bool {
        !self.screen.is_full_screen() && (!self.awaiting_echo.is_empty() || self.prompt.is_some() && !self.maybe_ahead.is_empty())
    }

    fn on_newline(&mut self) {
        let shown = self.screen.typed();
        let Some(line) = self.awaiting_echo.front() else {
            return self.assign_to_shell(Some(&shown));
        };
        let (entered, doubtful) = match line.judge(&shown) {
            LineJudgement::NotYet => return,
            LineJudgement::Secret => (EnteredText::Secret, false),
            LineJudgement::Shown { text, doubtful } => (EnteredText::Text(text), doubtful),
        };
        self.has_unseen_keys |= doubtful || entered == EnteredText::Secret;
        let line = self.awaiting_echo.pop_front().expect("it is at the front");
        self.push(line.entry(entered, doubtful));
    }

    fn push(&mut self, mut entry: Entry) {
        if entry.prompt_kind == PromptKind::Program && entry.prompt.is_empty() {
            if let Some(prompt) = self.prompt.take() {
                self.assign_to_command();
                (entry.prompt_kind, entry.prompt_shown) = (prompt.prompt_kind, None);
            } else {
                self.maybe_ahead.push(self.entries.len());
            }
        }
        self.entries.push(entry);
    }

    fn on_mark(&mut self, at: Instant, mark: PromptMark) {
        self.marks += 1;
        let prompt_kind = if mark.place == MarkPlace::Continuation { PromptKind::Continuation } else { PromptKind::Shell };
        let is_complete = mark.place != MarkPlace::PromptStart;
        if self.line.is_none() && self.awaiting_echo.front().is_some_and(|line| line.prompt_kind != PromptKind::Program) {
            return self.screen.set_typing_start();
        }
        self.end_unshown_line();
        if let Some(line) = &mut self.line {
            if line.prompt_kind != PromptKind::Program {
                return self.screen.set_typing_start();
            }
            self.has_unseen_keys |= !line.strokes.is_empty();
            (line.prompt_kind, line.prompt_shown) = (prompt_kind, None);
            self.on_ready(ReadyEvidence { at, marked: prompt_kind == PromptKind::Shell, status: mark.status });
            self.assign_to_command();
        } else if let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_complete) {
            (prompt.at, prompt.is_complete, prompt.status) = (at, is_complete, mark.status.or(prompt.status));
            self.refine_ready(at, mark.status);
        } else {
            self.on_new_prompt(MarkedPrompt { at, prompt_kind, status: mark.status, is_complete });
        }
        self.screen.begin_typing();
    }

    fn on_new_prompt(&mut self, prompt: MarkedPrompt) {
        if self.prompt.is_some() {
            if self.maybe_ahead.is_empty() {
                return;
            }
            self.assign_to_shell(None);
        }
        self.on_ready(ReadyEvidence { at: prompt.at, marked: prompt.prompt_kind == PromptKind::Shell, status: prompt.status });
        self.prompt = Some(prompt);
    }

    /// Notes that the system is ready after the last entry. If lines may have been typed ahead, the decision is put off.
    fn on_ready(&mut self, ready: ReadyEvidence) {
        if self.maybe_ahead.is_empty() {
            note_ready(self.entries.last_mut(), ready);
        } else {
            self.unassigned_ready.get_or_insert(ready);
        }
    }

    /// Takes the instant and the status from the mark at a prompt's end, which are better than those from its beginning.
    fn refine_ready(&mut self, at: Instant, status: Option<u8>) {
        let last = self.entries.last_mut().and_then(|entry| entry.ready.as_mut());
        if let Some(ready) = self.unassigned_ready.as_mut().or(last).filter(|ready| ready.marked) {
            ready.at = at.max(ready.at);
            ready.status = status.or(ready.status);
        }
    }

    /// Decides that the lines typed while a command ran were input of that command, so the prompt came after the last of them.
    fn assign_to_command(&mut self) {
        self.maybe_ahead.clear();
        if let Some(ready) = self.unassigned_ready.take() {
            note_ready(self.entries.last_mut(), ready);
        }
    }

    /// Decides that the shell has read a line that was typed ahead: the line that was `shown` again, or the first.
    fn assign_to_shell(&mut self, shown: Option<&str>) {
        let is_it = |entry: &Entry| match (&entry.entered, shown) {
            (EnteredText::Text(text), Some(shown)) => text.trim_end() == shown,
            (_, Some(_)) => false,
            (_, None) => true,
        };
        let Some(position) = self.maybe_ahead.iter().position(|index| is_it(&self.entries[*index])) else { return };
        let index = self.maybe_ahead[position];
        self.maybe_ahead.drain(..=position);
        if let Some(ready) = self.unassigned_ready.take() {
            note_ready(index.checked_sub(1).map(|before| &mut self.entries[before]), ready);
        }
        let prompt = self.prompt.take();
        let entry = &mut self.entries[index];
        (entry.prompt_kind, entry.prompt_shown) = (prompt.map_or(PromptKind::Shell, |prompt| prompt.prompt_kind), None);
    }

    /// The line being typed; it begins now if there is none.
    fn line_at(&mut self, at: Instant) -> &mut TypedLine {
        if self.line.is_none() {
            self.line = Some(self.begin_line(at));
        }
        self.line.as_mut().expect("it has just begun")
    }

    fn begin_line(&mut self, at: Instant) -> TypedLine {
        let marked = self.prompt.take();
        if marked.is_some() {
            self.give_up_echoes();
            self.assign_to_command();
        }
        let prompt = self.screen.left_of_cursor();
        let (prompt_kind, prompt_shown) = match &marked {
            Some(marked) => (marked.prompt_kind, Some(marked.at)),
            None => (PromptKind::Program, Some(self.last_output)),
        };
        if marked.as_ref().is_none_or(|marked| marked.prompt_kind == PromptKind::Continuation) && !prompt.is_empty() {
            let ready = ReadyEvidence { at: self.last_output, marked: false, status: None };
            note_ready(self.entries.last_mut(), ready);
        }
        if self.awaiting_echo.is_empty() {
            self.screen.begin_typing();
        }
        TypedLine {
            prompt_kind,
            prompt: if self.awaiting_echo.is_empty() { prompt } else { String::new() },
            prompt_bytes: self.tail.clone(),
            prompt_shown,
            first_key: at,
            last_key: at,
            sent: at,
            strokes: Vec::new(),
            is_echoed: false,
            hidden: false,
            shown_at_enter: String::new(),
        }
    }

    fn on_enter(&mut self, at: Instant) {
        self.line_at(at);
        let mut line = self.line.take().expect("it has just begun");
        line.sent = at;
        if line.hidden {
            return self.push(line.entry(EnteredText::Secret, false));
        }
        line.shown_at_enter = self.screen.typed();
        self.awaiting_echo.push_back(line);
    }

    fn on_interrupt(&mut self, at: Instant) {
        self.give_up_echoes();
        if let Some(line) = self.line.take() {
            self.has_unseen_keys |= line.has_unseen_keys();
        } else if let Some(entry) = self.entries.last_mut().filter(|entry| entry.ready.is_none()) {
            entry.interrupted.get_or_insert(at);
        }
    }

    fn on_end_of_file(&mut self, at: Instant) {
        let line = self.begin_line(at);
        self.maybe_ahead.clear();
        self.entries.push(line.entry(EnteredText::EndOfFile, false));
    }

    /// Treats lines whose echo has not come as never shown, because the person goes on.
    fn give_up_echoes(&mut self) {
        for line in std::mem::take(&mut self.awaiting_echo) {
            if line.has_unseen_keys() {
                self.has_unseen_keys = true;
                self.entries.push(line.entry(EnteredText::Secret, false));
            }
        }
    }

    fn on_end(&mut self, ending: SessionEnding) {
        self.end_screen_keys(false);
        if self.unassigned_ready.is_some() && !self.maybe_ahead.is_empty() {
            self.assign_to_shell(None);
        }
        self.assign_to_command();
        self.give_up_echoes();
        self.has_unseen_keys |= self.line.take().is_some_and(|line| line.has_unseen_keys());
        self.ending = Some(ending);
    }

    /// Keeps the output since the last newline, at most [`MOST_TAIL_BYTES`].
    fn keep_tail(&mut self, bytes: &[u8]) {
        if let Some(newline) = memchr::memrchr(b'\n', bytes) {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[newline + 1..]);
        } else {
            self.tail.extend_from_slice(bytes);
        }
        let excess = self.tail.len().saturating_sub(MOST_TAIL_BYTES);
        self.tail.drain(..excess);
    }
}

/// Notes that the system was ready after `entry`, unless that is known already.
fn note_ready(entry: Option<&mut Entry>, ready: ReadyEvidence) {
    if let Some(entry) = entry {
        entry.ready.get_or_insert(ready);
    }
}
