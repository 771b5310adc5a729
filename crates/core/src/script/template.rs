//! Text with the placeholders `{user}`, `{pass}` and `{random:LIST}`; every other brace is typed without change.
//!
//! Shell text is full of braces (`${x}`, `{1..3}`, `awk '{print $1}'`), so a brace has a meaning only around the name of a
//! placeholder. A doubled pair (`{{user}}`) types the name in braces. A third pair makes a placeholder again: `{{{user}}}`
//! types `{7}`. A brace after `$` belongs to the shell.

use super::{Template, TemplatePart};
use crate::notation::mistakes::{SyntaxMistake, nearest};
use crate::random::RandomStream;
use std::collections::BTreeMap;
use std::fmt;

/// The placeholders, for messages.
const PLACEHOLDERS: &str = "{user}, {pass} and {random:LIST}";

impl Template {
    /// Appends to `into` the text that `user` types in `pass`. Words are drawn from `choice`.
    pub fn fill(
        &self,
        user: u32,
        pass: u32,
        words: &BTreeMap<String, Vec<String>>,
        choice: &mut RandomStream,
        into: &mut String,
    ) {
        for part in &self.0 {
            match part {
                TemplatePart::Text(text) => into.push_str(text),
                TemplatePart::User => push_number(user, into),
                TemplatePart::Pass => push_number(pass, into),
                TemplatePart::Random(list) => {
                    let list = &words[list];
                    into.push_str(&list[choice.index(list.len())]);
                }
            }
        }
    }

    /// The text; `None` if it has a placeholder.
    pub fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

fn push_number(number: u32, into: &mut String) {
    use fmt::Write;
    write!(into, "{number}").expect("a string takes all that is written");
}

/// Prints the text so that reading it gives the same parts.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut placeholders = Vec::new();
        for part in &self.0 {
            let begin = text.len();
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::User => text.push_str("{user}"),
                TemplatePart::Pass => text.push_str("{pass}"),
                TemplatePart::Random(list) => text.push_str(&format!("{{random:{list}}}")),
            }
            if !matches!(part, TemplatePart::Text(_)) {
                placeholders.push(begin);
            }
        }
        f.write_str(&double_literal_braces(&text, &placeholders))
    }
}

/// Doubles the brace pairs around names that are no placeholders; `placeholders` has the offsets of those that are.
fn double_literal_braces(text: &str, placeholders: &[usize]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(braced) = next_braced(text, at) {
        let pairs = braced.pairs();
        let is_placeholder = placeholders.binary_search(&(braced.name_at - 1)).is_ok();
        let added = if is_placeholder { pairs - 1 } else { pairs };
        out.push_str(&text[at..braced.begin]);
        out.push_str(&"{".repeat(braced.open + added));
        out.push_str(braced.name);
        out.push_str(&"}".repeat(braced.close + added));
        at = braced.end();
    }
    out.push_str(&text[at..]);
    out
}

/// A name in braces that is a placeholder, or was probably meant as one.
struct BracedName<'a> {
    /// Offset of the first opening brace.
    begin: usize,
    /// Number of opening braces.
    open: usize,
    /// Offset of the name.
    name_at: usize,
    /// The text between the innermost braces.
    name: &'a str,
    /// Number of closing braces.
    close: usize,
}

impl BracedName<'_> {
    fn pairs(&self) -> usize {
        self.open.min(self.close)
    }

    fn end(&self) -> usize {
        self.name_at + self.name.len() + self.close
    }
}

/// The next name in braces at or after `at` that is a placeholder, or was probably meant as one.
fn next_braced(text: &str, mut at: usize) -> Option<BracedName<'_>> {
    loop {
        let begin = at + text[at..].find('{')?;
        let open = text[begin..].bytes().take_while(|byte| *byte == b'{').count();
        let name_at = begin + open;
        let end = text[name_at..].find(['{', '}']).map_or(text.len(), |end| name_at + end);
        let close = text[end..].bytes().take_while(|byte| *byte == b'}').count();
        let name = &text[name_at..end];
        let is_shells = text[..begin].ends_with('$');
        if close > 0 && !is_shells && (part_named(name).is_some() || meant_placeholder(name).is_some()) {
            return Some(BracedName { begin, open, name_at, name, close });
        }
        at = name_at;
    }
}

