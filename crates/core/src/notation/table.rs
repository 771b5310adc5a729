//! TOML tables whose keys and values have their offset, and mistakes in them.

use crate::notation::mistakes::{SyntaxMistake, list_names, nearest, offset_in_string};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A key or value with its offset.
pub type PlacedValue<'a> = Spanned<DeValue<'a>>;

/// A TOML table with its place in a text.
#[derive(Clone, Copy)]
pub struct KeyedTable<'a> {
    /// The text of the file, in which offsets count.
    pub text: &'a str,
    entries: &'a DeTable<'a>,
    /// The offset of the table.
    pub at: usize,
}

/// A string value with its place in the text.
#[derive(Clone)]
pub struct PlacedText<'a> {
    file_text: &'a str,
    span: Range<usize>,
    /// The string itself.
    pub value: &'a str,
}

impl PlacedText<'_> {
    /// A mistake at byte `at` of this string.
    pub fn wrong(&self, at: usize, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake::new(offset_in_string(self.file_text, &self.span, self.value, at), message)
    }

    /// A mistake of the string as a whole.
    pub fn wrong_whole(&self, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake::new(self.span.start, message)
    }

    /// A mistake in this string's value, with its offset in the file.
    pub fn place(&self, mistake: SyntaxMistake) -> SyntaxMistake {
        self.wrong(mistake.at, mistake.message)
    }
}

/// A key with a description of its value, for messages.
#[derive(Clone, Copy)]
pub struct KeyDescription {
    /// The key.
    pub key: &'static str,
    /// The kind of value, in words, such as `a whole number`.
    pub value: &'static str,
    /// An example of the key with its value.
    pub example: &'static str,
}

impl KeyDescription {
    /// The mistake of giving the key `actual`, which is another kind of value.
    pub fn wrong(&self, actual: &PlacedValue<'_>) -> SyntaxMistake {
        let kind = match actual.get_ref() {
            DeValue::Table(_) => "a table",
            DeValue::Array(_) => "a list",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::String(_) => "a string",
        };
        let KeyDescription { key, value, example } = self;
        SyntaxMistake::new(actual.span().start, format!("`{key}` takes {value}, not {kind}; write it as in {example}"))
    }
}

impl<'a> KeyedTable<'a> {
    /// A table at byte `at` of `text`.
    pub fn new(text: &'a str, entries: &'a DeTable<'a>, at: usize) -> KeyedTable<'a> {
        KeyedTable { text, entries, at }
    }

    /// Refuses keys other than `known_keys`.
    ///
    /// A message calls the table `owner`, such as `a script`. It proposes the nearest of `meant_keys`.
    pub fn only(&self, known_keys: &[&str], meant_keys: &[&str], owner: &str) -> Result<(), SyntaxMistake> {
        let unknown = self.entries.keys().filter(|key| !known_keys.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let right = match nearest(name, meant_keys.iter().copied()) {
            Some(near) if near != name => format!("did you mean `{near}`?"),
            _ => format!("it may have {}", list_names(known_keys)),
        };
        Err(SyntaxMistake::new(key.span().start, format!("{owner} has no `{name}`; {right}")))
    }

    /// The value of `key`; `None` if the table does not have the key.
    pub fn get(&self, key: &str) -> Option<&'a PlacedValue<'a>> {
        self.entries.get(key)
    }

    /// The offset of `key`, or of the table if it does not have the key.
    pub(crate) fn key_at(&self, key: &str) -> usize {
        self.entries.get_key_value(key).map_or(self.at, |(key, _)| key.span().start)
    }

    /// The keys and values in the order of the file.
    pub fn in_order(&self) -> Vec<(&'a Spanned<toml::de::DeString<'a>>, &'a PlacedValue<'a>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    /// The string of a key.
    pub fn string(&self, described: KeyDescription) -> Result<Option<PlacedText<'a>>, SyntaxMistake> {
        self.get(described.key).map(|value| string(self.text, value).ok_or_else(|| described.wrong(value))).transpose()
    }

    /// The list of a key.
    pub fn list(&self, described: KeyDescription) -> Result<Option<&'a DeArray<'a>>, SyntaxMistake> {
        self.get(described.key).map(|value| value.get_ref().as_array().ok_or_else(|| described.wrong(value))).transpose()
    }

    /// The table of a key.
    pub fn table(&self, described: KeyDescription) -> Result<Option<KeyedTable<'a>>, SyntaxMistake> {
        let Some(value) = self.get(described.key) else { return Ok(None) };
        let entries = value.get_ref().as_table().ok_or_else(|| described.wrong(value))?;
        Ok(Some(KeyedTable::new(self.text, entries, value.span().start)))
    }

    /// The whole number of a key, which must lie in `range`.
    pub fn whole(&self, described: KeyDescription, range: Range<u64>) -> Result<Option<u64>, SyntaxMistake> {
        self.get(described.key).map(|value| whole(value, described, range)).transpose()
    }

    /// The number of a key, whole or not.
    pub fn number(&self, described: KeyDescription) -> Result<Option<f64>, SyntaxMistake> {
        self.get(described.key).map(|value| number(value).ok_or_else(|| described.wrong(value))).transpose()
    }
}

/// Reads a TOML text as a table.
pub fn document(text: &str) -> Result<DeTable<'_>, SyntaxMistake> {
    DeTable::parse(text).map(Spanned::into_inner).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxMistake::new(at, format!("this is not TOML: {}", error.message().replace('\n', "; ")))
    })
}

/// Reads a value as a whole number, which must lie in `range`.
pub fn whole(placed: &PlacedValue<'_>, described: KeyDescription, range: Range<u64>) -> Result<u64, SyntaxMistake> {
    let DeValue::Integer(number) = placed.get_ref() else { return Err(described.wrong(placed)) };
    let read = i128::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| u64::try_from(number).ok());
    read.filter(|number| range.contains(number)).ok_or_else(|| {
        let KeyDescription { key, value, example } = described;
        let ends = format!("{} to {}", range.start, range.end - 1);
        SyntaxMistake::new(
            placed.span().start,
            format!("`{key}` takes {value} from {ends}, not {number}; write it as in {example}"),
        )
    })
}

/// Reads a value as a number, whole or not; `None` if it is another kind of value.
pub fn number(placed: &PlacedValue<'_>) -> Option<f64> {
    match placed.get_ref() {
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Some(number as f64),
            Err(_) => number.as_str().parse().ok(), // too large for a whole number
        },
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// Reads a value as a string; `None` if it is another kind of value.
pub fn string<'a>(text: &'a str, placed: &'a PlacedValue<'a>) -> Option<PlacedText<'a>> {
    placed.get_ref().as_str().map(|value| PlacedText { file_text: text, span: placed.span(), value })
}
