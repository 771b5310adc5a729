//! TOML tables with places: values know where they stand, and an unknown key is told the key that was meant.

use crate::notation::mistakes::{SyntaxMistake, inside, listed, nearest};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A key or value with its place.
pub type PlacedValue<'a> = Spanned<DeValue<'a>>;

/// A table whose keys are known.
#[derive(Clone, Copy)]
pub struct KeyedTable<'a> {
    /// The whole text, in which everything has its place.
    pub text: &'a str,
    entries: &'a DeTable<'a>,
    /// Where the table begins.
    pub at: usize,
}

/// A string with its place.
#[derive(Clone)]
pub struct PlacedText<'a> {
    whole: &'a str,
    span: Range<usize>,
    /// The string itself.
    pub value: &'a str,
}

impl PlacedText<'_> {
    /// Something wrong at byte `at` of this string.
    pub fn wrong(&self, at: usize, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake::new(inside(self.whole, &self.span, self.value, at), message)
    }

    /// Something wrong with the string as a whole.
    pub fn wrong_whole(&self, message: impl Into<String>) -> SyntaxMistake {
        SyntaxMistake::new(self.span.start, message)
    }

    /// A misread of this string's value, placed in the whole text.
    pub fn place(&self, misread: SyntaxMistake) -> SyntaxMistake {
        self.wrong(misread.at, misread.message)
    }
}

/// What a value should have been: in words, and an example.
#[derive(Clone, Copy)]
pub struct KeyDescription {
    /// The key that it stands under.
    pub key: &'static str,
    /// What it should be.
    pub what: &'static str,
    /// How that is written.
    pub example: &'static str,
}

impl KeyDescription {
    /// `value` is not what was wanted.
    pub fn wrong(&self, value: &PlacedValue<'_>) -> SyntaxMistake {
        let kind = match value.get_ref() {
            DeValue::Table(_) => "a table",
            DeValue::Array(_) => "a list",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::String(_) => "a string",
        };
        let KeyDescription { key, what, example } = self;
        SyntaxMistake::new(value.span().start, format!("`{key}` takes {what}, not {kind}; write it as in {example}"))
    }
}

impl<'a> KeyedTable<'a> {
    /// A table that stands at byte `at` of `text`.
    pub fn new(text: &'a str, entries: &'a DeTable<'a>, at: usize) -> KeyedTable<'a> {
        KeyedTable { text, entries, at }
    }

    /// Refuses keys other than `known`; `what` says whose keys they are, `near` holds those that may have been meant.
    pub fn only(&self, known: &[&str], near: &[&str], what: &str) -> Result<(), SyntaxMistake> {
        let unknown = self.entries.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let right = match nearest(name, near.iter().copied()) {
            Some(near) if near != name => format!("did you mean `{near}`?"),
            _ => format!("it may have {}", listed(known)),
        };
        Err(SyntaxMistake::new(key.span().start, format!("{what} has no `{name}`; {right}")))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&'a PlacedValue<'a>> {
        self.entries.get(key)
    }

    /// Where `key` stands; the table's own place when it does not.
    pub(crate) fn key_at(&self, key: &str) -> usize {
        self.entries.get_key_value(key).map_or(self.at, |(key, _)| key.span().start)
    }

    /// The keys and values in the order of the file.
    pub fn in_order(&self) -> Vec<(&'a Spanned<toml::de::DeString<'a>>, &'a PlacedValue<'a>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    /// The string under `wanted.key`.
    pub fn string(&self, wanted: KeyDescription) -> Result<Option<PlacedText<'a>>, SyntaxMistake> {
        self.get(wanted.key).map(|value| string(self.text, value).ok_or_else(|| wanted.wrong(value))).transpose()
    }

    /// The list under `wanted.key`.
    pub fn list(&self, wanted: KeyDescription) -> Result<Option<&'a DeArray<'a>>, SyntaxMistake> {
        self.get(wanted.key).map(|value| value.get_ref().as_array().ok_or_else(|| wanted.wrong(value))).transpose()
    }

    /// The table under `wanted.key`.
    pub fn table(&self, wanted: KeyDescription) -> Result<Option<KeyedTable<'a>>, SyntaxMistake> {
        let Some(value) = self.get(wanted.key) else { return Ok(None) };
        let entries = value.get_ref().as_table().ok_or_else(|| wanted.wrong(value))?;
        Ok(Some(KeyedTable::new(self.text, entries, value.span().start)))
    }

    /// The whole number under `wanted.key`, which must lie in `range`.
    pub fn whole(&self, wanted: KeyDescription, range: Range<u64>) -> Result<Option<u64>, SyntaxMistake> {
        self.get(wanted.key).map(|value| whole(value, wanted, range)).transpose()
    }

    /// The number under `wanted.key`, whole or not.
    pub fn number(&self, wanted: KeyDescription) -> Result<Option<f64>, SyntaxMistake> {
        let Some(value) = self.get(wanted.key) else { return Ok(None) };
        let read = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        read.map(Some).ok_or_else(|| wanted.wrong(value))
    }
}

/// The table that a whole TOML text is.
pub fn document(text: &str) -> Result<DeTable<'_>, SyntaxMistake> {
    DeTable::parse(text).map(Spanned::into_inner).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SyntaxMistake::new(at, format!("this is not TOML: {}", error.message().replace('\n', "; ")))
    })
}

/// The whole number `value`, which must lie in `range`.
pub fn whole(value: &PlacedValue<'_>, wanted: KeyDescription, range: Range<u64>) -> Result<u64, SyntaxMistake> {
    let DeValue::Integer(number) = value.get_ref() else { return Err(wanted.wrong(value)) };
    let read = i128::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| u64::try_from(number).ok());
    read.filter(|number| range.contains(number)).ok_or_else(|| {
        let KeyDescription { key, what, example } = wanted;
        let ends = format!("{} to {}", range.start, range.end - 1);
        SyntaxMistake::new(
            value.span().start,
            format!("`{key}` takes {what} from {ends}, not {number}; write it as in {example}"),
        )
    })
}

/// The string `value` with its place, if it is one.
pub fn string<'a>(text: &'a str, value: &'a PlacedValue<'a>) -> Option<PlacedText<'a>> {
    value.get_ref().as_str().map(|read| PlacedText { whole: text, span: value.span(), value: read })
}
