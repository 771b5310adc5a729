//! Writes single values of a machine in TOML so that each is read back to the last bit.

use super::law::{AmountUnit, kinds};
use crate::draw::AmountLaw;
use loadgo_core::notation::laws::LawValueKind;
use loadgo_core::notation::spans::LONGEST_SPAN;
use loadgo_core::script::print_span;
use loadgo_core::time::Span;
use std::fmt::Write;
use toml::Value;

/// The growing text of a TOML file.
#[derive(Default)]
pub struct TomlText {
    pub text: String,
}

impl TomlText {
    /// Adds a table's heading after an empty line.
    pub fn heading(&mut self, heading: &str) {
        writeln!(self.text, "\n{heading}").expect("a string takes all that is written");
    }

    /// Adds a key with its value.
    pub fn key(&mut self, key: &str, value: String) {
        writeln!(self.text, "{key} = {value}").expect("a string takes all that is written");
    }

    /// Adds a law, unless it always gives 0.
    pub fn law(&mut self, key: &str, draw: &AmountLaw, unit: AmountUnit) {
        if !draw.is_zero() {
            self.key(key, law(draw, unit));
        }
    }

    /// Adds a number, if there is one.
    pub fn number(&mut self, key: &str, value: Option<f64>) {
        value.iter().for_each(|value| self.key(key, number(*value)));
    }

    /// Adds times in nanoseconds.
    pub fn spans(&mut self, times: &[(&str, u64)]) {
        times.iter().for_each(|(key, ns)| self.key(key, span(*ns)));
    }

    /// Adds times in nanoseconds, unless they are zero.
    pub fn costs(&mut self, times: &[(&str, u64)]) {
        times.iter().filter(|(_, ns)| *ns > 0).for_each(|(key, ns)| self.key(key, span(*ns)));
    }
}

/// A string in TOML's notation.
pub(crate) fn quoted(text: &str) -> String {
    Value::String(text.into()).to_string()
}

/// A key in TOML's notation, in quotes if needed.
pub(crate) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { name.into() } else { quoted(name) }
}

/// A number, without a fraction if it is whole.
pub(crate) fn number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{number:.0}") } else { format!("{number:?}") }
}

/// A time in whole nanoseconds.
pub(crate) fn span(ns: u64) -> String {
    quoted(&print_span(Span(ns)))
}

/// A law, or an amount that is always the same.
pub(crate) fn law(law: &AmountLaw, unit: AmountUnit) -> String {
    match law {
        AmountLaw::Fixed(value) if unit == AmountUnit::Number => number(*value),
        AmountLaw::Fixed(value) => quoted(&amount(*value, unit)),
        law => quoted(&named(law, unit)),
    }
}

/// A law with its name, its values and its bounds.
fn named(law: &AmountLaw, unit: AmountUnit) -> String {
    let (name, values) = law.parts();
    let amounts = || values.iter().map(|value| amount(*value, unit));
    let inside = match kinds(name) {
        [LawValueKind::List] => list(amounts()),
        kinds => {
            let written = amounts().zip(&values).zip(kinds);
            let written =
                written.map(|((amount, value), kind)| if *kind == LawValueKind::Number { number(*value) } else { amount });
            written.collect::<Vec<_>>().join(", ")
        }
    };
    format!("{name}({inside}{})", bounds(law, unit))
}

fn bounds(law: &AmountLaw, unit: AmountUnit) -> String {
    let AmountLaw::Bounded(_, least, most) = law else { return String::new() };
    // One of the two must stand there: without any the law would not be a bounded one.
    let low = if *least > 0.0 || most.is_infinite() { format!(", min {}", amount(*least, unit)) } else { String::new() };
    let high = if most.is_finite() { format!(", max {}", amount(*most, unit)) } else { String::new() };
    low + &high
}

/// An amount: a time with its unit, to a part of a nanosecond, or a number.
fn amount(value: f64, unit: AmountUnit) -> String {
    match unit {
        AmountUnit::Number => number(value),
        _ if value.fract() == 0.0 && value <= LONGEST_SPAN.0 as f64 => print_span(Span(value as u64)),
        _ => format!("{value}ns"),
    }
}

/// An inline table `{ key = value, … }`, whose keys are in TOML's notation already.
pub(crate) fn inline(fields: &[(String, String)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", fields.join(", "))
}

/// A list `[value, …]`.
pub(crate) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
