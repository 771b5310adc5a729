//! Reads and prints spans of time, such as `500ms`, `1.5s` and `2min`, exact to the nanosecond.

use crate::notation::mistakes::SyntaxMistake;
use crate::time::Span;

/// Units of time with their nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
];

/// The longest span that may be written: ten thousand hours.
pub const LONGEST_SPAN: Span = Span(36_000_000_000_000_000);

/// Reads a span, such as `500ms`.
///
/// # Errors
/// The mistake, and what would be right.
pub fn parse_span(text: &str) -> Result<Span, SyntaxMistake> {
    read(text.trim())
}

/// Prints a span so that [`parse_span`] reads it back.
pub fn print_span(span: Span) -> String {
    let ns = span.0;
    let (unit, size) = match ns {
        0 => ("s", 1_000_000_000),
        _ if ns >= 1_000_000_000 => ("s", 1_000_000_000),
        _ if ns >= 1_000_000 => ("ms", 1_000_000),
        _ if ns >= 1_000 => ("us", 1_000),
        _ => ("ns", 1),
    };
    let (whole, part) = (ns / size, ns % size);
    if part == 0 {
        return format!("{whole}{unit}");
    }
    let digits = format!("{:0width$}", part, width = size.ilog10() as usize);
    format!("{whole}.{}{unit}", digits.trim_end_matches('0'))
}

/// Reads `text` as a span. The offset of a mistake is in `text`.
pub fn read(text: &str) -> Result<Span, SyntaxMistake> {
    number_and_size(text).and_then(|(digits, size)| scaled(digits, size))
}

/// Reads `text` as a span, in nanoseconds with fractions. Accepts the same texts as [`read`].
pub fn read_unrounded(text: &str) -> Result<f64, SyntaxMistake> {
    let (digits, size) = number_and_size(text)?;
    scaled(digits, size)?;
    let number: f64 = digits.parse().expect("digits with at most one point are a number");
    Ok(number * size as f64)
}

/// The number of a span, and the nanoseconds of its unit.
fn number_and_size(text: &str) -> Result<(&str, u64), SyntaxMistake> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = (&text[..digits_end], text[digits_end..].trim_start());
    if digits.is_empty() {
        return Err(SyntaxMistake::new(0, not_a_span(text)));
    }
    if unit.is_empty() {
        return Err(SyntaxMistake::new(digits_end, format!("{digits} has no unit: write {digits}s, {digits}ms or {digits}min")));
    }
    match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, size)) => Ok((digits, *size)),
        None => {
            let at = text.len() - unit.len();
            let message = format!("{unit:?} is not a unit of time: use ns, us, ms, s, min or h, as in {digits}s");
            Err(SyntaxMistake::new(at, message))
        }
    }
}

fn not_a_span(text: &str) -> String {
    if text.starts_with('-') {
        return format!("{text:?} is negative: a time is 0s or more");
    }
    format!("{text:?} is not a time: write a number and a unit, as in 5s, 500ms or 1.5min")
}

/// A decimal number times `size`, rounded to the nanosecond.
fn scaled(digits: &str, size: u64) -> Result<Span, SyntaxMistake> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    if whole.is_empty() || part.is_empty() || part.contains('.') {
        return Err(SyntaxMistake::new(0, format!("{digits:?} is not a number: write it as in 1.5")));
    }
    let too_long = || SyntaxMistake::new(0, format!("{digits} is too long a time: 10000h is the longest"));
    let whole: u128 = whole.parse().map_err(|_| too_long())?;
    let kept = &part[..part.len().min(18)];
    let tenths = 10u128.pow(kept.len() as u32);
    let part: u128 = kept.parse().map_err(|_| too_long())?;
    let ns = whole.checked_mul(u128::from(size)).ok_or_else(too_long)? + (part * u128::from(size) + tenths / 2) / tenths;
    if ns > u128::from(LONGEST_SPAN.0) { Err(too_long()) } else { Ok(Span(ns as u64)) }
}
