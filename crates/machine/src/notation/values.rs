//! Reads and checks values of a machine file by key: times, laws, counts, shares, names of stores.

use super::law::{self, AmountUnit};
use crate::draw::AmountLaw;
use loadgo_core::notation::mistakes::{SyntaxMistake, list_names, nearest};
use loadgo_core::notation::shape::{MOST_31_BITS, NOT_NEGATIVE, NumberRange, ValueShape};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedText, PlacedValue, string};
use std::fmt;
use std::ops::Range;
use toml::de::DeValue;

/// A time.
pub(crate) const TIME_VALUE: ValueShape = ValueShape::Text("time");
/// A time over 0.
pub(crate) const POSITIVE_TIME_VALUE: ValueShape = ValueShape::Text("positive time");
/// A law of times, or a time.
pub(crate) const TIME_LAW_VALUE: ValueShape = ValueShape::Text("law of times");
/// A number, or a law of numbers.
pub(crate) const NUMBER_LAW_VALUE: ValueShape = ValueShape::Any(&[NOT_NEGATIVE, ValueShape::Text("law of numbers")]);
/// A correlation.
pub(crate) const CORRELATION_VALUE: ValueShape = ValueShape::Number(NumberRange { least: -1.0, above_least: false, most: 1.0 });
/// The name of a store.
pub(crate) const STORE_NAME_VALUE: ValueShape = ValueShape::Text("name of a store");
/// A whole number of at most 31 bits, over 0.
pub(crate) const COUNT_VALUE: ValueShape = ValueShape::Whole(1, MOST_31_BITS);

/// A name in a machine file that stands for nothing there.
#[derive(Debug)]
pub(crate) struct UnknownName {
    /// The missing thing.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}; {}", self.problem, self.remedy)
    }
}

/// The facts of a machine file that readers of its values need.
pub(crate) struct FileReader {
    /// Instructions a second of a processor of speed 1.
    pub instructions_per_second: Option<f64>,
    /// The names of the stores, by index.
    pub stores: Vec<String>,
}

impl FileReader {
    /// The unit of processor time.
    pub fn processor(&self) -> AmountUnit {
        AmountUnit::Processor(self.instructions_per_second)
    }

    /// Reads the store under `key`.
    pub fn store(&self, table: &KeyedTable<'_>, key: &'static str) -> Result<Option<usize>, SyntaxMistake> {
        let wanted = KeyDescription { key, value: "the name of a store", example: "device = \"drum\"" };
        table
            .string(wanted)?
            .map(|name| self.store_named(name.value).map_err(|unknown| name.wrong_whole(unknown.to_string())))
            .transpose()
    }

    /// The index of a store by its name, or what would be right.
    pub(crate) fn store_named(&self, name: &str) -> Result<usize, UnknownName> {
        if let Some(index) = self.stores.iter().position(|store| store == name) {
            return Ok(index);
        }
        let names: Vec<_> = self.stores.iter().map(String::as_str).collect();
        let right = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("add a table [storage.{name}]"),
            None => format!("there are {}", list_names(&names)),
        };
        Err(UnknownName { problem: format!("there is no store `{name}`"), remedy: right })
    }
}

/// The offset of the value of `key`, or of the table if it does not have the key.
pub(crate) fn value_at(table: &KeyedTable<'_>, key: &str) -> usize {
    table.get(key).map_or(table.at, |value| value.span().start)
}

/// A value that must be there; `missing` is the message if it is not.
pub(crate) fn required<T>(value: Option<T>, table: &KeyedTable<'_>, missing: &str) -> Result<T, SyntaxMistake> {
    value.ok_or_else(|| SyntaxMistake::new(table.at, missing))
}

/// Reads a time in whole nanoseconds.
pub(crate) fn span(table: &KeyedTable<'_>, key: &'static str, unit: AmountUnit) -> Result<Option<u64>, SyntaxMistake> {
    table.get(key).map(|value| span_of(table.text, value, key, unit)).transpose()
}

/// Reads `value` as a time in whole nanoseconds.
pub(crate) fn span_of<'a>(
    text: &'a str,
    value: &'a PlacedValue<'a>,
    key: &'static str,
    unit: AmountUnit,
) -> Result<u64, SyntaxMistake> {
    let read = string(text, value).ok_or_else(|| timed(key).wrong(value))?;
    law::span(read.value, unit).map_err(|mistake| read.place(mistake))
}

fn timed(key: &'static str) -> KeyDescription {
    KeyDescription { key, value: "a time in a string", example: "\"3.3ms\"" }
}

