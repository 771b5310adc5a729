//! Follows a session event by event and tells its lines apart: who asked, when the first key came, what was entered.
//!
//! A marked prompt says for sure when the system was ready. Without one, the text left of the cursor at the first key is
//! the prompt, shown when the last output came. A line is read from the screen when the newline after it is echoed.
//! A line may be typed ahead, while a command still runs; the shell then takes it at its next prompt. Such a line shows by
//! a second echo (in shells that edit) or by a second prompt without a key in between.

use super::entry::{EnteredText, Entry, LineJudgement, PromptKind, ReadyEvidence, TypedLine};
use super::event::{SessionEnding, SessionEvent};
use super::marks::{MarkPlace, PromptMark};
use super::screen::Screen;
use super::strokes::{Stroke, strokes_of};
use loadgo_core::time::Instant;
use std::collections::VecDeque;

/// Bytes of the latest output that are kept for the pattern of the next prompt.
const MOST_TAIL_BYTES: usize = 512;

/// Whether the keys since the last answer may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRetention {
    /// Unknown as yet: the echo of a line is awaited.
    Undecided,
    /// The keys were shown.
    Keys,
    /// Some of the keys were not shown: none may be kept.
    NoKeys,
}

/// A session, followed event by event.
pub struct Dialogue {
    /// The lines, in the order in which they were entered.
    pub entries: Vec<Entry>,
    /// How the session ended, once it has.
    pub ending: Option<SessionEnding>,
    /// Keys typed to full-screen programs; they make no lines.
    pub full_screen_keys: u32,
    /// Marked prompts seen.
    pub marks: u32,
    screen: Screen,
    tail: Vec<u8>,
    last_output: Instant,
    prompt: Option<Prompt>,
    line: Option<TypedLine>,
    awaiting: VecDeque<TypedLine>,
    /// Places in `entries` of lines that were shown while a command ran: typed to the program, or ahead to the shell.
    ahead: Vec<usize>,
    /// The first prompt after these lines, until it is known which of them it follows.
    undecided: Option<ReadyEvidence>,
    unseen: bool,
}

/// A marked prompt at which nothing has been typed yet.
struct Prompt {
    at: Instant,
    place: PromptKind,
    status: Option<u8>,
    is_complete: bool,
}

impl Dialogue {
    /// A session on a screen of so many columns, from its beginning.
    pub fn new(columns: u16) -> Dialogue {
        Dialogue {
            entries: Vec::new(),
            ending: None,
            full_screen_keys: 0,
            marks: 0,
            screen: Screen::new(columns),
            tail: Vec::new(),
            last_output: Instant(0),
            prompt: None,
            line: None,
            awaiting: VecDeque::new(),
            ahead: Vec::new(),
            undecided: None,
            unseen: false,
        }
    }

