//! Reads and writes casts. Times in asciicast version 2 count from the beginning, in version 3 from the previous event.
//!
//! A cast is a header, then one event on each line: `[time, code, data]`. Codes are `o` output, `i` input, `r` resize and
//! `x` exit; others are ignored, but for loadgo's own marker `m` where it left out keys. Format: <https://docs.asciinema.org/manual/asciicast/v3/>.

use crate::recording::{Dialogue, KeyRetention, MarkCutter, OutputPiece, SessionEnding, SessionEvent};
use loadgo_core::time::Instant;
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};

/// Longest time from the beginning of a cast to an event. Chosen by hand: 31 years.
const MOST_CAST_S: f64 = 1e9;

/// The label of the marker that stands for keys which were left out.
const LEFT_OUT_LABEL: &str = "loadgo left out keys here";

/// A cast that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    /// Columns of the screen at the beginning.
    pub columns: u16,
    /// The recorded command, else the shell; `None` if the header names neither.
    pub command: Option<String>,
    /// The title, if there is one.
    pub title: Option<String>,
    /// Events of the session in order; marks are taken out of the output.
    pub events: Vec<SessionEvent>,
}

/// A mistake in a cast, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastMistake {
    /// Line of the file, from 1.
    pub line: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl std::fmt::Display for CastMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for CastMistake {}

#[derive(Deserialize)]
struct CastVersion {
    version: u64,
}

#[derive(Deserialize)]
struct CastHeader {
    width: Option<u16>,
    term: Option<Term>,
    command: Option<String>,
    title: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
struct Term {
    cols: u16,
}

/// Reads a cast.
///
/// # Errors
/// The first mistake, with its line. A cast without input is a mistake, because the typed lines are unknown.
pub fn read(text: &str) -> Result<Cast, CastMistake> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end()));
    let first = lines.next().map_or("", |(_, line)| line.trim_start_matches('\u{feff}'));
    let (relative, header) = header(first)?;
    let columns = header.term.map(|term| term.cols).or(header.width).unwrap_or(80);
    let mut reader = CastReader { relative, clock: 0, cutter: MarkCutter::of_any_session(), events: Vec::new() };
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        reader.read_event(number, line)?;
    }
    let events = reader.finish();
    if !events.iter().any(|event| matches!(event, SessionEvent::Keys { .. })) {
        let remedy = "this recording holds no input (events with code \"i\"), so it does not tell what was typed: \
                      record with `asciinema rec --capture-input` (before version 3: `--stdin`), or with `loadgo record`";
        return Err(CastMistake { line: 1, message: remedy.into() });
    }
    let shell = header.env.get("SHELL").cloned().flatten();
    Ok(Cast { columns: columns.max(2), command: header.command.or(shell), title: header.title, events })
}

/// Reads the header. Returns whether times count from the previous event, and the other fields.
fn header(line: &str) -> Result<(bool, CastHeader), CastMistake> {
    let mistake = |message: String| CastMistake { line: 1, message };
    let wanted =
        "the first line of an asciicast file is its header, as in {\"version\": 3, \"term\": {\"cols\": 80, \"rows\": 24}}";
    let version: CastVersion = serde_json::from_str(line).map_err(|error| mistake(format!("{wanted}: {error}")))?;
    let relative = match version.version {
        2 => false,
        3 => true,
        other => {
            let remedy = format!(
                "version {other} of asciicast is not read here: convert the file to version 2 or 3 (`asciinema convert`)"
            );
            return Err(mistake(remedy));
        }
    };
    let header = serde_json::from_str(line).map_err(|error| mistake(format!("{wanted}: {error}")))?;
    Ok((relative, header))
}

struct CastReader {
    relative: bool,
    clock: u64,
    cutter: MarkCutter,
    events: Vec<SessionEvent>,
}

