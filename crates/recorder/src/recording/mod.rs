//! Makes a script of a person's session: the typed lines, with think times and typing rate, without response times.
//!
//! `event` has the events of a session. `marks` and `strokes` cut output and keys into pieces. `screen` models how a line
//! looks after editing, and `entry` judges whether its text may be kept. `dialogue` follows the session event by event,
//! `presses`, `typed_keys` and `screen_keys` do the same for keys to programs that fill the screen.
//! `prompt` learns patterns, `drafts` makes lines that can be typed again, and `compose` writes the script.

mod compose;
mod dialogue;
mod drafts;
mod entry;
mod event;
mod marks;
mod presses;
mod prompt;
mod screen;
mod screen_keys;
mod strokes;
mod typed_keys;

pub use compose::{LONGEST_THINK_TIME, NoLines, RecordedScript, SessionFacts, script_of, text_of};
pub use dialogue::{Dialogue, KeyRetention};
pub use entry::{EnteredText, Entry, PromptKind, ReadyEvidence};
pub use event::{SessionEnding, SessionEvent};
pub use marks::{MarkCutter, MarkPlace, OutputPiece, PromptMark, continuation_mark};
pub use screen_keys::KeysPart;