    /// Takes the next event.
    pub fn feed(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Keys { at, bytes } => self.keys(*at, bytes),
            SessionEvent::Hidden { at, entered } => self.hidden(*at, *entered),
            SessionEvent::Output { at, bytes } => self.output(*at, bytes),
            SessionEvent::Mark { at, mark } => self.mark(*at, *mark),
            SessionEvent::Resize { columns, .. } => self.screen.resize(*columns),
            SessionEvent::End { ending, .. } => self.end(*ending),
        }
    }

    /// Whether the keys since the last decided answer may be kept.
    pub fn keeping(&mut self) -> KeyRetention {
        match () {
            () if self.line.is_some() || !self.awaiting.is_empty() => KeyRetention::Undecided,
            () if std::mem::take(&mut self.unseen) => KeyRetention::NoKeys,
            () => KeyRetention::Keys,
        }
    }

    fn keys(&mut self, at: Instant, bytes: &[u8]) {
        for stroke in strokes_of(bytes) {
            if self.screen.is_full_screen() {
                self.full_screen_keys += 1;
                self.unseen = true;
                continue;
            }
            match stroke {
                Stroke::Enter => self.enter(at),
                Stroke::Interrupt => self.interrupt(at),
                Stroke::EndOfFile if self.line.is_none() => self.end_of_file(at),
                stroke => {
                    let line = self.line_at(at);
                    line.strokes.push(stroke);
                    line.last_key = at;
                }
            }
        }
    }

    fn hidden(&mut self, at: Instant, entered: bool) {
        self.line_at(at).hidden = true;
        self.unseen = true;
        if entered {
            let line = self.line.take().expect("a hidden line has just begun");
            self.push(TypedLine { sent: at, ..line }.entry(EnteredText::Secret, false));
        }
    }

    fn output(&mut self, at: Instant, bytes: &[u8]) {
        self.last_output = at;
        self.remember(bytes);
        let mut rest = bytes;
        while self.awaits_newline() {
            let Some(newline) = self.screen.print_to_newline(rest) else { return };
            self.newline();
            self.screen.print(b"\r\n");
            self.screen.begin_typing();
            rest = &rest[newline + 1..];
        }
        self.screen.print(rest);
    }

    /// Whether an echo may come: of a line that was ended, or of a line that was typed ahead of a prompt without keys.
    fn awaits_newline(&self) -> bool {
        !self.screen.is_full_screen() && (!self.awaiting.is_empty() || self.prompt.is_some() && !self.ahead.is_empty())
    }

    fn newline(&mut self) {
        let shown = self.screen.typed();
        let Some(line) = self.awaiting.front() else {
            return self.take_ahead(Some(&shown));
        };
        let (entered, doubtful) = match line.judge(&shown) {
            LineJudgement::NotYet => return,
            LineJudgement::Secret => (EnteredText::Secret, false),
            LineJudgement::Shown { text, doubtful } => (EnteredText::Text(text), doubtful),
        };
        self.unseen |= doubtful || entered == EnteredText::Secret;
        let line = self.awaiting.pop_front().expect("it is at the front");
        self.push(line.entry(entered, doubtful));
    }

    fn push(&mut self, mut entry: Entry) {
        if entry.place == PromptKind::Program && entry.prompt.is_empty() {
            if let Some(prompt) = self.prompt.take() {
                self.settle();
                (entry.place, entry.prompted) = (prompt.place, None);
            } else {
                self.ahead.push(self.entries.len());
            }
        }
        self.entries.push(entry);
    }

    fn mark(&mut self, at: Instant, mark: PromptMark) {
        self.marks += 1;
        let place = if mark.place == MarkPlace::Continuation { PromptKind::Continuation } else { PromptKind::Shell };
        let is_complete = mark.place != MarkPlace::PromptStart;
        if self.line.is_none() && self.awaiting.front().is_some_and(|line| line.place != PromptKind::Program) {
            return self.screen.typing_begins_here();
        }
        if let Some(line) = &mut self.line {
            if line.place != PromptKind::Program {
                return self.screen.typing_begins_here();
            }
            self.unseen |= !line.strokes.is_empty();
            (line.place, line.prompted) = (place, None);
            self.answer(ReadyEvidence { at, marked: place == PromptKind::Shell, status: mark.status });
            self.settle();
        } else if let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.is_complete) {
            (prompt.at, prompt.is_complete, prompt.status) = (at, is_complete, mark.status.or(prompt.status));
            self.correct(at, mark.status);
        } else {
            self.fresh_prompt(Prompt { at, place, status: mark.status, is_complete });
        }
        self.screen.begin_typing();
    }

    fn fresh_prompt(&mut self, prompt: Prompt) {
        if self.prompt.is_some() {
            if self.ahead.is_empty() {
                return;
            }
            self.take_ahead(None);
        }
        self.answer(ReadyEvidence { at: prompt.at, marked: prompt.place == PromptKind::Shell, status: prompt.status });
        self.prompt = Some(prompt);
    }

    /// The system is ready after the last line, or after one before it when lines may have been typed ahead.
    fn answer(&mut self, ready: ReadyEvidence) {
        if self.ahead.is_empty() {
            note_ready(self.entries.last_mut(), ready);
        } else {
            self.undecided.get_or_insert(ready);
        }
    }

    /// A prompt's end has come after its beginning: the instant and the status are now the better known.
    fn correct(&mut self, at: Instant, status: Option<u8>) {
        let last = self.entries.last_mut().and_then(|entry| entry.ready.as_mut());
        if let Some(ready) = self.undecided.as_mut().or(last).filter(|ready| ready.marked) {
            ready.at = at.max(ready.at);
            ready.status = status.or(ready.status);
        }
    }

    /// The lines typed while a command ran were for that command: the prompt came after the last of them.
    fn settle(&mut self) {
        self.ahead.clear();
        if let Some(ready) = self.undecided.take() {
            note_ready(self.entries.last_mut(), ready);
        }
    }

    /// The shell has taken a line that was typed ahead: the one that was `shown` again, or the first.
    fn take_ahead(&mut self, shown: Option<&str>) {
        let is_it = |entry: &Entry| match (&entry.entered, shown) {
            (EnteredText::Text(text), Some(shown)) => text.trim_end() == shown,
            (_, Some(_)) => false,
            (_, None) => true,
        };
        let Some(place) = self.ahead.iter().position(|index| is_it(&self.entries[*index])) else { return };
        let index = self.ahead[place];
        self.ahead.drain(..=place);
        if let Some(ready) = self.undecided.take() {
            note_ready(index.checked_sub(1).map(|before| &mut self.entries[before]), ready);
        }
        let prompt = self.prompt.take();
        let entry = &mut self.entries[index];
        (entry.place, entry.prompted) = (prompt.map_or(PromptKind::Shell, |prompt| prompt.place), None);
    }

    /// The line being typed; it begins now if there is none.
    fn line_at(&mut self, at: Instant) -> &mut TypedLine {
        if self.line.is_none() {
            self.line = Some(self.begin(at));
        }
        self.line.as_mut().expect("it has just begun")
    }

    fn begin(&mut self, at: Instant) -> TypedLine {
        let marked = self.prompt.take();
        if marked.is_some() {
            self.give_up_awaiting();
            self.settle();
        }
        let prompt = self.screen.left_of_cursor();
        let (place, prompted) = match &marked {
            Some(marked) => (marked.place, Some(marked.at)),
            None => (PromptKind::Program, Some(self.last_output)),
        };
        if marked.as_ref().is_none_or(|marked| marked.place == PromptKind::Continuation) && !prompt.is_empty() {
            let ready = ReadyEvidence { at: self.last_output, marked: false, status: None };
            note_ready(self.entries.last_mut(), ready);
        }
        if self.awaiting.is_empty() {
            self.screen.begin_typing();
        }
        TypedLine {
            place,
            prompt: if self.awaiting.is_empty() { prompt } else { String::new() },
            prompt_bytes: self.tail.clone(),
            prompted,
            first_key: at,
            last_key: at,
            sent: at,
            strokes: Vec::new(),
            hidden: false,
            shown_at_enter: String::new(),
        }
    }

    fn enter(&mut self, at: Instant) {
        self.line_at(at);
        let mut line = self.line.take().expect("it has just begun");
        line.sent = at;
        if line.hidden {
            return self.push(line.entry(EnteredText::Secret, false));
        }
        line.shown_at_enter = self.screen.typed();
        self.awaiting.push_back(line);
    }

    fn interrupt(&mut self, at: Instant) {
        self.give_up_awaiting();
        if let Some(line) = self.line.take() {
            self.unseen |= line.has_unseen_keys();
        } else if let Some(entry) = self.entries.last_mut().filter(|entry| entry.ready.is_none()) {
            entry.interrupted.get_or_insert(at);
        }
    }

    fn end_of_file(&mut self, at: Instant) {
        let line = self.begin(at);
        self.ahead.clear();
        self.entries.push(line.entry(EnteredText::EndOfFile, false));
    }

    /// Lines whose echo has not come, though the person types the next: they were never shown.
    fn give_up_awaiting(&mut self) {
        for line in std::mem::take(&mut self.awaiting) {
            if line.has_unseen_keys() {
                self.unseen = true;
                self.entries.push(line.entry(EnteredText::Secret, false));
            }
        }
    }

    fn end(&mut self, ending: SessionEnding) {
        if self.undecided.is_some() && !self.ahead.is_empty() {
            self.take_ahead(None);
        }
        self.settle();
        self.give_up_awaiting();
        self.unseen |= self.line.take().is_some_and(|line| line.has_unseen_keys());
        self.ending = Some(ending);
    }

    /// Keeps the output since the last newline, as far as a prompt may reach.
    fn remember(&mut self, bytes: &[u8]) {
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