impl CastReader {
    /// Reads the event on the line of this `number`.
    fn read_event(&mut self, number: usize, line: &str) -> Result<(), CastMistake> {
        let mistake = |message: String| CastMistake { line: number, message };
        let wanted = "an event is [time, \"code\", \"data\"]";
        let (time, code, data): (f64, String, String) =
            serde_json::from_str(line).map_err(|error| mistake(format!("{wanted}: {error}")))?;
        if !(0.0..=MOST_CAST_S).contains(&time) {
            return Err(mistake(format!("{wanted}, and the time is a number of seconds from 0, not {time}")));
        }
        let ns = (time * 1e9).round() as u64;
        self.clock = if self.relative { self.clock + ns } else { self.clock.max(ns) };
        if self.clock > (MOST_CAST_S * 1e9) as u64 {
            return Err(mistake(format!("a cast has at most {MOST_CAST_S} seconds, and the times so far add up to more")));
        }
        let at = Instant(self.clock);
        match code.as_str() {
            "o" => self.output(at, data.as_bytes()),
            "m" if data == LEFT_OUT_LABEL => self.events.push(SessionEvent::LeftOut { at }),
            "i" => self.events.push(SessionEvent::Keys { at, bytes: data.into_bytes() }),
            "r" => {
                let no_size = || mistake(format!("a new size is \"COLUMNSxROWS\", not {data:?}"));
                let (columns, rows) = size(&data).ok_or_else(no_size)?;
                self.events.push(SessionEvent::Resize { at, columns, rows });
            }
            "x" => {
                let no_status = |_| mistake(format!("an exit status is a number, not {data:?}"));
                let status = data.trim().parse::<i32>().map_err(no_status)?;
                self.events.push(SessionEvent::End { at, ending: SessionEnding::Exited((status & 255) as u8) });
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, at: Instant, bytes: &[u8]) {
        for piece in self.cutter.feed(bytes) {
            self.events.push(match piece {
                OutputPiece::Text(bytes) => SessionEvent::Output { at, bytes },
                OutputPiece::Mark(mark) => SessionEvent::Mark { at, mark },
            });
        }
    }

    fn finish(mut self) -> Vec<SessionEvent> {
        if !matches!(self.events.last(), Some(SessionEvent::End { .. })) {
            self.events.push(SessionEvent::End { at: Instant(self.clock), ending: SessionEnding::Unknown });
        }
        self.events
    }
}

fn size(data: &str) -> Option<(u16, u16)> {
    let (columns, rows) = data.split_once('x')?;
    Some((columns.parse().ok()?, rows.parse().ok()?))
}

/// The dialogue of a cast's session.
pub fn dialogue_of(cast: &Cast) -> Dialogue {
    let mut dialogue = Dialogue::new(cast.columns);
    for event in &cast.events {
        dialogue.feed(event);
    }
    dialogue
}

/// Writes a session as asciicast version 3 while it goes on. Events are held back until it is decided whether keys may be kept.
#[derive(Debug)]
pub struct CastWriter {
    held: VecDeque<(Instant, char, Vec<u8>)>,
    written_us: u64,
}

impl CastWriter {
    /// Returns a writer, and the header with its newline.
    pub fn begin(columns: u16, rows: u16, unix_time: u64, command: &str) -> (CastWriter, String) {
        let header = serde_json::json!({
            "version": 3, "term": {"cols": columns, "rows": rows}, "timestamp": unix_time, "command": command,
        });
        (CastWriter { held: VecDeque::new(), written_us: 0 }, format!("{header}\n"))
    }

    /// Adds output, with its marks.
    pub fn output(&mut self, at: Instant, bytes: &[u8]) {
        match self.held.back_mut() {
            Some((_, 'o', held)) if is_cut(held) => held.extend_from_slice(bytes),
            _ => self.held.push_back((at, 'o', bytes.to_vec())),
        }
    }

    /// Adds any other event.
    pub fn event(&mut self, event: &SessionEvent) {
        let (code, data) = match event {
            SessionEvent::EchoOff { .. } => return self.forget_from_first_key(),
            SessionEvent::Keys { bytes, .. } => ('i', bytes.clone()),
            SessionEvent::Hidden { .. } | SessionEvent::LeftOut { .. } => ('m', LEFT_OUT_LABEL.into()),
            SessionEvent::Resize { columns, rows, .. } => ('r', format!("{columns}x{rows}").into_bytes()),
            SessionEvent::End { ending: SessionEnding::Exited(status), .. } => ('x', status.to_string().into_bytes()),
            SessionEvent::End { ending: SessionEnding::Killed(signal), .. } => ('x', (128 + signal).to_string().into_bytes()),
            SessionEvent::End { .. } | SessionEvent::Output { .. } | SessionEvent::Mark { .. } => return,
        };
        self.held.push_back((event.at(), code, data));
    }

    /// Forgets the keys that are held back, and the output since the first of them, which has their echo.
    fn forget_from_first_key(&mut self) {
        let first_key = self.held.iter().position(|(_, code, _)| *code == 'i').unwrap_or(self.held.len());
        let mut index = 0;
        self.held.retain(|(_, code, _)| {
            index += 1;
            index <= first_key || *code == 'r'
        });
    }

    /// Returns the lines that may be written now.
    pub fn lines(&mut self, retention: KeyRetention) -> String {
        let mut out = String::new();
        if retention == KeyRetention::Undecided {
            return out;
        }
        let mut has_marker = false;
        while let Some((at, mut code, mut data)) = self.held.pop_front() {
            if code == 'i' && retention == KeyRetention::NoKeys {
                (code, data) = ('m', LEFT_OUT_LABEL.into());
            }
            if code == 'm' && std::mem::replace(&mut has_marker, true) {
                continue;
            }
            if code == 'o' && self.held.is_empty() && is_cut(&data) {
                self.held.push_back((at, code, data));
                break;
            }
            self.line(&mut out, at, code, &data);
        }
        out
    }

    /// Returns the last lines, after the last event.
    pub fn finish(&mut self, retention: KeyRetention) -> String {
        let retention = if retention == KeyRetention::Undecided { KeyRetention::NoKeys } else { retention };
        let mut out = self.lines(retention);
        for (at, code, data) in std::mem::take(&mut self.held) {
            self.line(&mut out, at, code, &data);
        }
        out
    }

    fn line(&mut self, out: &mut String, at: Instant, code: char, data: &[u8]) {
        let us = at.0 / 1000;
        let since = us.saturating_sub(self.written_us);
        self.written_us = self.written_us.max(us);
        let data = serde_json::Value::from(String::from_utf8_lossy(data));
        out.push_str(&format!("[{}.{:06}, \"{code}\", {data}]\n", since / 1_000_000, since % 1_000_000));
    }
}

/// Whether the bytes end within a character.
fn is_cut(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
