//! What users type: the script as a value, checked; `parse` makes it from TOML, `law` draws its think times.
//!
//! `parse` reads a script with `steps` (its lines), `template` (placeholders), `spec` (laws) and `spans` (times) over
//! `table` and `place`, which know where everything stands; `print` writes it back; `walk` takes a user through it.

mod law;
mod parse;
mod print;
mod spec;
mod steps;
mod template;
mod values;
mod walk;

pub use crate::notation::mistakes::ScriptMistake;
pub use crate::notation::spans::{parse_span, print_span};
pub use law::TimeLaw;
pub use parse::{DEFAULT_TIMEOUT, parse};
pub use print::print;
pub use steps::{LONGEST_LINE, LONGEST_PASS};
pub use walk::{PassWalk, ScriptLines};

use crate::time::Span;
use std::collections::BTreeMap;

/// A script: who logs in how, and what they type. Made by [`parse`]; every value in it is already checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// What the report calls this script.
    pub name: String,
    /// The command that logs a user in, run on the user's terminal (`sh`, `su - guest`, `ssh host`).
    pub login: String,
    /// The line that ends a session; `exit` by default.
    pub logout: String,
    /// How often each user types all the lines.
    pub passes: u32,
    /// How long a user thinks before a line, unless the line says otherwise.
    pub think: TimeLaw,
    /// How fast the keys come; `None` sends each line at once.
    pub typing_chars_per_second: Option<f64>,
    /// Programs that must be there before anybody logs in.
    pub needs: Vec<String>,
    /// Files laid into each user's home, by relative path.
    pub files: BTreeMap<String, String>,
    /// Environment of the log-in command, beside what every session gets.
    pub env: BTreeMap<String, String>,
    /// Commands that run beside the users of a host for as long as the run; what each prints first is in the users'
    /// environment under its name. A simulated machine has no use for them.
    pub beside: BTreeMap<String, String>,
    /// Lists of words for `{random:LIST}`.
    pub words: BTreeMap<String, Vec<String>>,
    /// How long the system may take over a line, unless the line says otherwise.
    pub timeout: Span,
    /// How one knows that the log-in program waits for a line, unless the line says otherwise.
    pub until: ReadyRule,
    /// The steps of one pass.
    pub steps: Vec<ScriptStep>,
}

/// One step of a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptStep {
    /// A line is typed.
    Line(ScriptLine),
    /// One of the alternatives, each with its weight (> 0), is taken.
    Choose(Vec<(f64, Vec<ScriptStep>)>),
    /// The steps are taken `times` times.
    Repeat(u32, Vec<ScriptStep>),
}

/// A line that a user types.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptLine {
    /// Its number in the script, from 1, in the order of the file; alternatives have numbers of their own.
    pub number: u32,
    /// What is typed, without the final newline.
    pub text: Template,
    /// Its row in the report; the first word of `text` by default.
    pub name: String,
    /// The think time before it.
    pub think: Option<TimeLaw>,
    /// How one knows that the system is ready again.
    pub until: Option<ReadyRule>,
    /// How long the system may take.
    pub timeout: Option<Span>,
    /// The exit statuses that are good; `None` accepts any.
    pub status: Option<Vec<u8>>,
}

/// How one knows that the system is ready again.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadyRule {
    /// The session's own mark in the shell's prompt.
    Mark,
    /// A pattern at the end of the output (the regular expression as it was written; it compiles).
    Pattern(String),
    /// No output for this long; the interaction is then *unconfirmed*.
    Silence(Span),
}

/// Text with placeholders, cut into its parts; its `Display` is how a script writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(pub Vec<TemplatePart>);

/// A part of a [`Template`].
#[derive(Clone, Debug, PartialEq)]
pub enum TemplatePart {
    /// Typed as it stands.
    Text(String),
    /// `{user}`: the user's number, from 1.
    User,
    /// `{pass}`: the pass's number, from 1.
    Pass,
    /// `{random:LIST}`: a word of that list of [`Script::words`], drawn evenly.
    Random(String),
}

impl Script {
    /// Lets every line be thought about by `law`, whatever the script says.
    pub fn set_think(&mut self, law: TimeLaw) {
        forget_thinks(&mut self.steps);
        self.think = law;
    }
}

fn forget_thinks(steps: &mut [ScriptStep]) {
    for step in steps {
        match step {
            ScriptStep::Line(line) => line.think = None,
            ScriptStep::Choose(alternatives) => alternatives.iter_mut().for_each(|(_, steps)| forget_thinks(steps)),
            ScriptStep::Repeat(_, steps) => forget_thinks(steps),
        }
    }
}
