//! From a person's session to a script: what was typed, with think times and typing rate apart from response times.
//!
//! `event` has what a recorder sees; `marks` and `strokes` cut output and keys into pieces. `screen` knows how a line
//! looks after editing, and `entry` judges what of it may be kept. `dialogue` follows the session, `prompt` learns
//! patterns, `drafts` makes typable lines, and `compose` writes the script.

mod compose;
mod dialogue;
mod drafts;
mod entry;
mod event;
mod marks;
mod prompt;
mod screen;
mod strokes;

pub use compose::{LONGEST_THINK_TIME, RecordedScript, SessionFacts, script_of, text_of};
pub use dialogue::{Dialogue, KeyRetention};
pub use entry::{EnteredText, Entry, PromptKind, ReadyEvidence};
pub use event::{SessionEnding, SessionEvent};
pub use marks::{MarkCutter, MarkPlace, OutputPiece, PromptMark, continuation_mark};