/// The placeholder called `name`.
fn part_named(name: &str) -> Option<TemplatePart> {
    match name {
        "user" => Some(TemplatePart::User),
        "pass" => Some(TemplatePart::Pass),
        _ => name.strip_prefix("random:").filter(|list| is_name(list)).map(|list| TemplatePart::Random(list.into())),
    }
}

/// The placeholder that was probably meant by `name`.
fn meant_placeholder(name: &str) -> Option<&'static str> {
    let (word, list) = name.split_once(':').map_or((name, None), |(word, list)| (word, Some(list)));
    let is_plain = is_name(word) && list.is_none_or(|list| word == "random" || !list.contains(char::is_whitespace));
    let near = nearest(word, ["user", "pass", "random"]).filter(|near| strsim::osa_distance(word, near) <= 2)?;
    is_plain.then_some(match near {
        "user" => "{user}",
        "pass" => "{pass}",
        _ => "{random:LIST}",
    })
}

/// Whether `name` can name a list of words: a letter or `_`, then letters, digits, `_` or `-`.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The first placeholder in `text`: its offset, and its text.
pub(super) fn first_placeholder(text: &str) -> Option<(usize, &str)> {
    next_braced(text, 0).map(|braced| (braced.name_at - 1, &text[braced.name_at - 1..=braced.name_at + braced.name.len()]))
}

/// Reads `text` as a template. The offset of a mistake is in `text`.
pub(super) fn read(text: &str, words: &BTreeMap<String, Vec<String>>) -> Result<Template, SyntaxMistake> {
    let mut parts = TemplateParts::default();
    let mut at = 0;
    while let Some(braced) = next_braced(text, at) {
        let (literal, is_placeholder) = (braced.pairs() / 2, braced.pairs() % 2 == 1);
        let outside = |braces: usize| literal + braces - braced.pairs();
        parts.text(&text[at..braced.begin]);
        parts.text(&"{".repeat(outside(braced.open)));
        if is_placeholder {
            parts.0.push(checked_part(&braced, words)?);
        } else {
            parts.text(braced.name);
        }
        parts.text(&"}".repeat(outside(braced.close)));
        at = braced.end();
    }
    parts.text(&text[at..]);
    Ok(Template(parts.0))
}

/// A growing list of parts, in which adjacent texts become one.
#[derive(Default)]
struct TemplateParts(Vec<TemplatePart>);

impl TemplateParts {
    fn text(&mut self, added: &str) {
        match self.0.last_mut() {
            _ if added.is_empty() => {}
            Some(TemplatePart::Text(text)) => text.push_str(added),
            _ => self.0.push(TemplatePart::Text(added.into())),
        }
    }
}

fn checked_part(braced: &BracedName<'_>, words: &BTreeMap<String, Vec<String>>) -> Result<TemplatePart, SyntaxMistake> {
    let at = braced.name_at - 1;
    let name = braced.name;
    let Some(part) = part_named(name) else {
        let right = meant_placeholder(name).unwrap_or(PLACEHOLDERS);
        let literal = format!("{{{{{name}}}}}");
        return Err(SyntaxMistake::new(
            at,
            format!(
                "{{{name}}} is not a placeholder; did you mean {right}? Placeholders: {PLACEHOLDERS}. To type it without change, write {literal}"
            ),
        ));
    };
    match &part {
        TemplatePart::Random(list) if !words.contains_key(list) => Err(SyntaxMistake::new(at, no_list(list, words))),
        _ => Ok(part),
    }
}

fn no_list(list: &str, words: &BTreeMap<String, Vec<String>>) -> String {
    let right = match nearest(list, words.keys().map(String::as_str)) {
        Some(near) => format!("did you mean {{random:{near}}}?"),
        None => format!("add it under [words], as in {list} = [\"one\", \"two\"]"),
    };
    format!("there is no list of words named `{list}`; {right}")
}
