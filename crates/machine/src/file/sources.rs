//! The texts of a machine, joined: the machines that it is like, its own file, and the settings of a command line.
//!
//! The texts are joined with the oldest first, so an offset names both a text and a place in it.

use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::{document, string};
use std::ops::Range;
use toml::Value;
use toml::de::DeTable;

/// The origin of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The machine's own file.
    File,
    /// A machine that it is `like`, by name.
    Like(String),
    /// A setting of the command line, as `KEY=VALUE`.
    Set(String),
}

/// A mistake in a machine file, with its text, line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineMistake {
    /// The text of the mistake.
    pub origin: Origin,
    /// Line in that text, from 1.
    pub line: usize,
    /// Column in the line, from 1, in characters.
    pub column: usize,
    /// The mistake, and what would be right.
    pub message: String,
}

impl std::fmt::Display for MachineMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MachineMistake { origin, line, column, message } = self;
        match origin {
            Origin::File => write!(f, "line {line}, column {column}: {message}"),
            Origin::Like(name) => write!(f, "machine {name}, line {line}, column {column}: {message}"),
            Origin::Set(set) => write!(f, "`set={set}`: {message}"),
        }
    }
}

impl std::error::Error for MachineMistake {}

/// Returns the text of the machine with a name, or the reason why there is none.
pub type Resolve<'a> = &'a mut dyn FnMut(&str) -> Result<String, Box<dyn std::error::Error>>;

/// All texts of a machine.
pub(super) struct MachineTexts {
    /// The joined texts, the oldest first.
    pub joined: String,
    parts: Vec<SourceText>,
}

struct SourceText {
    origin: Origin,
    range: Range<usize>,
    /// The text after as many blanks as there are bytes before it, so that its offsets are those of the joined text.
    padded: String,
}

impl MachineTexts {
    /// Joins the texts of the machines that `text` is like, `text`, and the settings.
    pub(crate) fn gather(text: &str, sets: &[(String, String)], resolve: Resolve<'_>) -> Result<MachineTexts, MachineMistake> {
        let mut chain = vec![(Origin::File, text.to_string())];
        while let Some(next) = ancestor(&chain, &mut *resolve)? {
            chain.push(next);
        }
        chain.reverse();
        for (key, value) in sets {
            chain.push((Origin::Set(format!("{key}={value}")), set_text(key, value)?));
        }
        let mut sources = MachineTexts { joined: String::new(), parts: Vec::new() };
        chain.into_iter().for_each(|(origin, text)| sources.add(origin, &text));
        Ok(sources)
    }

    fn add(&mut self, origin: Origin, text: &str) {
        let begin = self.joined.len();
        self.joined.push_str(text);
        let range = begin..self.joined.len();
        self.joined.push('\n');
        self.parts.push(SourceText { origin, range, padded: " ".repeat(begin) + text });
    }

    /// Each text as a table, the oldest first.
    pub fn tables(&self) -> Result<Vec<DeTable<'_>>, SyntaxMistake> {
        self.parts.iter().map(|part| document(&part.padded)).collect()
    }

    /// The offset of the machine's own file.
    pub fn main(&self) -> usize {
        self.parts.iter().find(|part| part.origin == Origin::File).map_or(0, |part| part.range.start)
    }

    /// A mistake at an offset of the joined text, with its text, line and column.
    pub fn place(&self, mistake: SyntaxMistake) -> MachineMistake {
        let part = self.parts.iter().rev().find(|part| part.range.start <= mistake.at).unwrap_or(&self.parts[0]);
        let at = mistake.at.min(part.range.end) - part.range.start;
        placed(&part.origin, &self.joined[part.range.clone()], SyntaxMistake { at, ..mistake })
    }
}

fn placed(origin: &Origin, text: &str, mistake: SyntaxMistake) -> MachineMistake {
    let loadgo_core::script::ScriptMistake { line, column, message } = mistake.in_text(text);
    MachineMistake { origin: origin.clone(), line, column, message }
}

