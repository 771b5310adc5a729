//! The log of a session that is being recorded: its dialogue, and the cast if the user asked for one.

use crate::asciicast::CastWriter;
use crate::recording::{Dialogue, MarkCutter, OutputPiece, SessionEvent};
use loadgo_core::time::Instant;
use std::fs::File;
use std::io::Write;

/// The dialogue of a session, and a cast that is written as it goes.
pub(crate) struct SessionLog {
    /// The session so far.
    pub dialogue: Dialogue,
    /// The reason why the cast ends early, if it does.
    pub cast_failure: Option<String>,
    cutter: MarkCutter,
    cast: Option<(CastWriter, File)>,
}

impl SessionLog {
    /// A log of a session whose marks have this `id`, on a screen of `columns` columns.
    pub fn new(id: &str, columns: u16) -> SessionLog {
        SessionLog { dialogue: Dialogue::new(columns), cast_failure: None, cutter: MarkCutter::of_session(id), cast: None }
    }

    /// Writes the session to `file` as well, as a cast that begins with `header`.
    pub fn write_cast(&mut self, (writer, header): (CastWriter, String), mut file: File) {
        match file.write_all(header.as_bytes()) {
            Ok(()) => self.cast = Some((writer, file)),
            Err(error) => self.cast_failure = Some(error.to_string()),
        }
    }

    /// Whether output is held back because it may be the head of a mark.
    pub fn holds(&self) -> bool {
        self.cutter.holds()
    }

    /// Logs output of the shell. Returns the part that the person sees.
    pub fn output(&mut self, at: Instant, bytes: &[u8]) -> Vec<u8> {
        if let Some((writer, _)) = &mut self.cast {
            writer.output(at, bytes);
        }
        let mut shown = Vec::new();
        for piece in self.cutter.feed(bytes) {
            match piece {
                OutputPiece::Text(bytes) => {
                    shown.extend_from_slice(&bytes);
                    self.dialogue.feed(&SessionEvent::Output { at, bytes });
                }
                OutputPiece::Mark(mark) => self.dialogue.feed(&SessionEvent::Mark { at, mark }),
            }
        }
        self.write();
        shown
    }

    /// Logs and returns the bytes that were held back, because the end of a mark has not come in time.
    pub fn release(&mut self, at: Instant) -> Vec<u8> {
        let bytes = self.cutter.release();
        if !bytes.is_empty() {
            self.dialogue.feed(&SessionEvent::Output { at, bytes: bytes.clone() });
        }
        bytes
    }

    /// Logs any event other than output.
    pub fn event(&mut self, event: &SessionEvent) {
        if let Some((writer, _)) = &mut self.cast {
            writer.event(event);
        }
        self.dialogue.feed(event);
        self.write();
    }

    fn write(&mut self) {
        let retention = self.dialogue.key_retention();
        let Some((writer, file)) = &mut self.cast else { return };
        let finished = self.dialogue.ending.is_some();
        let mut lines = writer.lines(retention);
        if finished {
            lines.push_str(&writer.finish(retention));
        }
        if let Err(error) = file.write_all(lines.as_bytes()) {
            self.cast_failure = Some(error.to_string());
            self.cast = None;
        } else if finished {
            self.cast = None;
        }
    }
}