/// Reads a time in whole nanoseconds, over 0.
pub(crate) fn positive_span(table: &KeyedTable<'_>, key: &'static str, unit: AmountUnit) -> Result<Option<u64>, SyntaxMistake> {
    match span(table, key, unit)? {
        Some(0) => Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` must be over 0s, as in {key} = \"10ms\""))),
        span => Ok(span),
    }
}

/// Reads a time in nanoseconds.
pub(crate) fn time(table: &KeyedTable<'_>, key: &'static str, unit: AmountUnit) -> Result<Option<f64>, SyntaxMistake> {
    table.get(key).map(|value| time_of(table.text, value, key, unit)).transpose()
}

/// Reads `value` as a time in nanoseconds.
pub(crate) fn time_of<'a>(
    text: &'a str,
    value: &'a PlacedValue<'a>,
    key: &'static str,
    unit: AmountUnit,
) -> Result<f64, SyntaxMistake> {
    let read = string(text, value).ok_or_else(|| timed(key).wrong(value))?;
    law::amount(read.value, unit).map_err(|mistake| read.place(mistake))
}

/// Reads a law of times or numbers.
pub(crate) fn law(table: &KeyedTable<'_>, key: &'static str, unit: AmountUnit) -> Result<Option<AmountLaw>, SyntaxMistake> {
    table.get(key).map(|value| law_of(table.text, value, key, unit)).transpose()
}

/// Reads `value` as a law.
pub(crate) fn law_of<'a>(
    text: &'a str,
    value: &'a PlacedValue<'a>,
    key: &'static str,
    unit: AmountUnit,
) -> Result<AmountLaw, SyntaxMistake> {
    let wanted = match unit {
        AmountUnit::Number => {
            KeyDescription { key, value: "a number, or a law in a string", example: "20 or \"uniform(10, 30)\"" }
        }
        _ => KeyDescription { key, value: "a time or a law in a string", example: "\"3.3ms\" or \"exponential(3.3ms)\"" },
    };
    if let Some(read) = string(text, value) {
        return law::read(read.value, unit).map_err(|mistake| read.place(mistake));
    }
    match number_of(value) {
        Some(number) if unit == AmountUnit::Number => not_negative(number, value, key).map(AmountLaw::Fixed),
        _ => Err(wanted.wrong(value)),
    }
}

fn number_of(value: &PlacedValue<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

fn not_negative(number: f64, value: &PlacedValue<'_>, key: &str) -> Result<f64, SyntaxMistake> {
    if number.is_finite() && number >= 0.0 {
        return Ok(number.abs());
    }
    let kind = if number < 0.0 { "negative" } else { "not finite" };
    Err(SyntaxMistake::new(value.span().start, format!("`{key}` is {kind}: it is 0 or more")))
}

/// Reads a number of 0 or more.
pub(crate) fn number(table: &KeyedTable<'_>, key: &'static str) -> Result<Option<f64>, SyntaxMistake> {
    table.get(key).map(|value| number_at(value, key)).transpose()
}

/// Reads `value` as a number of 0 or more.
pub(crate) fn number_at(value: &PlacedValue<'_>, key: &'static str) -> Result<f64, SyntaxMistake> {
    let wanted = KeyDescription { key, value: "a number", example: "1.5" };
    number_of(value).ok_or_else(|| wanted.wrong(value)).and_then(|number| not_negative(number, value, key))
}

/// Reads a number over 0.
pub(crate) fn positive(table: &KeyedTable<'_>, key: &'static str) -> Result<Option<f64>, SyntaxMistake> {
    match number(table, key)? {
        Some(0.0) => Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` must be over 0"))),
        number => Ok(number),
    }
}

/// Reads a share from 0 to 1.
pub(crate) fn share(table: &KeyedTable<'_>, key: &'static str) -> Result<Option<f64>, SyntaxMistake> {
    match number(table, key)? {
        Some(share) if share > 1.0 => {
            Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` is a share, from 0 to 1, not {share}")))
        }
        share => Ok(share),
    }
}

/// Reads a correlation from -1 to 1.
pub(crate) fn correlation(table: &KeyedTable<'_>, key: &'static str) -> Result<Option<f64>, SyntaxMistake> {
    let wanted = KeyDescription { key, value: "a number from -1 to 1", example: "0.6" };
    let Some(value) = table.get(key) else { return Ok(None) };
    match number_of(value) {
        None => Err(wanted.wrong(value)),
        Some(number) if (-1.0..=1.0).contains(&number) => Ok(Some(number)),
        Some(number) => {
            let message = format!(
                "`{key}` is a correlation, from -1 to 1, not {number}: 1 gives the longest work the most requests, 0 any number"
            );
            Err(SyntaxMistake::new(value.span().start, message))
        }
    }
}

/// Reads a whole number in `range`.
pub(crate) fn count(table: &KeyedTable<'_>, key: &'static str, range: Range<u64>) -> Result<Option<u64>, SyntaxMistake> {
    table.whole(KeyDescription { key, value: "a whole number", example: "8" }, range)
}

/// Reads a whole number of at most 31 bits, `least` or more.
pub(crate) fn count32(table: &KeyedTable<'_>, key: &'static str, least: u64) -> Result<Option<u32>, SyntaxMistake> {
    Ok(count(table, key, least..1 << 31)?.map(|count| count as u32))
}

/// Reads `true` or `false`.
pub(crate) fn flag(table: &KeyedTable<'_>, key: &'static str) -> Result<Option<bool>, SyntaxMistake> {
    let wanted = KeyDescription { key, value: "true or false", example: "true" };
    table.get(key).map(|value| value.get_ref().as_bool().ok_or_else(|| wanted.wrong(value))).transpose()
}

/// Reads a string.
pub(crate) fn text<'a>(
    table: &KeyedTable<'a>,
    key: &'static str,
    example: &'static str,
) -> Result<Option<PlacedText<'a>>, SyntaxMistake> {
    table.string(KeyDescription { key, value: "a string", example })
}

/// Reads the table under `key`.
pub(crate) fn table<'a>(
    table: &KeyedTable<'a>,
    key: &'static str,
    example: &'static str,
) -> Result<Option<KeyedTable<'a>>, SyntaxMistake> {
    table.table(KeyDescription { key, value: "a table", example })
}