/// The machine that the last machine of `chain` is like.
fn ancestor(chain: &[(Origin, String)], resolve: Resolve<'_>) -> Result<Option<(Origin, String)>, MachineMistake> {
    let Some((origin, text)) = chain.last() else { return Ok(None) };
    let mut resolved = || {
        let table = document(text)?;
        let Some(value) = table.get("like") else { return Ok(None) };
        let wrong = "`like` takes the name of a machine, as in like = \"multics-645\"";
        let name = string(text, value).ok_or_else(|| SyntaxMistake::new(value.span().start, wrong))?;
        let next = Origin::Like(name.value.into());
        if chain.iter().any(|(origin, _)| *origin == next) {
            return Err(name.wrong_whole(format!("this goes in a circle: {}; take one `like` out", circle(chain, name.value))));
        }
        let text = resolve(name.value).map_err(|reason| name.wrong_whole(reason.to_string()))?;
        Ok(Some((next, text)))
    };
    resolved().map_err(|mistake| placed(origin, text, mistake))
}

/// The chain of machines in words, down to `name`, which is in it already.
fn circle(chain: &[(Origin, String)], name: &str) -> String {
    let names = chain.iter().filter_map(|(origin, _)| match origin {
        Origin::Like(name) => Some(name.as_str()),
        _ => None,
    });
    let names: Vec<_> = names.skip_while(|other| *other != name).chain([name]).collect();
    names.join(" is like ")
}

/// A setting as TOML. The value is written without change if that is TOML, otherwise as a string.
fn set_text(key: &str, setting: &str) -> Result<String, MachineMistake> {
    let wrong = |message: String| MachineMistake { origin: Origin::Set(format!("{key}={setting}")), line: 1, column: 1, message };
    let path = quoted_path(key);
    let right = "write it as in `set=processors.speed=2`";
    if path.is_empty() || key.contains(char::is_control) {
        return Err(wrong(format!("a key is missing before the =: {right}")));
    }
    if path[0] == "like" {
        return Err(wrong("`like` cannot be set: write a machine file of two lines, like = \"…\" and title = \"…\"".into()));
    }
    let key = path.join(".");
    let plain = format!("{key} = {}", setting.trim());
    if !setting.contains('\n') && document(&plain).is_ok() {
        return Ok(plain);
    }
    let text = format!("{key} = {}", Value::String(setting.into()));
    match document(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(wrong(format!("{key:?} is not a key: {right}"))),
    }
}

/// Splits a setting `KEY=VALUE` at the first `=` outside of quotes; `None` without one.
pub fn key_and_value(setting: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in setting.char_indices() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('=', None) => return Some((setting[..at].trim(), setting[at + 1..].trim())),
            ('"' | '\'', None) => quote = Some(c),
            ('\\', Some('"')) => escaped = true,
            _ if quote == Some(c) => quote = None,
            _ => {}
        }
    }
    setting.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
}

/// The parts of a dotted key, in quotes if TOML needs them (`commands.*.cpu`); empty if one part is empty.
fn quoted_path(key: &str) -> Vec<String> {
    let parts = toml_path(key).unwrap_or_else(|| loose_path(key));
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Vec::new();
    }
    let bare = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let quoted = |part: &str| if bare(part) { part.into() } else { Value::String(part.into()).to_string() };
    parts.iter().map(|part| quoted(part)).collect()
}

/// The parts of a dotted key as TOML reads it; `None` if it does not.
fn toml_path(key: &str) -> Option<Vec<String>> {
    let mut value = Value::Table(toml::from_str(&format!("{key} = 0")).ok()?);
    let mut path = Vec::new();
    while let Value::Table(table) = value {
        let (name, inner) = table.into_iter().next()?;
        path.push(name);
        value = inner;
    }
    Some(path)
}

/// The parts of a dotted key whose names may lack the quotes that TOML needs. Only a name with a dot must have them.
fn loose_path(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in key.trim().chars() {
        match (c, quote) {
            ('.', None) => parts.push(String::new()),
            ('"' | '\'', None) => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            _ => parts.last_mut().expect("the list begins with a part").push(c),
        }
    }
    parts.iter().map(|part| part.trim().into()).collect()
}
