//! Text with placeholders: `{user}`, `{pass}` and `{random:LIST}`; every other brace is typed as it stands.
//!
//! Shell text is full of braces (`${x}`, `{1..3}`, `awk '{print $1}'`), so a brace means something only around a
//! placeholder's name. A doubled pair (`{{user}}`) types the name in braces, a third pair holds a placeholder again
//! (`{{{user}}}` types `{7}`); a brace after `$` belongs to the shell.

use super::{Template, TemplatePart};
use crate::notation::mistakes::{SyntaxMistake, nearest};
use crate::random::RandomStream;
use std::collections::BTreeMap;
use std::fmt;

/// The placeholders, as messages show them.
const PLACEHOLDERS: &str = "{user}, {pass} and {random:LIST}";

impl Template {
    /// Appends to `into` what `user` types in `pass`; words are drawn from `choice`.
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

    /// The whole text, where nothing in it changes from user to user.
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

/// Writes the text so that reading it gives the same parts.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut whole = String::new();
        let mut marks = Vec::new();
        for part in &self.0 {
            let begin = whole.len();
            match part {
                TemplatePart::Text(text) => whole.push_str(text),
                TemplatePart::User => whole.push_str("{user}"),
                TemplatePart::Pass => whole.push_str("{pass}"),
                TemplatePart::Random(list) => whole.push_str(&format!("{{random:{list}}}")),
            }
            if !matches!(part, TemplatePart::Text(_)) {
                marks.push(begin);
            }
        }
        f.write_str(&doubled(&whole, &marks))
    }
}

/// `whole` with the literal brace pairs around names doubled; a placeholder begins at each of `marks`.
fn doubled(whole: &str, marks: &[usize]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(braced) = next_braced(whole, at) {
        let pairs = braced.pairs();
        let held = marks.binary_search(&(braced.name_at - 1)).is_ok();
        let again = if held { pairs - 1 } else { pairs };
        out.push_str(&whole[at..braced.begin]);
        out.push_str(&"{".repeat(braced.open + again));
        out.push_str(braced.name);
        out.push_str(&"}".repeat(braced.close + again));
        at = braced.end();
    }
    out.push_str(&whole[at..]);
    out
}

/// A name in braces that is, or was probably meant to be, a placeholder.
struct BracedName<'a> {
    /// Where the first opening brace is.
    begin: usize,
    /// How many opening braces.
    open: usize,
    /// Where the name begins.
    name_at: usize,
    /// What stands between the innermost braces.
    name: &'a str,
    /// How many closing braces.
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

/// The next name in braces at or after `at` that means something to a template.
fn next_braced(text: &str, mut at: usize) -> Option<BracedName<'_>> {
    loop {
        let begin = at + text[at..].find('{')?;
        let open = text[begin..].bytes().take_while(|byte| *byte == b'{').count();
        let name_at = begin + open;
        let end = text[name_at..].find(['{', '}']).map_or(text.len(), |end| name_at + end);
        let close = text[end..].bytes().take_while(|byte| *byte == b'}').count();
        let name = &text[name_at..end];
        let shell = text[..begin].ends_with('$');
        if close > 0 && !shell && (part(name).is_some() || meant(name).is_some()) {
            return Some(BracedName { begin, open, name_at, name, close });
        }
        at = name_at;
    }
}

/// The placeholder that `name` is.
fn part(name: &str) -> Option<TemplatePart> {
    match name {
        "user" => Some(TemplatePart::User),
        "pass" => Some(TemplatePart::Pass),
        _ => name.strip_prefix("random:").filter(|list| is_name(list)).map(|list| TemplatePart::Random(list.into())),
    }
}

/// The placeholder that `name` was probably meant to be.
fn meant(name: &str) -> Option<&'static str> {
    let (word, list) = name.split_once(':').map_or((name, None), |(word, list)| (word, Some(list)));
    let plain = is_name(word) && list.is_none_or(|list| word == "random" || !list.contains(char::is_whitespace));
    let near = nearest(word, ["user", "pass", "random"]).filter(|near| strsim::osa_distance(word, near) <= 2)?;
    plain.then_some(match near {
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

/// A placeholder in `text`, if any: where it begins, and how it was written.
pub(super) fn placeholder(text: &str) -> Option<(usize, &str)> {
    next_braced(text, 0).map(|braced| (braced.name_at - 1, &text[braced.name_at - 1..=braced.name_at + braced.name.len()]))
}

/// Cuts `text` into its parts; a misread's offset is in `text`.
pub(super) fn read(text: &str, words: &BTreeMap<String, Vec<String>>) -> Result<Template, SyntaxMistake> {
    let mut parts = TemplateParts::default();
    let mut at = 0;
    while let Some(braced) = next_braced(text, at) {
        let (literal, held) = (braced.pairs() / 2, braced.pairs() % 2 == 1);
        let outside = |braces: usize| literal + braces - braced.pairs();
        parts.text(&text[at..braced.begin]);
        parts.text(&"{".repeat(outside(braced.open)));
        if held {
            parts.0.push(checked(&braced, words)?);
        } else {
            parts.text(braced.name);
        }
        parts.text(&"}".repeat(outside(braced.close)));
        at = braced.end();
    }
    parts.text(&text[at..]);
    Ok(Template(parts.0))
}

/// Parts being gathered; neighbouring text grows together.
#[derive(Default)]
struct TemplateParts(Vec<TemplatePart>);

impl TemplateParts {
    fn text(&mut self, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(TemplatePart::Text(text)) => text.push_str(more),
            _ => self.0.push(TemplatePart::Text(more.into())),
        }
    }
}

fn checked(braced: &BracedName<'_>, words: &BTreeMap<String, Vec<String>>) -> Result<TemplatePart, SyntaxMistake> {
    let at = braced.name_at - 1;
    let name = braced.name;
    let Some(part) = part(name) else {
        let right = meant(name).unwrap_or(PLACEHOLDERS);
        let literal = format!("{{{{{name}}}}}");
        return Err(SyntaxMistake::new(
            at,
            format!(
                "{{{name}}} is no placeholder; did you mean {right}? Placeholders: {PLACEHOLDERS}. To type it as it stands, write {literal}"
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
