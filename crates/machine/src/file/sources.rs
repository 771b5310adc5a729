//! The texts that a machine is read from, as one: those that it is like, its own file, and what a command line sets.
//!
//! They stand one after the other, the oldest first, so that an offset names both a text and a place in it.

use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::{document, string};
use std::ops::Range;
use toml::Value;
use toml::de::DeTable;

/// Whose text it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The machine file that was asked for.
    File,
    /// A machine that it is `like`, by the name that stands there.
    Like(String),
    /// A value set on the command line, as `KEY=VALUE`.
    Set(String),
}

/// A mistake in a machine file: where it is, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// In whose text it is.
    pub origin: Origin,
    /// Line in that text, from 1.
    pub line: usize,
    /// Column in the line, from 1, in characters.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Mistake { origin, line, column, message } = self;
        match origin {
            Origin::File => write!(f, "line {line}, column {column}: {message}"),
            Origin::Like(name) => write!(f, "machine {name}, line {line}, column {column}: {message}"),
            Origin::Set(set) => write!(f, "`set={set}`: {message}"),
        }
    }
}

impl std::error::Error for Mistake {}

/// Gives the text of the machine that another is `like`, or says why there is none.
pub type Resolve<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// All texts of a machine.
pub(super) struct Sources {
    /// One after the other, the oldest first.
    pub whole: String,
    parts: Vec<Part>,
}

struct Part {
    origin: Origin,
    range: Range<usize>,
    /// The text behind as many blanks as stand before it in the whole, so that offsets are those of the whole.
    padded: String,
}

impl Sources {
    /// The texts that `text` is read with: those that it is like before it, `sets` after it.
    pub(crate) fn gather(text: &str, sets: &[(String, String)], resolve: Resolve<'_>) -> Result<Sources, Mistake> {
        let mut chain = vec![(Origin::File, text.to_string())];
        while let Some(next) = ancestor(&chain, &mut *resolve)? {
            chain.push(next);
        }
        chain.reverse();
        for (key, value) in sets {
            chain.push((Origin::Set(format!("{key}={value}")), set_text(key, value)?));
        }
        let mut sources = Sources { whole: String::new(), parts: Vec::new() };
        chain.into_iter().for_each(|(origin, text)| sources.add(origin, &text));
        Ok(sources)
    }

    fn add(&mut self, origin: Origin, text: &str) {
        let begin = self.whole.len();
        self.whole.push_str(text);
        let range = begin..self.whole.len();
        self.whole.push('\n');
        self.parts.push(Part { origin, range, padded: " ".repeat(begin) + text });
    }

    /// The table that each text is, the oldest first.
    pub fn tables(&self) -> Result<Vec<DeTable<'_>>, SyntaxMistake> {
        self.parts.iter().map(|part| document(&part.padded)).collect()
    }

    /// Where the machine's own file begins.
    pub fn main(&self) -> usize {
        self.parts.iter().find(|part| part.origin == Origin::File).map_or(0, |part| part.range.start)
    }

    /// A misread of the whole, in the text where it is.
    pub fn place(&self, misread: SyntaxMistake) -> Mistake {
        let part = self.parts.iter().rev().find(|part| part.range.start <= misread.at).unwrap_or(&self.parts[0]);
        let at = misread.at.min(part.range.end) - part.range.start;
        placed(&part.origin, &self.whole[part.range.clone()], SyntaxMistake { at, ..misread })
    }
}

fn placed(origin: &Origin, text: &str, misread: SyntaxMistake) -> Mistake {
    let loadgo_core::script::ScriptMistake { line, column, message } = misread.in_text(text);
    Mistake { origin: origin.clone(), line, column, message }
}

/// The machine that the last of `chain` is like.
fn ancestor(chain: &[(Origin, String)], resolve: Resolve<'_>) -> Result<Option<(Origin, String)>, Mistake> {
    let Some((origin, text)) = chain.last() else { return Ok(None) };
    let mut found = || {
        let table = document(text)?;
        let Some(value) = table.get("like") else { return Ok(None) };
        let wrong = "`like` takes the name of a machine, as in like = \"multics-645\"";
        let name = string(text, value).ok_or_else(|| SyntaxMistake::new(value.span().start, wrong))?;
        let next = Origin::Like(name.value.into());
        if chain.iter().any(|(origin, _)| *origin == next) {
            return Err(name.wrong_whole(format!("this goes in a circle: {}; take one `like` out", circle(chain, name.value))));
        }
        let text = resolve(name.value).map_err(|reason| name.wrong_whole(reason))?;
        Ok(Some((next, text)))
    };
    found().map_err(|misread| placed(origin, text, misread))
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

/// `KEY=VALUE` as TOML: the value as it stands, or as a string when it is none.
fn set_text(key: &str, value: &str) -> Result<String, Mistake> {
    let wrong = |message: String| Mistake { origin: Origin::Set(format!("{key}={value}")), line: 1, column: 1, message };
    let path = quoted_path(key);
    let right = "write it as in `set=processors.speed=2`";
    if path.is_empty() || key.contains(char::is_control) {
        return Err(wrong(format!("a key is missing before the =: {right}")));
    }
    if path[0] == "like" {
        return Err(wrong("`like` cannot be set: write a machine file of two lines, like = \"…\" and title = \"…\"".into()));
    }
    let key = path.join(".");
    let plain = format!("{key} = {}", value.trim());
    if !value.contains('\n') && document(&plain).is_ok() {
        return Ok(plain);
    }
    let text = format!("{key} = {}", Value::String(value.into()));
    match document(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(wrong(format!("{key:?} is no key: {right}"))),
    }
}

/// A setting `KEY=VALUE` as its key and its value, parted at the first `=` that is not in quotes; None without one.
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

/// The parts of a dotted key, in quotes where TOML wants them (`commands.*.cpu`); none where one is empty.
fn quoted_path(key: &str) -> Vec<String> {
    let parts = toml_path(key).unwrap_or_else(|| loose_path(key));
    if parts.iter().any(|part| part.trim().is_empty()) {
        return Vec::new();
    }
    let bare = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let quoted = |part: &str| if bare(part) { part.into() } else { Value::String(part.into()).to_string() };
    parts.iter().map(|part| quoted(part)).collect()
}

/// The parts of a dotted key as TOML reads it; None where it does not.
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

/// The parts of a dotted key whose names may lack the quotes that TOML wants, but for those that hold a dot.
fn loose_path(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in key.trim().chars() {
        match (c, quote) {
            ('.', None) => parts.push(String::new()),
            ('"' | '\'', None) => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            _ => parts.last_mut().expect("there is always one").push(c),
        }
    }
    parts.iter().map(|part| part.trim().into()).collect()
}
