//! Scripts: the lines that users type, with think times, time limits and accepted exit statuses.
//!
//! `parse` reads a script from TOML, with the keys of `shapes`. It reads lines with `steps` and `signs`, and laws with `spec`. Placeholders are
//! in `template`, the names of typed keys in `keys`, what follows what in `chain`, arrivals over the day in `day`. Tables, spans and mistakes come from `crate::notation`. `print` writes a script as TOML, `law` draws think times, and `walk` goes
//! through a script line by line.

mod chain;
mod day;
mod keys;
mod law;
mod parse;
mod print;
mod shapes;
mod signs;
mod spec;
mod steps;
mod template;
mod values;
mod walk;

pub use crate::notation::mistakes::ScriptMistake;
pub use crate::notation::spans::{parse_span, print_span};
pub use day::print_minute;
pub use keys::{KeyStrokes, name_of_key};
pub use law::TimeLaw;
pub use parse::{DEFAULT_TIMEOUT, check_login, parse};
pub use print::{print, print_rule};
pub use shapes::SCRIPT_SHAPE;
pub use signs::{DEFAULT_SETTLE, SCREEN_COLUMNS, SCREEN_ROWS};
pub use steps::{MOST_PASS_LINES, TOO_LONG_LINE_BYTES};
pub use walk::{PassWalk, ScriptLines};

use crate::arrivals::DayRate;
use crate::time::Span;
use std::collections::BTreeMap;

/// A script: the log-in and the lines of each user. [`parse`] has checked every value.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The script's name in reports.
    pub name: String,
    /// The command that logs a user in, run on the user's terminal (`sh`, `su - guest`, `ssh host`).
    pub login: String,
    /// The line that ends a session. Default: `exit`.
    pub logout: String,
    /// Number of times that each user types all lines.
    pub passes: u32,
    /// Think time before a line that has no law of its own.
    pub think: TimeLaw,
    /// Typing rate; `None` sends each line at once.
    pub typing_chars_per_second: Option<f64>,
    /// Programs that must exist on the host.
    pub needs: Vec<String>,
    /// Files that are written into each user's home, by relative path.
    pub files: BTreeMap<String, String>,
    /// Variables that are added to the environment of the log-in command.
    pub env: BTreeMap<String, String>,
    /// Commands that run on a host during the whole run. A simulated machine ignores them.
    ///
    /// The first line that a command prints is in the users' environment under the command's name.
    pub beside: BTreeMap<String, String>,
    /// Rates of arrivals over the day, in the order of their times; empty if the script has none.
    pub arrivals: Vec<DayRate>,
    /// Lists of words for `{random:LIST}`.
    pub words: BTreeMap<String, Vec<String>>,
    /// Time limit of a line that has no limit of its own.
    pub timeout: Span,
    /// The sign that the system is ready, for the log-in and for lines without a sign of their own.
    pub until: ReadyRule,
    /// The steps of one pass.
    pub steps: Vec<ScriptStep>,
}

/// One step of a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptStep {
    /// Types a line.
    Line(ScriptLine),
    /// Takes one of the alternatives, drawn by their weights, or by the row of the one that was taken before in a repeat.
    Choose(Vec<Alternative>),
    /// Takes the steps this number of times.
    Repeat(u32, Vec<ScriptStep>),
}

/// An alternative of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The weight. It is 0 only of an alternative that never comes first.
    pub weight: f64,
    /// The steps that it takes.
    pub steps: Vec<ScriptStep>,
    /// The alternatives that may come next in a choice that is repeated: index and weight (over 0). `None`: any, by `weight`.
    pub then: Option<Vec<(u32, f64)>>,
}

/// A line that a user types.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptLine {
    /// Number of the line in the script, from 1, in the order of the file. Each alternative has its own numbers.
    pub number: u32,
    /// The kind of typing.
    pub form: TypedForm,
    /// The typed text, without the final newline; for keys, in the notation of keys.
    pub text: Template,
    /// The command's name in the report. Default: the first word of `text`.
    pub name: String,
    /// Think time before the line; `None`: the script's.
    pub think: Option<TimeLaw>,
    /// Think time after the line, in place of that before the next one; `None`: that of the next one.
    pub think_after: Option<TimeLaw>,
    /// The sign that the system is ready again; `None`: the script's.
    pub until: Option<ReadyRule>,
    /// Time limit; `None`: the script's.
    pub timeout: Option<Span>,
    /// The accepted exit statuses; `None` accepts any.
    pub status: Option<Vec<u8>>,
}

/// The kinds of typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedForm {
    /// A line, which a newline ends.
    Line,
    /// Single keys, for a program that fills the screen.
    Keys,
}

/// The sign that the system is ready again.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadyRule {
    /// The session's own mark in the shell's prompt.
    Mark,
    /// A pattern at the end of the output: a regular expression that compiles.
    Pattern(String),
    /// No output for this time; the interaction is then *unconfirmed*.
    Silence(Span),
    /// The terminal's screen has settled.
    Screen(ScreenRule),
}

/// The sign of a program that fills the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenRule {
    /// Time without a change of the screen after which it has settled.
    pub settle: Span,
    /// A pattern that the screen's text must match; a regular expression that compiles.
    pub shows: Option<String>,
    /// Row and column where the cursor must be, from 1.
    pub cursor: Option<(u16, u16)>,
}

/// Text with placeholders, as a list of parts. `Display` prints it as in a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(pub Vec<TemplatePart>);

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Text that is typed without change.
    Text(String),
    /// `{user}`: the user's number, from 1.
    User,
    /// `{pass}`: the number of the pass, from 1.
    Pass,
    /// `{random:LIST}`: a word of this list of [`Script::words`], each with the same probability.
    Random(String),
}

impl Script {
    /// Time between two keys at the typing rate; `None` if lines and keys are sent at once.
    pub(crate) fn key_gap(&self) -> Option<Span> {
        self.typing_chars_per_second.map(|rate| Span::from_secs_f64(1.0 / rate))
    }

    /// Whether a line or keys of the script wait for the screen.
    pub fn watches_screens(&self) -> bool {
        self.lines().any(|line| matches!(line.until, Some(ReadyRule::Screen(_))))
    }

    /// Gives every line the think time `law`.
    pub fn set_think(&mut self, law: TimeLaw) {
        remove_thinks(&mut self.steps);
        self.think = law;
    }
}

fn remove_thinks(steps: &mut [ScriptStep]) {
    for step in steps {
        match step {
            ScriptStep::Line(line) => (line.think, line.think_after) = (None, None),
            ScriptStep::Choose(alternatives) => alternatives.iter_mut().for_each(|each| remove_thinks(&mut each.steps)),
            ScriptStep::Repeat(_, steps) => remove_thinks(steps),
        }
    }
}
